"""The figures in which a synthetic log must be like a real one, measured on any log.

An event is here one query at one time by one user, as in published statistics of AOL's log: a
request for the next page counts, a further click does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import sparse

from ..concepts.mapping.addresses import address_keys
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.tokens import tokenize
from ..core.records import Record
from ..log.query_log import QueryLog, add_sessions, is_click

_LOCATION, _PERSON = "n#00027167", "n#00007846"
_HEAD = 10
_PAIR_USERS = 1_000  # pairs are counted among the first so many users


@dataclass(frozen=True, repr=False)
class LogFigures(Record):
    """Figures of a log. Fractions are of events, distinct queries, sessions or pairs of users."""

    shown = ("users", "lines", "addresses", "most_frequent", "repeats", "single_user_queries")

    users: int
    lines: int
    addresses: float  # of events: the query is an address
    most_frequent: float  # of events: one of the ten most frequent queries
    repeats: float | None  # of clicked events: the user clicked for the same query before
    locations: float | None  # of the concepts of distinct queries
    persons: float | None
    words_per_query: float  # distinct words per distinct query
    pairs_with_common_query: float  # of pairs of users
    one_event_sessions: float
    phrases_per_query: float | None  # of distinct queries
    median_lines: float  # per user
    longest_query: int  # in characters
    single_user_queries: float  # of distinct queries: one user sent them
    clicks_per_event: float
    rank_1: float | None  # of clicks


def measure_log(log: QueryLog, mapper: Mapper | None = None) -> LogFigures:
    """Return the figures of a log; those of concepts only with a mapper.

    Queries that are only a dash are left out: AOL put them where a query was removed.

    >>> from queryveil.synthetic import make_log
    >>> measure_log(make_log(20, shape="classic")).users
    20
    """
    texts = pl.col("user", "query").cast(pl.String)
    rows = log.local_frame.with_columns(texts).filter(pl.col("query") != "-").collect()
    event = ["user", "query", "time"]
    events = add_sessions(rows.unique(event, maintain_order=True).lazy()).collect()
    pairs = events.select("user", "query").unique(maintain_order=True)
    queries = pairs["query"].unique(maintain_order=True)
    clicks = rows.filter(is_click())
    locations, persons, phrases = _measure_concepts(queries, mapper)
    return LogFigures(
        users=rows["user"].n_unique(),
        lines=rows.height,
        addresses=_fraction(events["query"].is_in(_find_addresses(queries).implode())),
        most_frequent=_head_fraction(events["query"]),
        repeats=_measure_repeats(clicks.unique(event, maintain_order=True)),
        locations=locations,
        persons=persons,
        words_per_query=tokenize(queries).explode().drop_nulls().n_unique() / len(queries),
        pairs_with_common_query=_measure_pairs(pairs),
        one_event_sessions=_fraction(events.group_by("session").len()["len"] == 1),
        phrases_per_query=phrases,
        median_lines=float(np.median(rows.group_by("user").len()["len"].to_numpy())),
        longest_query=int(queries.str.len_chars().to_numpy().max()),
        single_user_queries=_fraction(pairs.group_by("query").len()["len"] == 1),
        clicks_per_event=clicks.height / events.height,
        rank_1=_fraction(clicks["rank"].drop_nulls() == 1) if clicks.height else None,
    )


def _fraction(mask: pl.Series) -> float:
    return float(mask.to_numpy().mean())


def _find_addresses(queries: pl.Series) -> pl.Series:
    return queries.filter(address_keys(queries)["address"])


def _head_fraction(queries: pl.Series) -> float:
    counts = queries.value_counts(sort=True)["count"]
    return float(counts.head(_HEAD).sum() / len(queries))


def _measure_repeats(events: pl.DataFrame) -> float | None:
    if not events.height:
        return None
    first = events.select(pl.struct("user", "query").is_first_distinct()).to_series()
    return _fraction(~first)


def _measure_pairs(pairs: pl.DataFrame) -> float:
    """Return the fraction of pairs of users who have a query in common."""
    users = pairs["user"].unique(maintain_order=True).head(_PAIR_USERS)
    rows = pairs.filter(pl.col("user").is_in(users.implode()))
    user, query = (rows[name].rank("dense").to_numpy() - 1 for name in ("user", "query"))
    matrix = sparse.csr_matrix((np.ones(len(user), np.int32), (user, query)))
    common = (matrix @ matrix.T).nnz - len(users)
    return float(common / max(1, len(users) * (len(users) - 1)))


def _measure_concepts(
    queries: pl.Series, mapper: Mapper | None
) -> tuple[float | None, float | None, float | None]:
    """Return the fractions of locations and persons among concepts, and phrases per query."""
    if mapper is None:
        return None, None, None
    mapping, taxonomy = mapper.map(queries), mapper.taxonomy
    concepts = mapping.phrases["concept"].to_numpy()
    known = concepts[concepts >= 0]
    fractions = (
        float(taxonomy.descendant_mask(taxonomy.find(name))[known].mean())
        for name in (_LOCATION, _PERSON)
    )
    locations, persons = fractions
    return locations, persons, mapping.phrases.height / len(queries)
