"""Syntactic microaggregation: distances of users by the form of their queries, not the meaning.

Navarro-Arribas and Torra (2009, 2012) compare two queries by time, length, text, terms and the
clicked site. Their exact formulas are not public; the distances here are all from 0 to 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...errors import InputError, UsageError
from ...log.query_log import QueryLog
from ..base import MethodOutput
from .base import Microaggregation
from .emission import Prototypes, emit_logs
from .grouping import Floats, GroupLabels, check_groups, check_users, group_users, mdav, of_some
from .prototypes import most_repeated_queries
from .queries import substitute_rare_queries
from .refinement import refine_groups

_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://")
_USERS = 20  # of a block; two blocks of 1,000 rows make tables of 4 MB

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]


def syntactic_distance_matrix(rows: pl.DataFrame, cap: int = 50) -> Singles:
    """Return the distances of all users, after Navarro-Arribas and Torra (2009, 2012).

    `rows` has the columns user (0 to n - 1, each with at least one row and at most `cap`),
    query, time (or null) and url (or null). Texts are compared as they are. The distance of two
    queries is the mean of those of their times, numbers of terms, texts, terms and hosts; time
    is left out if one has none, the host if neither has a click. That of two users is the mean
    of the distances of all their queries to the nearest of the other: eq. (4) of Batet 2013.

    >>> rows = {"user": [0, 1], "query": ["red car", "red cat"], "time": None, "url": None}
    >>> syntactic_distance_matrix(pl.DataFrame(rows))[0, 1] * 3  # 0 + 1/7 + 1/2
    np.float32(0.64285713)
    """
    log = _Rows.of(rows, cap)
    size = len(log.begins) - 1
    matrix = np.zeros((size, size), np.float32)
    for first in range(0, size, _USERS):
        left = log.block(first, first + _USERS)
        for second in range(first, size, _USERS):
            right = log.block(second, second + _USERS)
            matrix[first : first + _USERS, second : second + _USERS] = _user_distances(left, right)
    upper = np.triu(matrix, 1)
    return upper + upper.T


def host_labels(url: str) -> list[str]:
    """Return the labels of the host of a URL, the last one first; none if it has no host.

    >>> host_labels("http://www.Example.org:80/a?b")
    ['org', 'example', 'www']
    """
    authority = _SCHEME.sub("", url)
    for separator in "/?#":
        authority = authority.split(separator, 1)[0]
    host = authority.rsplit("@", 1)[-1].split(":", 1)[0]
    return [label for label in reversed(host.lower().split(".")) if label]


@dataclass(frozen=True, eq=False, repr=False)
class _Block:
    """The rows of a block of users; `begins` are the first rows of each user."""

    begins: Ints
    sizes: Ints
    times: Singles  # from 0 to 1, or NaN
    lengths: Singles
    queries: Ints  # for each row, the index of texts and terms
    texts: list[str]
    terms: list[list[int]]
    hosts: Ints  # for each row, the index of labels
    labels: Ints  # one row per host: its label numbers, padded with -1
    clicked: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class _Rows:
    """All rows, sorted by user, with distinct texts and hosts numbered."""

    begins: Ints
    times: Singles
    queries: Ints
    texts: list[str]
    terms: list[list[int]]
    hosts: Ints
    labels: Ints

    @classmethod
    def of(cls, rows: pl.DataFrame, cap: int) -> _Rows:
        begins = _find_begins(rows, cap)
        ordered = rows.sort("user", maintain_order=True)
        queries, texts = _number_texts(ordered["query"].cast(pl.String))
        hosts, urls = _number_texts(ordered["url"].cast(pl.String))
        words: dict[str, int] = {}
        labels: dict[str, int] = {}
        terms = [[words.setdefault(t, len(words)) for t in text.split()] for text in texts]
        paths = [[labels.setdefault(x, len(labels)) for x in host_labels(url)] for url in urls]
        times = _scale_times(ordered["time"])
        return cls(begins, times, queries, texts, terms, hosts, _pad(paths))

    def block(self, first: int, last: int) -> _Block:
        begins = self.begins[first : last + 1]
        part = slice(int(begins[0]), int(begins[-1]))
        known, queries = np.unique(self.queries[part], return_inverse=True)
        sites, hosts = np.unique(self.hosts[part], return_inverse=True)
        terms = [self.terms[index] for index in known.tolist()]
        lengths = np.array([len(term) for term in terms], np.float32)
        labels = self.labels[sites]
        return _Block(
            begins=begins[:-1] - begins[0],
            sizes=np.diff(begins),
            times=self.times[part],
            lengths=lengths,
            queries=queries,
            texts=[self.texts[index] for index in known.tolist()],
            terms=terms,
            hosts=hosts,
            labels=labels,
            clicked=labels[:, 0] >= 0,
        )


def _find_begins(rows: pl.DataFrame, cap: int) -> Ints:
    """Return the first row of each user after sorting; raise UsageError for invalid rows."""
    if missing := sorted({"user", "query", "time", "url"} - set(rows.columns)):
        raise UsageError(f"the rows have no column {' and '.join(missing)}")
    if rows["user"].null_count() or rows["query"].null_count():
        raise UsageError("a row has no user or no query")
    users = rows["user"].to_numpy()
    if len(users) and int(users.min()) < 0:
        raise UsageError("user numbers must be at least 0")
    sizes = np.bincount(users.astype(np.int64))
    if len(sizes) and not int(sizes.min()):
        raise UsageError(f"user {int(np.argmin(sizes))} has no row", hint="number users densely")
    if int(sizes.max(initial=0)) > cap:
        largest = int(np.argmax(sizes))
        raise UsageError(
            f"user {largest} has {int(sizes[largest]):,} rows",
            hint=f"sample at most {cap} rows of a user",
        )
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _number_texts(column: pl.Series) -> tuple[Ints, list[str]]:
    """Assign numbers to the distinct texts of a column; null counts as an empty text."""
    texts = column.fill_null("")
    known = texts.unique().sort()
    numbers = known.search_sorted(texts).to_numpy().astype(np.int64)
    return numbers, known.to_list()


def _scale_times(times: pl.Series) -> Singles:
    """Scale times to 0 (the first) to 1 (the last); NaN for a missing time."""
    if times.dtype == pl.Null:
        return np.full(len(times), np.nan, np.float32)
    known = times.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64)
    low, high = known.min(), known.max()
    if not isinstance(low, float) or not isinstance(high, float):
        return np.full(len(times), np.nan, np.float32)
    scaled = (known.to_numpy() - low) / max(high - low, 1.0)
    return scaled.astype(np.float32)


def _pad(paths: list[list[int]]) -> Ints:
    width = max((len(path) for path in paths), default=0)
    table = np.full((len(paths), max(width, 1)), -1, np.int64)
    for row, path in enumerate(paths):
        table[row, : len(path)] = path
    return table


def _user_distances(left: _Block, right: _Block) -> NDArray[np.float64]:
    """Return the mean distance to the nearest query of the other user, both ways, eq. (4)."""
    table = _query_distances(left, right)
    nearest = np.minimum.reduceat(table, right.begins, axis=1).astype(np.float64)
    forth = np.add.reduceat(nearest, left.begins, axis=0)
    nearest = np.minimum.reduceat(table, left.begins, axis=0).astype(np.float64)
    back = np.add.reduceat(nearest, right.begins, axis=1)
    mean: NDArray[np.float64] = (forth + back) / (left.sizes[:, None] + right.sizes)
    return mean


def _query_distances(left: _Block, right: _Block) -> Singles:
    """Return the distances d_q of all pairs of rows of two blocks."""
    texts = _edits(left.texts, right.texts) + _edits(left.terms, right.terms)
    texts += _ratio(np.abs(left.lengths[:, None] - right.lengths), left.lengths, right.lengths)
    total = _to_rows(texts, left.queries, right.queries)
    total += _to_rows(_host_distances(left.labels, right.labels), left.hosts, right.hosts)
    either = left.clicked[:, None] | right.clicked
    parts = _to_rows(either.astype(np.float32) + 3, left.hosts, right.hosts)
    gap = np.abs(left.times[:, None] - right.times)
    timed = ~np.isnan(gap)
    np.add(total, gap, out=total, where=timed)
    total /= parts + timed
    return total


def _to_rows(table: Singles, first: Ints, second: Ints) -> Singles:
    return table[first][:, second]


def _edits(first: Sequence[Sequence[object]], second: Sequence[Sequence[object]]) -> Singles:
    """Return Levenshtein distances, divided by the length of the longer sequence."""
    scorer = Levenshtein.normalized_distance
    distances = cdist(first, second, scorer=scorer, dtype=np.float32, workers=-1)
    return distances.astype(np.float32, copy=False)


def _ratio(upper: Singles, first: Singles, second: Singles) -> Singles:
    longer = np.maximum(first[:, None], second)
    ratio: Singles = np.divide(upper, np.maximum(longer, 1), dtype=np.float32)
    return ratio


def _host_distances(first: Ints, second: Ints) -> Singles:
    """Return one minus the fraction of common last labels of two hosts; 0 without labels."""
    agree = np.ones((len(first), len(second)), np.bool_)
    common = np.zeros(agree.shape, np.float32)
    for left, right in zip(first.T, second.T, strict=True):
        agree &= (left[:, None] == right) & (left[:, None] >= 0)
        common += agree
    counts = [(labels >= 0).sum(axis=1).astype(np.float32) for labels in (first, second)]
    longer = np.maximum(counts[0][:, None], counts[1])
    return _ratio(longer - common, *counts)


_MAX_USERS = 2_000  # all rows of all users are compared: minutes for a thousand users


@dataclass(frozen=True)
class SyntacticMicroaggregation(Microaggregation):
    """Group users by the times, hosts, letters, words and lengths of their queries.

    >>> str(SyntacticMicroaggregation(k=3))
    'syntactic-microaggregation:k=3'
    """

    name: ClassVar[str] = "syntactic-microaggregation"
    title: ClassVar[str] = "groups of k users with similarly written queries share one log"
    paper: ClassVar[str] = "Navarro-Arribas and Torra 2009"
    guarantee_summary: ClassVar[str] = (
        "k-anonymity: every released log is shared by at least k users"
    )
    good_for: ClassVar[str] = (
        "comparing with the other microaggregation methods on small logs, of up to 2,000 users"
    )

    max_rows_per_user: int = parameter(
        50, "maximum number of rows of each user that are compared", min=1, max=1_000, unit="rows"
    )

    def run(
        self,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
        groups: pl.DataFrame | None = None,
    ) -> MethodOutput:
        """Compare the queries of all users, group them by MDAV, and select repeated queries."""
        check_users(log.count_distinct("user"), self.k)
        users = log.local_frame.select("user").unique().collect()
        users = users.sort(pl.col("user").cast(pl.String)).with_row_index("number")
        if users.height > _MAX_USERS:
            raise InputError(
                f"{users.height:,} users are too many to compare all their queries",
                hint=f"`sample_users={_MAX_USERS}`, or semantic-microaggregation",
            )
        with progress.stage("group users"):
            matrix = syntactic_distance_matrix(
                self._sample_rows(log, users, rng), cap=self.max_rows_per_user
            )
            group = group_users(
                users["user"], groups, self.k, lambda new: self._group(of_some(matrix, new))
            )
            check_groups(group, self.k)
        members = users.select("user", group=pl.Series(group.astype(np.int64)))
        texts, short = most_repeated_queries(log.local_frame, members, rng, self.member_fraction)
        rules = self.emission_rules()
        texts = substitute_rare_queries(texts, members, log, rules, rng, progress)
        return emit_logs(log, Prototypes(members, texts, short), rules, rng, progress)

    def _group(self, matrix: Floats) -> GroupLabels:
        group = mdav(matrix, self.k)
        return group if self.as_published else refine_groups(matrix, group)

    def _sample_rows(self, log: QueryLog, users: pl.DataFrame, rng: RandomSource) -> pl.DataFrame:
        """Draw at most `rows` rows of each user."""
        texts = pl.col("query", "url").cast(pl.String)
        frame = log.local_frame.join(users.lazy(), on="user", maintain_order="left")
        rows = frame.select("time", texts, user=pl.col("number").cast(pl.Int64)).collect()
        rows = rows.sort("user", "time", "query", "url")
        drawn = rows[rng.permutation(rows.height)]
        return (
            drawn.group_by("user", maintain_order=True)
            .head(self.max_rows_per_user)
            .sort("user", maintain_order=True)
        )
