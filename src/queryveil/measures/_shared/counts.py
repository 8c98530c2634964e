"""Counts of queries, clicks and transitions of logs and releases, which measures compare."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.parameters import parameter
from ...errors import InputError, UsageError
from ...log.query_log import SCHEMA, SESSION_GAP_MINUTES
from ...release.formats import PUBLIC_TABLES, complete_queries, has_kinds
from ...release.release import Release
from ..base import Measure
from ..context import MeasureContext
from ..result import MeasureResult
from .thresholds import Threshold

Floats = NDArray[np.float64]


def original_frequencies(context: MeasureContext) -> pl.DataFrame:
    """Count the rows of each query of the log: text and count."""
    return context.cached("query counts", lambda: _count_rows(context.log.local_frame))


def released_frequencies(release: Release, *, with_parts: bool = False) -> tuple[pl.DataFrame, str]:
    """Return the query counts of a release, and a note on their source.

    The table of queries has precedence over the log.

    Args:
        with_parts: Whether rows that are parts of queries count too: for counts of words and of
            texts, and not for counts of queries, which they would inflate.
    """
    if "queries" in release.tables:
        table = release.tables["queries"]
        rows = table.select(pl.col("query").cast(pl.String).alias("text"), "count")
        counts = rows.filter(pl.col("count") > 0).group_by("text").agg(pl.col("count").sum())
        return counts.sort("text"), "counts of the table of queries"
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has neither a log nor a table of queries to count",
            hint="measure a release of queries",
        )
    if has_kinds(release.log):
        if with_parts:
            return _count_rows(release.log), "rows of the released log, queries and parts of them"
        counts = _count_rows(complete_queries(release.log))
        return counts, f"rows of the released log{_WITHOUT_PARTS}"
    phrases = release.parameters.get("output_unit") == "phrase"
    note = ", which has phrases where the log has whole queries" if phrases else ""
    return _count_rows(release.log), f"rows of the released log{note}"


_WITHOUT_PARTS = " that are whole queries, without those that are parts of queries"


def _count_rows(rows: pl.LazyFrame) -> pl.DataFrame:
    counts = rows.group_by("query").agg(count=pl.len()).collect(engine="streaming")
    text = pl.col("query").cast(pl.String).alias("text")
    return counts.select(text, pl.col("count").cast(pl.Int64)).drop_nulls().sort("text")


@dataclass(frozen=True)
class FrequencyMeasure(Measure):
    """The base of the frequency measures: the most frequent texts, before and after."""

    counts_parts: ClassVar[bool] = False  # whether released parts of queries have such texts

    top_n: int = parameter(100, "number of the log's most frequent texts to compare", min=1)
    rescale: str = parameter(
        "none",
        "scale of released counts: as released, or to the volume of the log",
        choices=("none", "volume"),
    )

    @abstractmethod
    def texts(self, queries: pl.DataFrame) -> pl.DataFrame:
        """Return the counts of the compared texts from counts of queries: text and count."""

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the error of counts, the overlap of the top texts, and their rank correlation."""
        original = self._original_counts(context)
        counts, note = released_frequencies(release, with_parts=self.counts_parts)
        comparison = compare_frequencies(original, self.texts(counts), self.top_n)
        errors = {"volume": comparison.error_scaled, "none": comparison.error_as_given}
        return self.result(
            errors[self.rescale],
            counts={"top": comparison.top},
            details={
                "error_scaled": comparison.error_scaled,
                "error_as_given": comparison.error_as_given,
                "overlap": comparison.overlap,
                "rank_correlation": comparison.rank_correlation,
            },
            basis=note,
        )

    @abstractmethod
    def allowed(self, context: MeasureContext, threshold: Threshold, top: pl.Series) -> pl.Series:
        """Return which of the top texts a release with a threshold can have."""

    def best_with(self, context: MeasureContext, threshold: Threshold) -> float:
        """Return the error of exact counts of all allowed texts: the fraction of the others."""
        top = _top(self._original_counts(context), self.top_n)["text"]
        return round(float(1 - self.allowed(context, threshold, top).cast(pl.Float64).mean()), 6)  # type: ignore[operator]

    def prepare(self, context: MeasureContext) -> None:
        """Count the texts of the log."""
        self._original_counts(context)

    def _original_counts(self, context: MeasureContext) -> pl.DataFrame:
        counts = context.cached((self, "before"), lambda: self.texts(original_frequencies(context)))
        if not counts.height:
            raise InputError("this log has no texts: there is nothing to count")
        return counts


