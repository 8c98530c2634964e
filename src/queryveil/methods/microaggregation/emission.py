"""Prototypes as rows of a log: a text each, with a click and a coarse time.

Clicks are drawn from all lines with the same query, times from the lines of the group, once for
all its members. A day, a URL or a rank that fewer than `min_users` users had is never drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...concepts.mapping.mapper import Mapper
from ...concepts.mapping.result import ConceptMapping
from ...concepts.similarity.distance import distance_table
from ...concepts.taxonomy.arrays import BoolArray, IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import count_users_by_key, filter_keys, match_encoding, unique_queries
from ...errors import InputError
from ...log.identifiers import kinds_of
from ...log.query_log import QueryLog
from ..publication import coarsen_time
from .contributions import NOBODY, allowance
from .prototypes import PrototypeItems

_PAIR = ["query", "url"]


def sample_times(
    lines: pl.DataFrame,
    group: IntArray,
    step: str,
    min_users: int,
    share: float,
    chance: RandomSource,
) -> tuple[pl.Series, BoolArray]:
    """Draw a time for each row of the prototypes; mark the rows that get none of those there are.

    `lines` has a row for each line of the log: its user's number and group, and its time. The
    rows of a group take turns among its members, so that all give days alike, and none gives
    more than a share of them.
    """
    table = lines.select("user", "group", time=coarsen_time(step)).drop_nulls("time")
    timed = np.isin(group, table["group"].unique().to_numpy())
    common = count_users_by_key(table.lazy(), ["time"], min_users)
    table = table.join(common, on="time", how="semi").sort("group", "user", "time")
    if not table.height:
        return pl.repeat(None, len(group), dtype=pl.Date, eager=True).alias("time"), timed
    givers = table.group_by("group", "user", maintain_order=True).agg(count=pl.len())
    count = givers["count"].to_numpy().astype(np.int64)
    first = np.cumsum(count) - count
    begin = np.searchsorted(givers["group"].to_numpy(), group)
    members = np.searchsorted(givers["group"].to_numpy(), group, side="right") - begin
    given_before, turn = np.divmod(_random_turns(group, chance), np.maximum(members, 1))
    giver = np.minimum(begin + turn, givers.height - 1)
    drawn = chance.uint64s(len(group)) % count[giver].astype(np.uint64)
    times = table["time"].gather(first[giver] + drawn.astype(np.int64))
    given = (members > 0) & (given_before < allowance(np.bincount(group), share)[group])
    shown = pl.select(pl.when(pl.Series(given)).then(times)).to_series()
    return shown.alias("time"), timed & ~given


def _random_turns(group: IntArray, chance: RandomSource) -> IntArray:
    """Number the rows of each group from 0 on, in random order."""
    order = chance.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    ordered = group[order]
    turn = np.empty(len(group), np.int64)
    turn[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered)
    return turn


def sample_clicks(
    frame: pl.LazyFrame, texts: pl.Series, min_users: int, chance: RandomSource
) -> pl.DataFrame:
    """Draw rank and URL for each text, from all lines with that query; often there is none.

    A URL needs so many users who clicked it for the query, a rank so many who clicked it there.
    `click` tells whether the line that was drawn has a URL, and `ranked` a rank beside it.
    """
    wanted = match_encoding(frame, texts.unique().to_frame("query"), "query")
    lines = _marked(filter_keys(frame, wanted, ["query"]), min_users)
    table = lines.sort("query", "rank", "url", "click", "ranked").collect(engine="streaming")
    if not table.height:  # no text is a whole query: phrases need not be
        table = table.clear(1)
    spans = (
        table.with_row_index("first").group_by("query").agg(pl.col("first").min(), count=pl.len())
    )
    asked = texts.to_frame("query").join(spans, on="query", how="left", maintain_order="left")
    count = asked["count"].fill_null(0).to_numpy()
    drawn = chance.uint64s(len(texts)) % np.maximum(count, 1).astype(np.uint64)
    place = pl.Series(asked["first"].cast(pl.Int64) + pl.Series(drawn.astype(np.int64)))
    found = table.drop("query")[place.fill_null(0)]
    is_known = pl.Series(count > 0)
    return found.with_columns(pl.when(is_known).then(pl.all()))


def _marked(frame: pl.LazyFrame, min_users: int) -> pl.LazyFrame:
    """Give each line's click as far as enough users made it, and what it had."""
    lines = frame.select("user", "query", "rank", "url")
    for mark, keys in (("url_known", _PAIR), ("rank_known", [*_PAIR, "rank"])):
        known = count_users_by_key(frame, keys, min_users).lazy()
        known = known.select(*keys, pl.lit(True).alias(mark))
        lines = lines.join(known, on=keys, how="left")
    return lines.select(
        pl.col("query").cast(pl.String),
        pl.when("rank_known").then("rank").alias("rank"),
        pl.when("url_known").then(pl.col("url").cast(pl.String)).alias("url"),
        click=pl.col("url").is_not_null(),
        ranked=pl.col("url").is_not_null() & pl.col("rank").is_not_null(),
    )


