"""The slots of a log: each user's phrases with a concept, in order, up to a public number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.mapping.result import ConceptMapping
from ...concepts.taxonomy.arrays import IntArray
from ...core.randomness import RandomSource
from ...engine.operations import unique_users
from ...log.query_log import QueryLog

NO_CONCEPT = "no concept of the domain"


@dataclass(frozen=True, eq=False, repr=False)
class BoundedPhrases:
    """The phrases that count.

    `table` stands in the order of users and, for each, of time, with the columns user (a place in
    `users`), slot (from 0), item, phrase (a row of the mapping) and event. `most` has the slots
    that each user may use, `dropped` the rows of the log by what became of them.
    """

    users: pl.Series
    bounds: IntArray
    table: pl.DataFrame
    dropped: dict[str, int]

    def counts(self) -> IntArray:
        """Count the slots of each user."""
        return np.bincount(self.table["user"].to_numpy(), minlength=len(self.users))


def bound_phrases(
    log: QueryLog, found: ConceptMapping, place: IntArray, most: int | pl.DataFrame
) -> BoundedPhrases:
    """Take each user's first phrases that have a place, `most` at most.

    `place` has for every concept of the taxonomy the item it is, or -1 for none. Which phrases
    count is decided by a user's own rows alone. `most` may be a table of user and most.
    """
    users, allowed = _allowed(log, most)
    kind = log.local_frame.collect_schema()["user"]
    numbers = pl.DataFrame({"user": users, "number": np.arange(len(users), dtype=np.int32)})
    sent = log.events().select("user", "query", "lines").collect(engine="streaming")
    sent = sent.join(
        numbers.with_columns(pl.col("user").cast(kind)), on="user", maintain_order="left"
    ).select(
        "query", "lines", user="number", event=pl.int_range(pl.len(), dtype=pl.UInt32)
    )  # fmt: skip
    known = _known(found, place)
    rows = sent.lazy().join(known.lazy(), on="query", maintain_order="left_right")
    rows = rows.select("user", "event", "item", "phrase").with_columns(
        slot=pl.int_range(pl.len(), dtype=pl.Int32).over("user"),
        most=pl.lit(pl.Series(allowed)).gather(pl.col("user")),
    )
    kept = rows.filter(pl.col("slot") < pl.col("most")).drop("most").collect()
    return BoundedPhrases(users, allowed, kept, _counted(sent, known, kept, allowed))


def pad_phrases(slots: BoundedPhrases) -> IntArray:
    """Return the item of each slot that users may use, user after user, or -1 for none."""
    begin = np.concatenate([[0], np.cumsum(slots.bounds)])
    items = np.full(int(begin[-1]), -1, np.int32)
    table = slots.table
    items[begin[table["user"].to_numpy()] + table["slot"].to_numpy()] = table["item"].to_numpy()
    return items


def _allowed(log: QueryLog, most: int | pl.DataFrame) -> tuple[pl.Series, IntArray]:
    """Give all users, and the slots that each may use."""
    if isinstance(most, int):
        users = unique_users(log.local_frame)
        return users, np.full(len(users), most, np.int64)
    return most["user"], most["most"].to_numpy().astype(np.int64)


def _known(found: ConceptMapping, place: IntArray) -> pl.DataFrame:
    """Give the phrases that have a place: query, item, phrase."""
    concepts = found.phrases["concept"].to_numpy()
    items = np.where(concepts >= 0, place[concepts], -1)
    rows = np.flatnonzero(items >= 0)
    return pl.DataFrame(
        {
            "query": found.queries.gather(found.phrases["query"].gather(rows)),
            "item": items[rows].astype(np.int32),
            "phrase": rows.astype(np.uint32),
        }
    )


def _counted(
    sent: pl.DataFrame, known: pl.DataFrame, kept: pl.DataFrame, most: IntArray
) -> dict[str, int]:
    """Tell what became of the rows of the log, by the events they belong to."""
    lines = sent["lines"].to_numpy().astype(np.int64)
    used = np.zeros(len(lines), np.bool_)
    used[kept["event"].unique().to_numpy()] = True
    queries = known.select("query").unique().with_columns(known=pl.lit(True))
    mapped = sent.select("query").join(queries, on="query", how="left", maintain_order="left")
    waits = mapped["known"].fill_null(False).to_numpy() & ~used
    none_left = most[sent["user"].to_numpy()] == 0
    found = {
        "replaced by other queries": used,
        "more than count of one user": waits & ~none_left,
        "nothing is left of the user's budget": waits & none_left,
        NO_CONCEPT: ~used & ~waits,
    }
    return {reason: int(lines[rows].sum()) for reason, rows in found.items() if rows.any()}


@dataclass(frozen=True, repr=False)
class PreviousContributions:
    """Users who were released before, and what each one may still use.

    mapping
        user, pseudonym (texts) and slots (Int64): what she has used in all so far, counting
        runs that were killed and may have been seen
    most
        slots that a user may have used in all after this release; public. In this release alone
        she uses no more than the method's own cap
    """

    mapping: pl.DataFrame
    max_contributions: int

    def updated(self, slots: pl.DataFrame, chance: RandomSource) -> pl.DataFrame:
        """Give the mapping once users have used so many slots more: user, pseudonym, slots.

        Users keep their pseudonyms. Those who are new get one that nobody has.
        """
        more = slots.select(pl.col("user").cast(pl.String), more=pl.col("slots").cast(pl.Int64))
        known = self.mapping.join(more, on="user", how="left", maintain_order="left").select(
            "user", "pseudonym", pl.col("slots") + pl.col("more").fill_null(0)
        )
        new = more.join(self.mapping, on="user", how="anti").sort("user")
        names = self._new_names(new.height, chance)
        return pl.concat([known, new.select("user", names, slots="more")])

    def _new_names(self, size: int, chance: RandomSource) -> pl.Series:
        taken = self.mapping["pseudonym"].implode()
        while True:
            names = pl.Series("pseudonym", chance.tokens(size)).cast(pl.String)
            if not names.is_in(taken).any():  # as good as always: names have 48 bits or more
                return names
