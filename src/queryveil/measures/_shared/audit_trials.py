"""Persons who come or stay away, each among a crowd that sends what she sends.

Promises about adding a person hold for all logs, so the auditor chooses logs in which one person
can be seen best. Each person on trial has texts of her own group. Everybody in the group's crowd
sends them, so that they pass thresholds; whether she sends them too is decided by a coin.
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
_FLOOD = 50  # times as many rows as count of a person

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class CrowdTrial:
    """A log of some users and of crowds, and what the persons on trial would send.

    `texts` has the columns person, text, own (nobody else sends it) and first; `sends` has for
    each way to be seen the rows of all persons.
    """

    targets: int
    size: int
    base: pl.DataFrame
    texts: pl.DataFrame
    sends: dict[str, pl.DataFrame]

    @property
    def designs(self) -> tuple[str, ...]:
        """The ways to be seen."""
        return tuple(self.sends)

    def log(self, coins: Flags, ways: Sequence[str]) -> QueryLog:
        """Give the log of those whose coin says so, each sending what her way says."""
        inside = pl.DataFrame({"person": np.arange(self.targets), "way": list(ways)}).filter(coins)
        parts = [self.base]
        for way, rows in self.sends.items():
            mine = inside.filter(pl.col("way") == way)
            parts.append(rows.join(mine, on="person", how="semi").select(COLUMNS))
        return QueryLog.from_frame(pl.concat(parts))

    def scores(self, release: Release) -> dict[str, Floats]:
        """Give for each person what the release has of her group's texts, counted in many ways."""
        found: dict[str, Floats] = {}
        for name, rows in _listed(release).items():
            mine = rows.join(self.texts, left_on="query", right_on="text")
            shown = {
                "count": pl.col("count").sum(),
                "texts": pl.col("query").n_unique().cast(pl.Float64),
                "first": pl.col("count").filter("first").sum(),
                "own": pl.col("count").filter("own").sum(),
            }
            sums = mine.group_by("person").agg(**shown)
            found |= {f"{name}: {what}": self._placed(sums, what) for what in shown}
        if len(found) > len(_WHATS):  # several tables, or a log beside them
            found["all: count"] = np.sum([found[n] for n in found if n.endswith(": count")], axis=0)
        return found

    def together(self, table: dict[str, Floats]) -> dict[str, Floats]:
        """Leave the statistics of several runs as they are: all groups are alike."""
        return table

    def shows(self, release: Release) -> bool:
        """Whether the release has any text of the groups."""
        return any(values.any() for values in self.scores(release).values())

    def _placed(self, sums: pl.DataFrame, name: str) -> Floats:
        values = np.zeros(self.targets)
        values[sums["person"].to_numpy()] = sums[name].to_numpy()
        return values


_WHATS = ("count", "texts", "first", "own")


def _listed(release: Release) -> dict[str, pl.DataFrame]:
    """Give all that names queries: query and count, by the name of the table."""
    found = {
        name: table.select(pl.col("query").cast(pl.String), pl.col("count").cast(pl.Float64))
        for name, table in release.tables.items()
        if {"query", "count"} <= set(table.columns)
    }
    if release.log is not None:
        rows = release.log.select(pl.col("query").cast(pl.String)).collect()
        found["log"] = rows.group_by("query").agg(count=pl.len().cast(pl.Float64))
    return found


def build_crowd_trial(
    some: QueryLog, words: Sequence[str], persons: int, each: int, size: int
) -> CrowdTrial:
    """Make groups of persons on trial, with `each` texts and a crowd of that `size`.

    `words` has twice as many texts for each person: those of her group, and her own.
    """
    texts = pl.DataFrame(
        {
            "person": np.repeat(np.arange(persons), 2 * each),
            "text": pl.Series(words[: persons * 2 * each], dtype=pl.String),
            "place": np.tile(np.arange(2 * each), persons),
        }
    ).with_columns(own=pl.col("place") >= each, first=pl.col("place") == 0)
    shared, own = texts.filter(~pl.col("own")), texts.filter("own")
    crowd = shared.join(pl.DataFrame({"member": np.arange(size)}), how="cross")
    flood = shared.filter("first").select(
        "person", "text", place=pl.int_ranges(0, _FLOOD * each)
    ).explode("place")  # fmt: skip
    sends = {"with the crowd": shared, "again and again": flood, "alone": own}
    user = _name("on trial", "person")
    # The same query sent again within half an hour would be one event: these are hours apart.
    named = {way: _rows(rows, user, 60 if rows is flood else 1) for way, rows in sends.items()}
    known = some.local_frame.select(_plain()).collect()
    base = pl.concat([known, _rows(crowd, _name("crowd", "person", "member")).select(COLUMNS)])
    return CrowdTrial(persons, size, base, texts.drop("place"), named)


def _rows(sent: pl.DataFrame, user: pl.Expr, minutes: int = 1) -> pl.DataFrame:
    """Write rows of a log, so many minutes apart, each with a click."""
    rows = sent.with_columns(
        user=user,
        query="text",
        time=pl.lit(_START) + pl.duration(minutes=minutes * pl.col("place")),
        rank=pl.lit(1),
        url=pl.format("http://www.group{}.example", "person"),
    )
    return rows.select("person", *_plain())


def _plain() -> list[pl.Expr]:
    return [pl.col(name).cast(kind) for name, kind in SCHEMA.items()]


def _name(what: str, *columns: str) -> pl.Expr:
    return pl.concat_str(pl.lit(what), *columns, separator=" ")


_SWAP_START = datetime(2006, 3, 1)

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
