"""The slots of a log: each user's phrases with a concept, in order, up to a public bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.mapping.result import ConceptMapping
from ...concepts.taxonomy.arrays import IntArray
from ...engine.operations import unique_users
from ...log.query_log import QueryLog

NO_CONCEPT = "no concept of the domain"


@dataclass(frozen=True, eq=False, repr=False)
class BoundedPhrases:
    """The phrases within the contribution bound.

    Attributes:
        bounds: The number of slots of each user.
        table: Sorted by user and time, with the columns user (an index of `users`), slot (from
            0), item, phrase (a row of the concept mapping) and event.
        dropped: The number of rows of the log by reason.
    """

    users: pl.Series
    bounds: IntArray
    table: pl.DataFrame
    dropped: dict[str, int]

    def counts(self) -> IntArray:
        """Count the slots of each user."""
        return np.bincount(self.table["user"].to_numpy(), minlength=len(self.users))


def bound_phrases(
    log: QueryLog, concept_mapping: ConceptMapping, item_of: IntArray, bound: int | pl.DataFrame
) -> BoundedPhrases:
    """Return each user's first phrases that have an item, within the bound.

    Which phrases of a user are kept is decided by their own rows alone.

    Args:
        item_of: The item of every concept of the taxonomy, or -1 for none.
        bound: The bound of all users, or a table with the columns `user` and `bound`.
    """
    users, bounds = _user_bounds(log, bound)
    user_type = log.local_frame.collect_schema()["user"]
    numbers = pl.DataFrame({"user": users, "number": np.arange(len(users), dtype=np.int32)})
    sent = log.events().select("user", "query", "lines").collect(engine="streaming")
    sent = sent.join(
        numbers.with_columns(pl.col("user").cast(user_type)), on="user", maintain_order="left"
    ).select(
        "query", "lines", user="number", event=pl.int_range(pl.len(), dtype=pl.UInt32)
    )  # fmt: skip
    known = _phrases_with_item(concept_mapping, item_of)
    rows = sent.lazy().join(known.lazy(), on="query", maintain_order="left_right")
    rows = rows.select("user", "event", "item", "phrase").with_columns(
        slot=pl.int_range(pl.len(), dtype=pl.Int32).over("user"),
        bound=pl.lit(pl.Series(bounds)).gather(pl.col("user")),
    )
    kept = rows.filter(pl.col("slot") < pl.col("bound")).drop("bound").collect()
    return BoundedPhrases(users, bounds, kept, _count_dropped(sent, known, kept, bounds))


def pad_phrases(slots: BoundedPhrases) -> IntArray:
    """Return the items of all slots, sorted by user, with -1 for empty slots."""
    begin = np.concatenate([[0], np.cumsum(slots.bounds)])
    items = np.full(int(begin[-1]), -1, np.int32)
    table = slots.table
    items[begin[table["user"].to_numpy()] + table["slot"].to_numpy()] = table["item"].to_numpy()
    return items


def _user_bounds(log: QueryLog, bound: int | pl.DataFrame) -> tuple[pl.Series, IntArray]:
    """Return all users, and the number of slots of each."""
    if isinstance(bound, int):
        users = unique_users(log.local_frame)
        return users, np.full(len(users), bound, np.int64)
    return bound["user"], bound["bound"].to_numpy().astype(np.int64)


def _phrases_with_item(concept_mapping: ConceptMapping, item_of: IntArray) -> pl.DataFrame:
    """Return the phrases that have an item: query, item, phrase."""
    phrases = concept_mapping.phrases
    concepts = phrases["concept"].to_numpy()
    items = np.where(concepts >= 0, item_of[concepts], -1)
    rows = np.flatnonzero(items >= 0)
    return pl.DataFrame(
        {
            "query": concept_mapping.queries.gather(phrases["query"].gather(rows)),
            "item": items[rows].astype(np.int32),
            "phrase": rows.astype(np.uint32),
        }
    )


def _count_dropped(
    sent: pl.DataFrame, known: pl.DataFrame, kept: pl.DataFrame, bounds: IntArray
) -> dict[str, int]:
    """Count the rows of the log by the reason why they are not released."""
    rows = sent["lines"].to_numpy().astype(np.int64)
    used = np.zeros(len(rows), np.bool_)
    used[kept["event"].unique().to_numpy()] = True
    queries = known.select("query").unique().with_columns(known=pl.lit(True))
    mapped = sent.select("query").join(queries, on="query", how="left", maintain_order="left")
    unused = mapped["known"].fill_null(False).to_numpy() & ~used
    no_slots = bounds[sent["user"].to_numpy()] == 0
    reasons = {
        "replaced by other queries": used,
        "more than count of one user": unused & ~no_slots,
        "nothing is left of the user's budget": unused & no_slots,
        NO_CONCEPT: ~used & ~unused,
    }
    return {reason: int(rows[mask].sum()) for reason, mask in reasons.items() if mask.any()}
