"""Draw texts for the items of prototypes: real queries or phrases that enough users sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.mapping.result import ConceptMapping
from ...concepts.similarity.distance import distance_table
from ...concepts.taxonomy.arrays import BoolArray, IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import count_users_by_key, unique_queries
from ...errors import InputError
from ...lexicons.sensitive import has_topic
from ...log.identifiers import kinds_of
from ...log.query_log import QueryLog
from .contributions import NOBODY
from .emission import EmissionRules
from .prototypes import PrototypeItems

_TRIES = 4  # to draw a text that the contributor of an item did not send
_CELLS = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class QueryPool:
    """The texts that can be released, by concept: those of c are `texts[start[c]:start[c + 1]]`.

    `names` are the texts themselves. `sent` are the pairs of user and text that each user sent, as
    sorted numbers (user times the number of texts, plus text).
    """

    start: IntArray
    texts: IntArray
    names: pl.Series
    sent: IntArray

    def known(self) -> IntArray:
        """Return the concepts that have a text."""
        return np.flatnonzero(np.diff(self.start))


def build_query_pool(
    concept_mapping: ConceptMapping,
    sent: pl.DataFrame,
    output_unit: str,
    min_users: int,
    dropped_topics: tuple[str, ...] = (),
) -> QueryPool:
    """Return the texts that enough users sent, by concept.

    Args:
        sent: One row per user (a number) and query (a number of the mapping) that they sent.
        output_unit: With "phrase" a text is a phrase, with "query" the complete query.
        dropped_topics: Sensitive topics that no text may have, as no query has them.
    """
    phrases = (
        concept_mapping.phrase_texts()
        if output_unit == "phrase"
        else concept_mapping.phrases.with_columns(
            phrase=concept_mapping.queries.cast(pl.String).gather(
                concept_mapping.phrases["query"].to_numpy()
            )
        )
    )
    rows = phrases.select(
        "concept", text="phrase", number=concept_mapping.phrases["query"].cast(pl.UInt32)
    ).filter(pl.col("concept") >= 0)
    rows = rows.filter(~_is_late_identifier(rows, concept_mapping.queries))
    rows = rows.filter(~has_topic(rows["text"], dropped_topics))
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
    start = np.searchsorted(
        kept["concept"].to_numpy(), np.arange(len(concept_mapping.taxonomy) + 1)
    )
    return QueryPool(start, kept["place"].to_numpy(), names["name"], keys)


def _is_late_identifier(rows: pl.DataFrame, queries: pl.Series) -> pl.Series:
    """Return a mask of phrases that look like an identifier, although their queries do not.

    They are never drawn: if such a row were removed from a shared log later, the contributors of
    the other rows could exceed their allowance.
    """
    texts = rows.select(pl.col("text").unique())
    bad = texts.filter(kinds_of(texts["text"].cast(pl.String)).is_not_null())["text"]
    late = rows["text"].is_in(bad.implode())
    numbers = rows["number"].filter(late)
    known = kinds_of(queries.cast(pl.String).gather(numbers)).is_not_null()
    return late.scatter(late.arg_true().filter(known), False)


def user_query_pairs(
    log: QueryLog, users: pl.Series, concept_mapping: ConceptMapping
) -> pl.DataFrame:
    """Return who sent what and how often: user, query (numbers of the mapping), count, sorted."""
    user_type = log.local_frame.collect_schema()["user"]
    numbers = pl.DataFrame({"user": users.cast(user_type)}).with_row_index("number")
    queries = pl.DataFrame({"query": concept_mapping.queries}).with_row_index("index")
    pairs = log.local_frame.group_by("user", "query").agg(count=pl.len())
    numbered = pairs.join(numbers.lazy(), on="user").join(queries.lazy(), on="query")
    sent = numbered.select("count", user="number", query="index").collect(engine="streaming")
    return sent.sort("user", "query")


def sample_queries(
    items: PrototypeItems, pool: QueryPool, taxonomy: Taxonomy, rng: RandomSource
) -> IntArray:
    """Draw a text for each item: of its concept, or of the nearest concept that has one."""
    if not len(pool.texts):
        raise InputError(
            "no text was sent by enough users, so nothing could be released",
            hint="use more of the log, or a smaller `k` (the default of `min_users`)",
        )
    concept = _nearest_with_texts(items.concept, pool, taxonomy)
    first, count = pool.start[concept], np.diff(pool.start)[concept]
    text = pool.texts[first + (rng.uint64s(len(items)) % count.astype(np.uint64)).astype(int)]
    for _ in range(_TRIES):
        again = np.flatnonzero(_is_own(items.user, text, pool) & (count > 1))
        if not len(again):
            break
        numbers = rng.uint64s(len(again)) % count[again].astype(np.uint64)
        text[again] = pool.texts[first[again] + numbers.astype(int)]
    return np.asarray(text)


def _is_own(user: IntArray, text: IntArray, pool: QueryPool) -> BoolArray:
    """Return a mask of the texts that the contributor of the item sent themselves."""
    keys = user.astype(np.int64) * max(len(pool.names), 1) + text
    index = np.minimum(np.searchsorted(pool.sent, keys), len(pool.sent) - 1)
    return np.asarray(pool.sent[index] == keys)


def _nearest_with_texts(concepts: IntArray, pool: QueryPool, taxonomy: Taxonomy) -> IntArray:
    """Replace concepts without a text by the nearest that has one; ties go to the lowest."""
    known, wanted = pool.known(), np.unique(concepts)
    missing = wanted[np.diff(pool.start)[wanted] == 0]
    stand_in = np.arange(len(pool.start) - 1)
    step = max(1, _CELLS // max(len(known), 1))
    for begin in range(0, len(missing), step):
        batch = missing[begin : begin + step]
        stand_in[batch] = known[distance_table(taxonomy, batch, known).argmin(axis=1)]
    return np.asarray(stand_in[concepts])


def substitute_rare_queries(
    texts: pl.DataFrame,
    members: pl.DataFrame,
    log: QueryLog,
    rules: EmissionRules,
    rng: RandomSource,
    progress: Progress,
) -> pl.DataFrame:
    """Return prototypes (group, user, query) in which every query was sent by enough users.

    A rare query is replaced by a frequent one of its first concept, else of the nearest concept; a
    rare query without a concept is dropped. A group without any query gets the most frequent
    query of all, with the contributor `NOBODY`.

    Args:
        texts: group, query and user (a row of `members`, which is sorted by name).
    """
    if rules.min_users == 1:
        return texts.select("group", "user", "query")
    common = count_users_by_key(log.local_frame, ["query"], rules.min_users)
    common = common.select(pl.col("query").cast(pl.String), "users")
    if not common.height:
        raise InputError(
            "no query was sent by enough users, so nothing could be released",
            hint="use more of the log, or a smaller `k` (the default of `min_users`)",
        )
    kept = texts.join(common, on="query", how="semi", maintain_order="left")
    rare = texts.join(common, on="query", how="anti", maintain_order="left")
    if rare.height:
        concept_mapping = rules.mapping.mapper().map(unique_queries(log.local_frame), progress)
        replaced = _replace_rare(rare, members, log, concept_mapping, rules.min_users, rng)
        kept = pl.concat([kept, replaced])
    top_query = common.sort("users", "query", descending=[True, False])["query"][0]
    empty = members.select("group").unique().join(kept, on="group", how="anti").sort("group")
    added = empty.select("group", user=pl.lit(NOBODY, pl.Int64), query=pl.lit(top_query))
    return pl.concat([kept.select("group", "user", "query"), added])


def _replace_rare(
    rare: pl.DataFrame,
    members: pl.DataFrame,
    log: QueryLog,
    concept_mapping: ConceptMapping,
    min_users: int,
    rng: RandomSource,
) -> pl.DataFrame:
    """Draw a frequent query for each rare one that has a concept; drop the others."""
    pool = build_query_pool(
        concept_mapping,
        user_query_pairs(log, members["user"], concept_mapping),
        "query",
        min_users,
        log.dropped_topics,
    )
    concept = _first_concepts(concept_mapping, rare["query"])
    rare = rare.filter(pl.Series(concept >= 0))
    if not len(pool.texts):
        return rare.clear()
    group, user = rare["group"].to_numpy(), rare["user"].to_numpy()
    items = PrototypeItems(group, concept[concept >= 0], user, np.zeros(0, np.int64))
    return rare.with_columns(
        query=pool.names.gather(sample_queries(items, pool, concept_mapping.taxonomy, rng))
    )


def _first_concepts(concept_mapping: ConceptMapping, queries: pl.Series) -> IntArray:
    """Return the concept of the first phrase with a concept of each query, or -1."""
    first = concept_mapping.phrases.filter(pl.col("concept") >= 0).unique(
        "query", keep="first", maintain_order=True
    )
    names = concept_mapping.queries.cast(pl.String).gather(first["query"].to_numpy())
    known = pl.DataFrame({"query": names, "concept": first["concept"]})
    joined = queries.to_frame("query").join(known, on="query", how="left", maintain_order="left")
    return joined["concept"].fill_null(-1).to_numpy().astype(np.int64)