@dataclass(frozen=True)
class FrequencyComparison:
    """The errors of the counts of the `top` texts, their overlap and their rank correlation."""

    error_scaled: float
    error_as_given: float
    overlap: float
    rank_correlation: float
    top: int


def compare_frequencies(before: pl.DataFrame, after: pl.DataFrame, top: int) -> FrequencyComparison:
    """Compare the counts of the most frequent texts before and after.

    >>> was = pl.DataFrame({"text": ["a", "b"], "count": [6, 2]})
    >>> both = compare_frequencies(was, pl.DataFrame({"text": ["a", "b"], "count": [3, 1]}), 2)
    >>> both.error_scaled, both.error_as_given, both.overlap, both.rank_correlation, both.top
    (0.0, 0.5, 1.0, 1.0, 2)
    """
    first, second = (_top(counts, top) for counts in (before, after))
    now = after.rename({"count": "now"})
    both = first.join(now, on="text", how="left", maintain_order="left").fill_null(0)
    original, released = (both[name].to_numpy().astype(np.float64) for name in ("count", "now"))
    growth = int(before["count"].sum()) / max(int(after["count"].sum()), 1)
    common = first.join(second, on="text", how="semi").height
    return FrequencyComparison(
        error_scaled=_relative_error(original, released * growth),
        error_as_given=_relative_error(original, released),
        overlap=round(common / first.height, 6),
        rank_correlation=round(rank_correlation(original, released), 6),
        top=first.height,
    )


def _top(counts: pl.DataFrame, top: int) -> pl.DataFrame:
    """Return the most frequent texts; equally frequent ones are sorted by name."""
    return counts.sort("count", "text", descending=[True, False]).head(top)


