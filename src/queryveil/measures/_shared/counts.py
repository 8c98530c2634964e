"""How often texts are there before and after: what the measures of frequencies share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.parameters import parameter
from ...errors import InputError, UsageError
from ...log.query_log import SCHEMA, SESSION_GAP_MINUTES
from ...release.formats import PUBLIC_TABLES
from ...release.release import Release
from ..base import Measure
from ..context import MeasureContext

Floats = NDArray[np.float64]


def original_frequencies(before: MeasureContext) -> pl.DataFrame:
    """Count the lines of each query of the log: text and count."""
    return before.cached("query counts", lambda: _counted(before.log.local_frame))


def released_frequencies(release: Release) -> tuple[pl.DataFrame, str]:
    """Give the same of a release, from its table of queries if it has one, and say from what."""
    if "queries" in release.tables:
        table = release.tables["queries"]
        rows = table.select(pl.col("query").cast(pl.String).alias("text"), "count")
        found = rows.filter(pl.col("count") > 0).group_by("text").agg(pl.col("count").sum())
        return found.sort("text"), "counts of the table of queries"
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has neither a log nor a table of queries to count",
            hint="measure a release that publishes queries",
        )
    phrases = release.parameters.get("emit") == "phrase"
    note = ", which has phrases where the log has whole queries" if phrases else ""
    return _counted(release.log), f"lines of the released log{note}"


def _counted(rows: pl.LazyFrame) -> pl.DataFrame:
    counted = rows.group_by("query").agg(count=pl.len()).collect(engine="streaming")
    text = pl.col("query").cast(pl.String).alias("text")
    return counted.select(text, pl.col("count").cast(pl.Int64)).drop_nulls().sort("text")


@dataclass(frozen=True)
class FrequencyMeasure(Measure):
    """The base of the measures of frequencies: the most frequent texts, before and after."""

    top: int = parameter(100, "most frequent ones of the log that are looked at", min=1)
    scale: str = parameter(
        "none",
        "whether released counts are scaled up to the volume of the log, or taken as they are",
        choices=("none", "volume"),
    )

    @abstractmethod
    def texts(self, queries: pl.DataFrame) -> pl.DataFrame:
        """Turn the counts of queries into those that are compared: text and count."""

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the error of counts, how many of the top are there, and in which order."""
        was = self._before(before)
        counts, read = released_frequencies(after)
        found = compare_frequencies(was, self.texts(counts), self.top)
        errors = {"volume": found["error_scaled"], "none": found["error_as_given"]}
        return {"value": errors[self.scale], **found, "ruler": read}

    def prepare(self, before: MeasureContext) -> None:
        """Count the log."""
        self._before(before)

    def _before(self, before: MeasureContext) -> pl.DataFrame:
        counts = before.cached((self, "before"), lambda: self.texts(original_frequencies(before)))
        if not counts.height:
            raise InputError("this log has nothing that could be counted")
        return counts


def compare_frequencies(before: pl.DataFrame, after: pl.DataFrame, top: int) -> dict[str, Any]:
    """Compare the most frequent texts before with what is there of them after.

    >>> was = pl.DataFrame({"text": ["a", "b"], "count": [6, 2]})
    >>> compare_frequencies(was, pl.DataFrame({"text": ["a", "b"], "count": [3, 1]}), 2)
    {'error_scaled': 0.0, 'error_as_given': 0.5, 'overlap': 1.0, 'rank_correlation': 1.0, 'top': 2}
    """
    first, second = (_top(counts, top) for counts in (before, after))
    now = after.rename({"count": "now"})
    both = first.join(now, on="text", how="left", maintain_order="left").fill_null(0)
    was, got = (both[name].to_numpy().astype(np.float64) for name in ("count", "now"))
    grown = int(before["count"].sum()) / max(int(after["count"].sum()), 1)
    common = first.join(second, on="text", how="semi").height
    return {
        "error_scaled": _relative_error(was, got * grown),
        "error_as_given": _relative_error(was, got),
        "overlap": round(common / first.height, 6),
        "rank_correlation": round(rank_correlation(was, got), 6),
        "top": first.height,
    }


def _top(counts: pl.DataFrame, top: int) -> pl.DataFrame:
    """Give the most frequent texts; of equally frequent ones the first by name."""
    return counts.sort("count", "text", descending=[True, False]).head(top)


def _relative_error(was: Floats, got: Floats) -> float:
    return round(float(np.mean(np.abs(got - was) / was)), 6)


def rank_correlation(one: Floats, two: Floats) -> float:
    """Give Spearman's correlation: that of the ranks, where equals share the mean of theirs.

    If one side has no order, because all are equal, it is 1 where the other has none either
    and has anything at all, else 0.

    >>> rank_correlation(np.array([9.0, 5.0, 1.0]), np.array([3.0, 2.0, 2.0])).__round__(4)
    0.866
    """
    a, b = (pl.Series(side).rank("average").to_numpy() for side in (one, two))
    if np.array_equal(a, b) and two.any():
        return 1.0
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else 0.0


