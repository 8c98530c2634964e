"""The logs of an audit: target users who are added or not, or who send one text or another.

A guarantee on adding a user holds for all logs, so the auditor chooses logs in which one user is
most visible. Each target has the texts of their own group. A crowd of users sends these texts, so
that they pass thresholds; a coin decides whether the target sends them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.similarity.distance import pairwise_similarities
from ...concepts.taxonomy.graph import Taxonomy
from ...log.query_log import COLUMNS, SCHEMA, QueryLog
from ...release.release import Release

_START = datetime(2006, 3, 1)
_FLOOD = 50  # rows of a target per row that the contribution bound keeps

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class CrowdTrial:
    """A log of sampled users and of crowds, and the rows that the targets would send.

    `texts` has the columns person (the index of a target), text, own (no other user sends it) and
    first; `sends` has the rows of all targets for each design.
    """

    targets: int
    size: int
    base: pl.DataFrame
    texts: pl.DataFrame
    sends: dict[str, pl.DataFrame]

    @property
    def designs(self) -> tuple[str, ...]:
        """The designs: how a target sends texts to be visible."""
        return tuple(self.sends)

    def log(self, coins: Flags, ways: Sequence[str]) -> QueryLog:
        """Return the log with the targets whose coin is True, with the rows of their design."""
        inside = pl.DataFrame({"person": np.arange(self.targets), "way": list(ways)}).filter(coins)
        parts = [self.base]
        for way, rows in self.sends.items():
            selected = inside.filter(pl.col("way") == way)
            parts.append(rows.join(selected, on="person", how="semi").select(COLUMNS))
        return QueryLog.from_clean_frame(pl.concat(parts))

    def scores(self, release: Release) -> dict[str, Floats]:
        """Return several statistics of the released texts of each target's group."""
        scores: dict[str, Floats] = {}
        for name, rows in _count_queries(release).items():
            group_rows = rows.join(self.texts, left_on="query", right_on="text")
            statistics = {
                "count": pl.col("count").sum(),
                "texts": pl.col("query").n_unique().cast(pl.Float64),
                "first": pl.col("count").filter("first").sum(),
                "own": pl.col("count").filter("own").sum(),
            }
            sums = group_rows.group_by("person").agg(**statistics)
            scores |= {
                f"{name}: {statistic}": self._to_array(sums, statistic) for statistic in statistics
            }
        if len(scores) > len(_STATISTICS):  # several tables, or a log beside them
            scores["all: count"] = np.sum(
                [scores[n] for n in scores if n.endswith(": count")], axis=0
            )
        return scores

    def add_centered(self, table: dict[str, Floats]) -> dict[str, Floats]:
        """Return the statistics unchanged: all groups have the same expected values."""
        return table

    def shows(self, release: Release) -> bool:
        """Return whether the release has any text of the groups."""
        return any(values.any() for values in self.scores(release).values())

    def _to_array(self, sums: pl.DataFrame, name: str) -> Floats:
        values = np.zeros(self.targets)
        values[sums["person"].to_numpy()] = sums[name].to_numpy()
        return values


_STATISTICS = ("count", "texts", "first", "own")


def _count_queries(release: Release) -> dict[str, pl.DataFrame]:
    """Return the query counts of all tables and of the log, by the name of the table."""
    counts = {
        name: table.select(pl.col("query").cast(pl.String), pl.col("count").cast(pl.Float64))
        for name, table in release.tables.items()
        if {"query", "count"} <= set(table.columns)
    }
    if release.log is not None:
        rows = release.log.select(pl.col("query").cast(pl.String)).collect()
        counts["log"] = rows.group_by("query").agg(count=pl.len().cast(pl.Float64))
    return counts


def build_crowd_trial(
    sample: QueryLog, words: Sequence[str], targets: int, each: int, size: int
) -> CrowdTrial:
    """Build groups of targets, with `each` texts and a crowd of that `size`.

    `words` has twice as many texts for each target: those of the group, and those of their own.
    """
    texts = pl.DataFrame(
        {
            "person": np.repeat(np.arange(targets), 2 * each),
            "text": pl.Series(words[: targets * 2 * each], dtype=pl.String),
            "place": np.tile(np.arange(2 * each), targets),
        }
    ).with_columns(own=pl.col("place") >= each, first=pl.col("place") == 0)
    shared, own = texts.filter(~pl.col("own")), texts.filter("own")
    crowd = shared.join(pl.DataFrame({"member": np.arange(size)}), how="cross")
    flood = shared.filter("first").select(
        "person", "text", place=pl.int_ranges(0, _FLOOD * each)
    ).explode("place")  # fmt: skip
    sends = {"with the crowd": shared, "again and again": flood, "alone": own}
    user = _user_name("on trial", "person")
    # The same query within half an hour would be one event, so these rows are an hour apart.
    named = {
        way: _build_rows(rows, user, 60 if rows is flood else 1) for way, rows in sends.items()
    }
    known = sample.local_frame.select(_cast_columns()).collect()
    base = pl.concat(
        [known, _build_rows(crowd, _user_name("crowd", "person", "member")).select(COLUMNS)]
    )
    return CrowdTrial(targets, size, base, texts.drop("place"), named)


