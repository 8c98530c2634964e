"""What stands in for a query that too few users sent: a frequent one of the same meaning.

For the methods whose prototypes are made of the users' own queries.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...concepts.mapping.mapper import Mapper
from ...concepts.mapping.result import ConceptMapping
from ...concepts.taxonomy.arrays import IntArray
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import count_users_by_key, unique_queries
from ...errors import InputError
from ...log.query_log import QueryLog
from .contributions import NOBODY
from .prototypes import PrototypeItems
from .texts import build_query_pool, sample_queries, user_query_pairs

__all__ = ["substitute_rare_queries"]


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