def transitions(rows: pl.LazyFrame, whole_sessions: bool = False) -> pl.DataFrame:
    """Give each step to another query: user, query, next.

    A session ends with a pause of half an hour, or where `whole_sessions` says that a user name
    stands for a session, with the user name. Times that are mere numbers of rows tell no pauses:
    then all rows of a user are one session.

    >>> rows = [("u", "a", 1), ("u", "b", 2), ("u", "c", 3), ("u", "d", 3), ("v", "e", 4)]
    >>> table = pl.LazyFrame(rows, schema=["user", "query", "time"], orient="row")
    >>> transitions(table).rows()
    [('u', 'a', 'b')]
    """
    sent = rows.select("user", "query", "time").drop_nulls().group_by("user", "time")
    times = sent.agg(pl.col("query").first(), alone=pl.col("query").n_unique() == 1)
    ordered = times.sort("user", "time").collect(engine="streaming")
    now, after = pl.col("query"), pl.col("query").shift(-1)
    follows = (pl.col("user") == pl.col("user").shift(-1)) & (now != after)
    follows &= pl.col("alone") & pl.col("alone").shift(-1)
    if ordered.schema["time"].is_temporal() and not whole_sessions:
        pause = pl.col("time").shift(-1) - pl.col("time")
        follows &= pause <= pl.duration(minutes=SESSION_GAP_MINUTES)
    return ordered.lazy().with_columns(next=after).filter(follows).select(*_STEP).collect()


def count_transitions(rows: pl.LazyFrame, whole_sessions: bool = False) -> pl.DataFrame:
    """Count the steps between each two queries: query, next, count."""
    return transitions(rows, whole_sessions).group_by("query", "next").agg(count=pl.len())


_STEP = ("user", "query", "next")


@dataclass(frozen=True, eq=False, repr=False)
class LogStatistics:
    """Counts as texts and numbers, in the order of the texts; only counts above 0.

    `queries` has query and count; `clicks` query, url, count, and the mean rank of the clicks
    where ranks are given; `steps` query, next and count. `read` says where they come from.
    """

    queries: pl.DataFrame
    clicks: pl.DataFrame
    steps: pl.DataFrame
    read: str


def statistics_of_log(
    rows: pl.LazyFrame, whole_sessions: bool = False, read: str = "the log"
) -> LogStatistics:
    """Count what a log shows; `whole_sessions` says that a user name stands for one session."""
    queries = rows.group_by("query").agg(count=pl.len()).collect(engine="streaming")
    steps = count_transitions(rows, whole_sessions)
    return LogStatistics(
        _ordered(queries, ["query"]), count_clicks(rows), _ordered(steps, ["query", "next"]), read
    )


def count_clicks(rows: pl.LazyFrame) -> pl.DataFrame:
    """Count the clicks on each URL for each query: query, url, count, rank (the mean).

    >>> rows = {"query": ["a", "a"], "url": ["x", "x"], "rank": [1, 2]}
    >>> count_clicks(pl.LazyFrame(rows)).rows()
    [('a', 'x', 2.0, 1.5)]
    """
    clicked = rows.drop_nulls("url").group_by("query", "url")
    counts = clicked.agg(count=pl.len(), rank=pl.col("rank").mean())
    return _ordered(counts.collect(engine="streaming"), ["query", "url"])


def check_has_content(release: Release) -> None:
    """Refuse a release that publishes neither a log nor tables."""
    if release.log is None and not release.tables:
        raise UsageError(
            f"this release ({release.method}) has neither a log nor tables to learn from",
            hint="measure a release that publishes queries",
        )


def statistics_of_release(release: Release) -> LogStatistics:
    """Count what a release shows: by its tables, and by its log what these do not have."""
    named = [(name, texts) for name, texts in PUBLIC_TABLES.items() if name in release.tables]
    tables = {name: _table(release.tables[name], texts) for name, texts in named}
    if "clicks" in tables:
        tables["clicks"] = tables["clicks"].with_columns(rank=pl.lit(None, pl.Float64))
    if release.log is None or len(tables) == len(PUBLIC_TABLES):
        rest, read = statistics_of_log(_NO_ROWS), "the released tables"
    else:
        rest = _seen_in_rows(release.log, release.parameters)
        read = f"the released tables and {rest.read}" if tables else rest.read
    queries, clicks = tables.get("queries", rest.queries), tables.get("clicks", rest.clicks)
    return LogStatistics(queries, clicks, tables.get("transitions", rest.steps), read)


def _seen_in_rows(rows: pl.LazyFrame, parameters: Mapping[str, Any]) -> LogStatistics:
    note = ""
    if parameters.get("emit") == "phrase":
        note = ", whose phrases are taken for queries: a query of several phrases is not found"
    if rows.collect_schema()["time"].is_integer():
        note += ", whose times are numbers of rows: a user's rows are taken for one session"
    whole = parameters.get("link") == "session"
    return statistics_of_log(rows, whole, f"the released log{note}")


def _table(table: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Give a table without the counts that noise made 0 or less."""
    return _ordered(table.select(*texts, "count").filter(pl.col("count") > 0), texts)


def _ordered(counts: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Give texts and numbers in an order that is the same however rows are stored."""
    kinds = [pl.col(texts).cast(pl.String), pl.col("count").cast(pl.Float64)]
    return counts.with_columns(kinds).drop_nulls(texts).sort(texts)


_NO_ROWS = pl.LazyFrame(schema=SCHEMA)
