"""Persons who sent one thing or another: for promises about logs of the same users.

Each person on trial sends one of two texts again and again; a coin decides which. Nobody else is
in the log: a promise holds for a small log too, and others would only hide her.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.likeness.similarity import pairwise_similarities
from ...concepts.taxonomy.graph import Taxonomy
from ...log.query_log import COLUMNS, QueryLog
from ...release.release import Release

__all__ = ["SwapTrial", "log_from_queries"]

_SWAP_START = datetime(2006, 3, 1)

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SwapTrial:
    """Pairs of texts, and how many rows each person sends.

    `concepts` are those of the texts, pair by pair, where the method speaks of concepts.
    """

    texts: tuple[tuple[str, str], ...]
    rows: int
    taxonomy: Taxonomy | None = None
    concepts: Ints | None = None

    @property
    def targets(self) -> int:
        """How many persons are on trial."""
        return len(self.texts)

    @property
    def designs(self) -> tuple[str, ...]:
        """There is one way to be seen."""
        return ("one text or another",)

    def log(self, coins: Flags, ways: Sequence[str]) -> QueryLog:  # noqa: ARG002
        """Give the log in which each person sends the text that her coin says."""
        sent = [pair[0] if coin else pair[1] for pair, coin in zip(self.texts, coins, strict=True)]
        return log_from_queries(sent, self.rows)

    def scores(self, release: Release) -> dict[str, Floats]:
        """Give how much nearer the release is to each person's first text than to her second."""
        if release.log is None:
            return {"texts": np.zeros(self.targets)}
        rows = release.log.select(pl.col("query").cast(pl.String)).collect()
        counts = dict(rows.group_by("query").len().iter_rows())
        found = [[float(counts.get(text, 0)) for text in pair] for pair in self.texts]
        table = {"texts": np.array(found) @ np.array([1.0, -1.0])}
        if release.concepts is not None and self.concepts is not None:
            table |= self._likeness(release.concepts)
        return table

    def together(self, table: dict[str, Floats]) -> dict[str, Floats]:
        """Add each statistic less its mean over the runs: pairs of texts are not alike.

        That is a function of what was released alone, so guesses may be made by it.
        """
        centred = {}
        for name, values in table.items():
            runs = values.reshape(-1, self.targets)
            centred[f"{name}, above a person's mean"] = (runs - runs.mean(axis=0)).reshape(-1)
        return table | centred

    def _likeness(self, released: pl.DataFrame) -> dict[str, Floats]:
        """Compare concepts: over all rows, and in the released log that is nearest to each text."""
        ids = released["user"].cast(pl.String).rank("dense").to_numpy().astype(np.int64) - 1
        kinds, rows = np.unique(released["concept"].to_numpy(), return_inverse=True)
        wanted = self.concepts.reshape(-1)  # type: ignore[union-attr]
        first, second = np.repeat(wanted, len(kinds)), np.tile(kinds, len(wanted))
        near = pairwise_similarities(self.taxonomy, first, second)  # type: ignore[arg-type]
        near = near.reshape(len(wanted), len(kinds))
        tally = np.zeros((int(ids.max(initial=-1)) + 1, len(kinds)))
        np.add.at(tally, (ids, rows), 1)
        each = (near @ tally.T).reshape(self.targets, 2, -1)
        difference = np.array([1.0, -1.0])
        return {
            "likeness": each.sum(axis=2) @ difference,
            "nearest log": each.max(axis=2, initial=0.0) @ difference,
        }


def log_from_queries(sent: Sequence[str], rows: int) -> QueryLog:
    """Give a log in which each person sends her text so many times, an hour apart.

    The same query sent again within half an hour would be one event.
    """
    frame = pl.DataFrame({"query": pl.Series(sent, dtype=pl.String)}).with_row_index("person")
    frame = frame.with_columns(place=pl.int_ranges(0, rows)).explode("place")
    return QueryLog.from_frame(
        frame.select(
            pl.format("on trial {}", "person").alias("user"),
            "query",
            (pl.lit(_SWAP_START) + pl.duration(hours=pl.col("place"))).alias("time"),
            pl.lit(None, pl.Int32).alias("rank"),
            pl.lit(None, pl.String).alias("url"),
        ).select(COLUMNS)
    )