def _build_rows(sent: pl.DataFrame, user: pl.Expr, minutes: int = 1) -> pl.DataFrame:
    """Build rows of a log, that many minutes apart, each with a click."""
    rows = sent.with_columns(
        user=user,
        query="text",
        time=pl.lit(_START) + pl.duration(minutes=minutes * pl.col("place")),
        rank=pl.lit(1),
        url=pl.format("http://www.group{}.example", "person"),
    )
    return rows.select("person", *_cast_columns())


def _cast_columns() -> list[pl.Expr]:
    return [pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()]


def _user_name(prefix: str, *columns: str) -> pl.Expr:
    return pl.concat_str(pl.lit(prefix), *columns, separator=" ")


Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SwapTrial:
    """Pairs of texts, and the number of rows that each target sends.

    `concepts` are those of the texts, pair by pair, if the method uses concepts.
    """

    texts: tuple[tuple[str, str], ...]
    rows: int
    taxonomy: Taxonomy | None = None
    concepts: Ints | None = None

    @property
    def targets(self) -> int:
        """The number of targets."""
        return len(self.texts)

    @property
    def designs(self) -> tuple[str, ...]:
        """The only design."""
        return ("one text or another",)

    def log(self, coins: Flags, ways: Sequence[str]) -> QueryLog:  # noqa: ARG002
        """Return the log in which each target sends the text that their coin selects."""
        sent = [pair[0] if coin else pair[1] for pair, coin in zip(self.texts, coins, strict=True)]
        return log_from_queries(sent, self.rows)

    def scores(self, release: Release) -> dict[str, Floats]:
        """Return the similarity of the release to each target's first text minus the second."""
        if release.log is None:
            return {"texts": np.zeros(self.targets)}
        rows = release.log.select(pl.col("query").cast(pl.String)).collect()
        counts = dict(rows.group_by("query").len().iter_rows())
        pair_counts = [[float(counts.get(text, 0)) for text in pair] for pair in self.texts]
        table = {"texts": np.array(pair_counts) @ np.array([1.0, -1.0])}
        if release.concepts is not None and self.concepts is not None:
            table |= self._compare_concepts(release.concepts)
        return table

    def add_centered(self, table: dict[str, Floats]) -> dict[str, Floats]:
        """Add each statistic minus its mean over the runs: pairs of texts have different means.

        The centered statistic is a function of the releases alone, so guesses may depend on it.
        """
        centered = {}
        for name, values in table.items():
            runs = values.reshape(-1, self.targets)
            centered[f"{name}, above a person's mean"] = (runs - runs.mean(axis=0)).reshape(-1)
        return table | centered

    def _compare_concepts(self, released: pl.DataFrame) -> dict[str, Floats]:
        """Compare concepts: over all rows, and in the released log most similar to each text."""
        ids = released["user"].cast(pl.String).rank("dense").to_numpy().astype(np.int64) - 1
        distinct, rows = np.unique(released["concept"].to_numpy(), return_inverse=True)
        concepts = self.concepts.reshape(-1)  # type: ignore[union-attr]
        first, second = np.repeat(concepts, len(distinct)), np.tile(distinct, len(concepts))
        similarity = pairwise_similarities(self.taxonomy, first, second)  # type: ignore[arg-type]
        similarity = similarity.reshape(len(concepts), len(distinct))
        tally = np.zeros((int(ids.max(initial=-1)) + 1, len(distinct)))
        np.add.at(tally, (ids, rows), 1)
        each = (similarity @ tally.T).reshape(self.targets, 2, -1)
        difference = np.array([1.0, -1.0])
        return {
            "likeness": each.sum(axis=2) @ difference,
            "nearest log": each.max(axis=2, initial=0.0) @ difference,
        }


def log_from_queries(sent: Sequence[str], rows: int) -> QueryLog:
    """Build a log in which each target sends their text that many times, an hour apart.

    The same query within half an hour would be one event.
    """
    frame = pl.DataFrame({"query": pl.Series(sent, dtype=pl.String)}).with_row_index("person")
    frame = frame.with_columns(place=pl.int_ranges(0, rows)).explode("place")
    return QueryLog.from_clean_frame(
        frame.select(
            pl.format("on trial {}", "person").alias("user"),
            "query",
            (pl.lit(_START) + pl.duration(hours=pl.col("place"))).alias("time"),
            pl.lit(None, pl.Int32).alias("rank"),
            pl.lit(None, pl.String).alias("url"),
        ).select(COLUMNS)
    )
