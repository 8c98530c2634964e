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
