"""What an earlier release of the same people left: names, and how many slots each one has used."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ..core.randomness import RandomSource

__all__ = ["PreviousContributions"]


@dataclass(frozen=True, repr=False)
class PreviousContributions:
    """Users who were released before, and what each one may still use.

    mapping
        user, pseudonym (texts) and slots (Int64): what she has used in all so far, counting
        runs that were killed and may have been seen
    most
        slots that a user may have used in all after this release; public. In this release alone
        she uses no more than the method's own cap
    """

    mapping: pl.DataFrame
    max_contributions: int

    def updated(self, slots: pl.DataFrame, chance: RandomSource) -> pl.DataFrame:
        """Give the mapping once users have used so many slots more: user, pseudonym, slots.

        Users keep their pseudonyms. Those who are new get one that nobody has.
        """
        more = slots.select(pl.col("user").cast(pl.String), more=pl.col("slots").cast(pl.Int64))
        known = self.mapping.join(more, on="user", how="left", maintain_order="left").select(
            "user", "pseudonym", pl.col("slots") + pl.col("more").fill_null(0)
        )
        new = more.join(self.mapping, on="user", how="anti").sort("user")
        names = self._new_names(new.height, chance)
        return pl.concat([known, new.select("user", names, slots="more")])

    def _new_names(self, size: int, chance: RandomSource) -> pl.Series:
        taken = self.mapping["pseudonym"].implode()
        while True:
            names = pl.Series("pseudonym", chance.tokens(size)).cast(pl.String)
            if not names.is_in(taken).any():  # as good as always: names have 48 bits or more
                return names
