"""Who sent which texts, before and after, as numbers: what an attacker compares.

A text is a whole query. Where a release emits phrases it is a phrase, on both sides (SPEC 8.10).
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

import polars as pl

from ...core.parameters import parameter
from ...errors import InputError, UsageError
from ...release.release import Release
from ..base import Measure
from ..context import restore_users
from ..original import MeasureContext

__all__ = [
    "QueryTextMeasure",
    "UserQueryCounts",
    "count_user_queries",
    "released_counts",
    "released_log",
    "true_pairs",
]

_NUMBER = pl.UInt32


@dataclass(frozen=True, eq=False, repr=False)
class UserQueryCounts:
    """Who sent which text how often.

    `rows` has the columns owner and text, as places in the names, and count; each pair once.
    """

    users: pl.Series
    queries: pl.Series
    rows: pl.DataFrame


@dataclass(frozen=True)
class QueryTextMeasure(Measure, ABC):
    """The base of the measures that compare texts: whole queries, or phrases."""

    taxonomy: str = parameter(
        "auto", "what finds phrases, where these are released: auto takes the release's own"
    )

    def prepare(self, before: MeasureContext) -> None:
        """Number the users and the queries of the log."""
        _queries(before)

    def original_counts(self, before: MeasureContext, release: Release) -> UserQueryCounts:
        """Give what was sent before, in the unit in which the release gives texts."""
        found = self.phrases_of(release)
        if found is None:
            return _queries(before)
        return before.cached(("sent phrases", found), lambda: self._phrases(before, found))

    def unit_of(self, release: Release, number: int = 2) -> str:
        """Name the texts of a release: queries or phrases."""
        one, many = (
            ("query", "queries") if self.phrases_of(release) is None else ("phrase", "phrases")
        )
        return one if number == 1 else many

    def basis(self, release: Release) -> str:
        """Say what was compared with what."""
        taxonomy = self.phrases_of(release)
        if taxonomy is None:
            return "released queries against the log's queries"
        return f"released phrases against the phrases of the log's queries (found by {taxonomy})"

    def phrases_of(self, release: Release) -> str | None:
        """Give the taxonomy that finds the phrases, or none where queries are released."""
        if release.parameters.get("emit") != "phrase":
            return None
        own = str(release.parameters.get("taxonomy", "wordnet"))
        return own if self.taxonomy == "auto" else self.taxonomy

    def _phrases(self, before: MeasureContext, taxonomy: str) -> UserQueryCounts:
        try:
            before.taxonomy(taxonomy)
        except InputError as error:
            raise UsageError(
                f'the release has phrases of the taxonomy "{taxonomy}", which {error.what}',
                hint=f"say where it lies: {self.name}:taxonomy=FILE",
            ) from error
        queries = _queries(before)
        # The texts stand in order, so their places are the numbers that the mapping gives them.
        found = before.map_queries(queries.queries.to_frame("query").lazy(), taxonomy)
        phrases = found.phrase_texts().select(
            pl.col("phrase").alias("query"), text=found.phrases["query"]
        )
        pairs = queries.rows.join(phrases.with_columns(pl.col("text").cast(_NUMBER)), on="text")
        counts = pairs.group_by("owner", "query").agg(pl.col("count").sum())
        rows, texts = _numbered(counts, "query")
        return UserQueryCounts(queries.users, texts, _sorted(rows.rename({"query": "text"})))


def count_user_queries(log: pl.LazyFrame) -> UserQueryCounts:
    """Count the queries of each user of a log.

    >>> log = pl.LazyFrame({"user": ["b", "a", "a"], "query": ["x", "y", "y"]})
    >>> found = sent_of(log)
    >>> found.owners.to_list(), found.texts.to_list(), found.rows.rows()
    (['a', 'b'], ['x', 'y'], [(0, 1, 2), (1, 0, 1)])
    """
    counts = log.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    rows, owners = _numbered(counts, "user")
    rows, texts = _numbered(rows, "query")
    return UserQueryCounts(owners, texts, _sorted(rows.rename({"user": "owner", "query": "text"})))


def released_log(release: Release) -> pl.LazyFrame:
    """Give the log of a release, or say that it has none."""
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no users' logs that could be linked to anybody",
            hint="measure a release of users' logs",
        )
    return release.log


def released_counts(sent: UserQueryCounts, release: Release) -> UserQueryCounts:
    """Give the texts of each released log that somebody had sent, in the numbers of `sent`."""
    found = count_user_queries(released_log(release))
    known = pl.DataFrame({"name": sent.queries}).with_row_index("number")
    place = found.queries.to_frame("name").join(known, on="name", how="left", maintain_order="left")
    rows = found.rows.with_columns(text=pl.lit(place["number"]).gather(pl.col("text")))
    return UserQueryCounts(found.users, sent.queries, _sorted(rows.drop_nulls("text")))


def true_pairs(users: pl.Series, logs: pl.Series, release: Release) -> pl.DataFrame:
    """Give the pairs of user and released log, as places, that belong together.

    A user may have several logs. A log that was made up belongs to nobody.
    """
    named = restore_users(pl.DataFrame({"user": logs}).with_row_index("log"), release)
    people = pl.DataFrame({"user": users}).with_row_index("number")
    pairs = named.join(people, on="user").select("log", user="number").sort("log", "user")
    if named.height and not pairs.height:
        raise UsageError(
            f"no user of this release ({release.method}) is in the log",
            hint="give the log that the release was made from",
        )
    return pairs


def _queries(before: MeasureContext) -> UserQueryCounts:
    return before.cached("sent queries", lambda: count_user_queries(before.log.local_frame))


def _numbered(rows: pl.DataFrame, column: str) -> tuple[pl.DataFrame, pl.Series]:
    """Put numbers in place of names, in the order of the names; give these too."""
    known = rows.select(pl.col(column).unique())
    known = known.with_columns(name=pl.col(column).cast(pl.String)).sort("name")
    numbered = rows.join(known.select(column).with_row_index("number"), on=column)
    return numbered.drop(column).rename({"number": column}), known["name"]


def _sorted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("owner", "text", pl.col("count").cast(_NUMBER)).sort("owner", "text")
