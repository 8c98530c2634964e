"""Methods that can continue an earlier release, with its pseudonyms and the budget of its users.

A *slot* is one contribution that was paid for: the right of a user to have one query released.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import polars as pl

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..log.query_log import QueryLog
from .base import Method, MethodOutput


@dataclass(frozen=True, repr=False)
class PreviousContributions:
    """The users of earlier releases, and the slots that each has used.

    Attributes:
        mapping: user and pseudonym (strings) and slots (Int64): the slots used in total so far,
            including killed runs whose output may have been seen.
        max_contributions: The public bound on the slots of a user in total after this release.
            In this release alone a user uses no more slots than the bound of the method.
    """

    mapping: pl.DataFrame
    max_contributions: int

    def updated(self, slots: pl.DataFrame, rng: RandomSource) -> pl.DataFrame:
        """Return the mapping after users have used further slots: user, pseudonym, slots.

        Users keep their pseudonyms. New users get new, unique ones.
        """
        more = slots.select(pl.col("user").cast(pl.String), more=pl.col("slots").cast(pl.Int64))
        known = self.mapping.join(more, on="user", how="left", maintain_order="left").select(
            "user", "pseudonym", pl.col("slots") + pl.col("more").fill_null(0)
        )
        new = more.join(self.mapping, on="user", how="anti").sort("user")
        names = self._draw_pseudonyms(new.height, rng)
        return pl.concat([known, new.select("user", names, slots="more")])

    def _draw_pseudonyms(self, size: int, rng: RandomSource) -> pl.Series:
        taken = self.mapping["pseudonym"].implode()
        while True:
            names = pl.Series("pseudonym", rng.tokens(size)).cast(pl.String)
            if not names.is_in(taken).any():  # almost always: pseudonyms have 48 bits or more
                return names


@dataclass(frozen=True)
class ContinuableMethod(Method):
    """A method that charges each query separately, so that a release can be continued.

    Its parameter `max_queries_per_user` is the number of slots of a user in one release. Each
    slot costs the same: epsilon divided by this number.
    """

    @abstractmethod
    def count_contributions(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:
        """Return the slots that `continue_release` uses for each user: user, slots.

        It is deterministic. It is called before noise is drawn, and again for a run that was
        killed.
        """

    @abstractmethod
    def continue_release(
        self,
        log: QueryLog,
        earlier: PreviousContributions,
        rng: RandomSource,
        progress: Progress,
    ) -> MethodOutput:
        """Anonymize rows that came after an earlier release, with its pseudonyms and budget.

        The mapping of the output has all users, including those of `earlier`, and the slots that
        each has used in total: `earlier.updated(self.count_contributions(log, earlier), rng)`.
        """

    @abstractmethod
    def continuing(self, previous_epsilon: float) -> Self:
        """Return this method with the guarantee of all releases together.

        The parameters that it sets are internal: they are on the card, and nobody types them.

        Args:
            previous_epsilon: What was paid for the releases before, beyond the epsilon of this
                one; 0 if this release uses only slots that were paid for.
        """
