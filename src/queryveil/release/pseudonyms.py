"""New names for people: drawn at random, for this release alone, derived from nothing."""

from __future__ import annotations

import polars as pl

from ..engine import Chance

__all__ = ["pseudonymize"]


def pseudonymize(
    rows: pl.DataFrame, unit: str, chance: Chance
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Replace `user` by a pseudonym, one for each value of the column `unit`.

    With the unit `user` a person's rows stay linked; with `session` only those of a session.
    Gives the rows, and the mapping: user, pseudonym.
    """
    known = rows.select(pl.col("user", unit) if unit != "user" else pl.col("user")).unique()
    known = known.sort(pl.col(unit).cast(pl.String) if unit == "user" else pl.col(unit))
    names = pl.Series("pseudonym", chance.names(known.height)).cast(pl.String)
    known = known.with_columns(names)
    named = rows.join(known.select(unit, "pseudonym"), on=unit, how="left", maintain_order="left")
    public = named.with_columns(user=pl.col("pseudonym")).drop("pseudonym", strict=False)
    return public, known.select(pl.col("user").cast(pl.String), "pseudonym")
