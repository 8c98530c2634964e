"""Which real texts may stand for a concept, and a random one for each item of a prototype."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.likeness.tables import distance_table
from ...concepts.mapping.result import ConceptMapping
from ...concepts.taxonomy.arrays import BoolArray, IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.randomness import RandomSource
from ...errors import InputError
from ...log.identifiers import kinds_of
from ...log.query_log import QueryLog
from .prototypes import PrototypeItems

__all__ = ["QueryPool", "build_query_pool", "sample_queries", "user_query_pairs"]

_TRIES = 4  # to find a text that the giver of an item did not send herself
_CELLS = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class QueryPool:
    """Texts that may be emitted, by concept: those of c are `texts[start[c]:start[c + 1]]`.

    `names` are the texts themselves. `sent` are the pairs of user and text as sorted numbers
    (user times the number of texts, plus text): what each user sent herself.
    """

    start: IntArray
    texts: IntArray
    names: pl.Series
    sent: IntArray

    def known(self) -> IntArray:
        """Give the concepts that have a text."""
        return np.flatnonzero(np.diff(self.start))


def build_query_pool(
    found: ConceptMapping, sent: pl.DataFrame, emit: str, min_users: int
) -> QueryPool:
    """List the texts that enough users sent, by concept.

    `sent` has a row for each user (a number) and query (a number of the mapping) that she
    sent. With `emit` phrase a text is a phrase, with full the whole query.
    """
    phrases = (
        found.phrase_texts()
        if emit == "phrase"
        else found.phrases.with_columns(
            phrase=found.queries.cast(pl.String).gather(found.phrases["query"].to_numpy())
        )
    )
    rows = phrases.select(
        "concept", text="phrase", number=found.phrases["query"].cast(pl.UInt32)
    ).filter(pl.col("concept") >= 0)
    rows = rows.filter(~_seen_late(rows, found.queries))
    rows = rows.with_columns(pl.col("text").cast(pl.Categorical))
    pairs = sent.lazy().join(rows.lazy(), left_on="query", right_on="number")
    users = pairs.select("user", "text").unique().collect(engine="streaming")
    enough = users.group_by("text").len().filter(pl.col("len") >= min_users)
    kept = rows.select("concept", "text").unique().join(enough, on="text", how="semi")
    names = enough.select("text").with_columns(name=pl.col("text").cast(pl.String)).sort("name")
    names = names.with_row_index("place")
    kept = kept.join(names, on="text").sort("concept", "place")
    key = pl.col("user").cast(pl.Int64) * max(names.height, 1) + pl.col("place")
    own = users.lazy().join(names.lazy().drop("name"), on="text").select(key.sort())
    keys = own.collect(engine="streaming")["user"].to_numpy()
    start = np.searchsorted(kept["concept"].to_numpy(), np.arange(len(found.taxonomy) + 1))
    return QueryPool(start, kept["place"].to_numpy(), names["name"], keys)


def _seen_late(rows: pl.DataFrame, queries: pl.Series) -> pl.Series:
    """Return which phrases look like an identifier, though the queries that they are of do not.

    Nobody draws them: a row that is taken out of a shared log later on would leave the other
    rows' givers with more than their share of it.
    """
    texts = rows.select(pl.col("text").unique())
    bad = texts.filter(kinds_of(texts["text"].cast(pl.String)).is_not_null())["text"]
    late = rows["text"].is_in(bad.implode())
    numbers = rows["number"].filter(late)
    known = kinds_of(queries.cast(pl.String).gather(numbers)).is_not_null()
    return late.scatter(late.arg_true().filter(known), False)


def user_query_pairs(log: QueryLog, users: pl.Series, found: ConceptMapping) -> pl.DataFrame:
    """Give who sent what, by the places of the user in `users` and of the query in `found`."""
    kind = log.local_frame.collect_schema()["user"]
    numbers = pl.DataFrame({"user": users.cast(kind)}).with_row_index("number")
    queries = pl.DataFrame({"query": found.queries}).with_row_index("place")
    pairs = log.local_frame.select("user", "query").unique()
    numbered = pairs.join(numbers.lazy(), on="user").join(queries.lazy(), on="query")
    return numbered.select(user="number", query="place").collect(engine="streaming")


def sample_queries(
    items: PrototypeItems, pool: QueryPool, taxonomy: Taxonomy, chance: RandomSource
) -> IntArray:
    """Draw a text for each item: of its concept, or else of the nearest that has one."""
    if not len(pool.texts):
        raise InputError(
            "no text was sent by enough users, so nothing could be released",
            hint="take more of the log, or a smaller --k (--min-users follows it)",
        )
    concept = _with_texts(items.concept, pool, taxonomy)
    first, count = pool.start[concept], np.diff(pool.start)[concept]
    text = pool.texts[first + (chance.uint64s(len(items)) % count.astype(np.uint64)).astype(int)]
    for _ in range(_TRIES):
        again = np.flatnonzero(_own(items.user, text, pool) & (count > 1))
        if not len(again):
            break
        numbers = chance.uint64s(len(again)) % count[again].astype(np.uint64)
        text[again] = pool.texts[first[again] + numbers.astype(int)]
    return np.asarray(text)


def _own(user: IntArray, text: IntArray, pool: QueryPool) -> BoolArray:
    """Tell which texts the giver of an item sent herself."""
    keys = user.astype(np.int64) * max(len(pool.names), 1) + text
    place = np.minimum(np.searchsorted(pool.sent, keys), len(pool.sent) - 1)
    return np.asarray(pool.sent[place] == keys)


def _with_texts(concepts: IntArray, pool: QueryPool, taxonomy: Taxonomy) -> IntArray:
    """Replace concepts without a text by the nearest that has one; of equals the lowest."""
    known, wanted = pool.known(), np.unique(concepts)
    missing = wanted[np.diff(pool.start)[wanted] == 0]
    stand_in = np.arange(len(pool.start) - 1)
    step = max(1, _CELLS // max(len(known), 1))
    for begin in range(0, len(missing), step):
        some = missing[begin : begin + step]
        stand_in[some] = known[distance_table(taxonomy, some, known).argmin(axis=1)]
    return np.asarray(stand_in[concepts])