def copy_to_members(prototypes: pl.DataFrame, users: pl.DataFrame) -> pl.DataFrame:
    """Give every user the rows of her group's prototype."""
    # In a fixed order: what follows is shuffled, and a seed must give the same again.
    return users.join(prototypes, on="group", maintain_order="left_right")


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


def substitute_rare_queries(
    texts: pl.DataFrame,
    members: pl.DataFrame,
    log: QueryLog,
    taxonomy: str,
    min_users: int,
    chance: RandomSource,
    progress: Progress,
) -> pl.DataFrame:
    """Give prototypes (group, user, query) in which every query was sent by enough users.

    `texts` has group, query and user (her place in `members`, which is sorted by name). In place
    of a rare query stands a frequent one of its first concept, else of the nearest concept; a
    rare query without any is left out. A group that has nothing left gets the most frequent
    query of all, which counts for nobody.
    """
    common = count_users_by_key(log.local_frame, ["query"], min_users)
    common = common.select(pl.col("query").cast(pl.String), "users")
    if not common.height:
        raise InputError(
            "no query was sent by enough users, so nothing could be released",
            hint="take more of the log, or a smaller --k (--min-users follows it)",
        )
    kept = texts.join(common, on="query", how="semi", maintain_order="left")
    rare = texts.join(common, on="query", how="anti", maintain_order="left")
    if rare.height:
        found = Mapper(open_taxonomy(taxonomy)).map(unique_queries(log.local_frame), progress)
        kept = pl.concat([kept, _replaced(rare, members, log, found, min_users, chance)])
    most = common.sort("users", "query", descending=[True, False])["query"][0]
    empty = members.select("group").unique().join(kept, on="group", how="anti").sort("group")
    made = empty.select("group", user=pl.lit(NOBODY, pl.Int64), query=pl.lit(most))
    return pl.concat([kept.select("group", "user", "query"), made])


def _replaced(
    rare: pl.DataFrame,
    members: pl.DataFrame,
    log: QueryLog,
    found: ConceptMapping,
    min_users: int,
    chance: RandomSource,
) -> pl.DataFrame:
    """Draw a frequent query for each rare one that has a concept; leave out the others."""
    pool = build_query_pool(found, user_query_pairs(log, members["user"], found), "full", min_users)
    concept = _first_concepts(found, rare["query"])
    rare = rare.filter(pl.Series(concept >= 0))
    if not len(pool.texts):
        return rare.clear()
    group, user = rare["group"].to_numpy(), rare["user"].to_numpy()
    items = PrototypeItems(group, concept[concept >= 0], user, np.zeros(0, np.int64))
    return rare.with_columns(
        query=pool.names.gather(sample_queries(items, pool, found.taxonomy, chance))
    )


def _first_concepts(found: ConceptMapping, queries: pl.Series) -> IntArray:
    """Give the concept of the first phrase of each query that has one, or -1."""
    first = found.phrases.filter(pl.col("concept") >= 0).unique(
        "query", keep="first", maintain_order=True
    )
    names = found.queries.cast(pl.String).gather(first["query"].to_numpy())
    known = pl.DataFrame({"query": names, "concept": first["concept"]})
    asked = queries.to_frame("query").join(known, on="query", how="left", maintain_order="left")
    return asked["concept"].fill_null(-1).to_numpy().astype(np.int64)