def _relative_error(original: Floats, released: Floats) -> float:
    return round(float(np.mean(np.abs(released - original) / original)), 6)


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's rank correlation, with mean ranks of ties.

    If all values of one side are equal, it is 0; except that it is 1 if those of the other side
    are equal too, and `second` is not 0 throughout.

    >>> rank_correlation(np.array([9.0, 5.0, 1.0]), np.array([3.0, 2.0, 2.0])).__round__(4)
    0.866
    """
    a, b = (pl.Series(side).rank("average").to_numpy() for side in (first, second))
    if np.array_equal(a, b) and second.any():
        return 1.0
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else 0.0


def transitions(rows: pl.LazyFrame, whole_sessions: bool = False) -> pl.DataFrame:
    """Return each transition to another query: user, query, next.

    A session ends with a pause of `SESSION_GAP_MINUTES`. With `whole_sessions`, each user name is
    one session. Times that are integers have no pauses: then all rows of a user are one session.
    A time at which a user sent several different queries has no order and is skipped.

    >>> rows = [("u", "a", 1), ("u", "b", 2), ("u", "c", 3), ("u", "d", 3), ("v", "e", 4)]
    >>> table = pl.LazyFrame(rows, schema=["user", "query", "time"], orient="row")
    >>> transitions(table).rows()
    [('u', 'a', 'b')]
    """
    sent = rows.select("user", "query", "time").drop_nulls().group_by("user", "time")
    times = sent.agg(pl.col("query").first(), is_unambiguous=pl.col("query").n_unique() == 1)
    ordered = times.sort("user", "time").collect(engine="streaming")
    now, after = pl.col("query"), pl.col("query").shift(-1)
    follows = (pl.col("user") == pl.col("user").shift(-1)) & (now != after)
    follows &= pl.col("is_unambiguous") & pl.col("is_unambiguous").shift(-1)
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
    """Positive counts of queries, clicks and steps, sorted by the texts.

    `queries` has query and count; `clicks` query, url, count, and the mean rank of the clicks
    if there are ranks; `steps` query, next and count. `read` is a note on their source.
    """

    queries: pl.DataFrame
    clicks: pl.DataFrame
    steps: pl.DataFrame
    read: str


def statistics_of_log(
    rows: pl.LazyFrame, whole_sessions: bool = False, read: str = "the log"
) -> LogStatistics:
    """Count the rows of a log; with `whole_sessions` a user name stands for one session."""
    queries = rows.group_by("query").agg(count=pl.len()).collect(engine="streaming")
    steps = count_transitions(rows, whole_sessions)
    return LogStatistics(
        _sort_by_texts(queries, ["query"]),
        count_clicks(rows),
        _sort_by_texts(steps, ["query", "next"]),
        read,
    )


def count_clicks(rows: pl.LazyFrame) -> pl.DataFrame:
    """Count the clicks on each URL for each query: query, url, count, rank (the mean).

    >>> rows = {"query": ["a", "a"], "url": ["x", "x"], "rank": [1, 2]}
    >>> count_clicks(pl.LazyFrame(rows)).rows()
    [('a', 'x', 2.0, 1.5)]
    """
    clicked = rows.drop_nulls("url").group_by("query", "url")
    counts = clicked.agg(count=pl.len(), rank=pl.col("rank").mean())
    return _sort_by_texts(counts.collect(engine="streaming"), ["query", "url"])


def check_has_content(release: Release) -> None:
    """Raise if a release has neither a log nor tables."""
    if release.log is None and not release.tables:
        raise UsageError(
            f"this release ({release.method}) has neither a log nor tables to learn from",
            hint="measure a release of queries",
        )


def statistics_of_release(release: Release) -> LogStatistics:
    """Return the counts of a release: from its tables, and from its log what they lack."""
    named = [(name, texts) for name, texts in PUBLIC_TABLES.items() if name in release.tables]
    tables = {name: _select_positive(release.tables[name], texts) for name, texts in named}
    if "clicks" in tables:
        tables["clicks"] = tables["clicks"].with_columns(rank=pl.lit(None, pl.Float64))
    if release.log is None or len(tables) == len(PUBLIC_TABLES):
        rest, read = statistics_of_log(_NO_ROWS), "the released tables"
    else:
        rest = _statistics_of_rows(release, release.log)
        read = f"the released tables and {rest.read}" if tables else rest.read
    queries, clicks = tables.get("queries", rest.queries), tables.get("clicks", rest.clicks)
    return LogStatistics(queries, clicks, tables.get("transitions", rest.steps), read)


def _statistics_of_rows(release: Release, rows: pl.LazyFrame) -> LogStatistics:
    parameters, note = release.parameters, ""
    if has_kinds(rows):
        rows, note = complete_queries(rows), f": rows{_WITHOUT_PARTS}"
    elif parameters.get("output_unit") == "phrase":
        note = ", whose phrases are taken for queries: a query of several phrases has no match"
    if rows.collect_schema()["time"].is_integer():
        note += ", whose times are numbers of rows: a user's rows are taken for one session"
    whole = parameters.get("pseudonym_scope") == "session"
    return statistics_of_log(rows, whole, f"the released log{note}")


def _select_positive(table: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Return a table without the counts that noise made 0 or less."""
    return _sort_by_texts(table.select(*texts, "count").filter(pl.col("count") > 0), texts)


def _sort_by_texts(counts: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Cast texts and counts, and sort by the texts, whatever the order of rows."""
    casts = [pl.col(texts).cast(pl.String), pl.col("count").cast(pl.Float64)]
    return counts.with_columns(casts).drop_nulls(texts).sort(texts)


_NO_ROWS = pl.LazyFrame(schema=SCHEMA)
