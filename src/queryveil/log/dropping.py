"""Drop the rows of a log whose query has something, by a fixed rule on each row alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from ..core.randomness import RandomSource
from ..engine.operations import aggregate, map_partitions
from ..engine.table import RemoteTable
from .accounting import RowAccounting
from .query_log import QueryLog
from .screening import DROPPED, Flags, count_partition, find_last_rows, screen_partition

# Returns the distinct values of a column that have something, and its number as `kind`.
FindTexts = Callable[[pl.LazyFrame, str], pl.DataFrame]
_OUTCOMES = (
    "query {}",
    "query {}",  # nothing is masked
    "click blanked, as the URL {}",
    "emptied so that the user stays, as the query {}",
)


def drop_rows(
    log: QueryLog, find: FindTexts, phrase: str, kinds: Sequence[str], *, users_stay: bool
) -> QueryLog:
    """Return the log without rows whose query has something; its accounting counts them.

    A clicked URL that has it is blanked with its rank. With `users_stay` no user disappears: a
    user whose rows would all be dropped keeps the first one, blanked.

    Args:
        log: The log.
        find: Decides by each text alone.
        phrase: Why a row is dropped, after "query" or "URL": "is of a sensitive topic".
        kinds: The names of the kinds, which are part of the reason.
        users_stay: Whether each user keeps at least one row.
    """
    flag = partial(_flag, find=find, users_stay=users_stay)
    rows: pl.LazyFrame | RemoteTable
    if isinstance(log.table, RemoteTable):
        counts = aggregate(log.table, partial(count_partition, flag=flag), ["fate", "kind"])
        rows = map_partitions(log.table, partial(screen_partition, flag=flag), RandomSource())
    else:
        flags = flag(log.local_frame)
        counts, rows = flags.count(log.local_frame), flags.apply(log.local_frame)
    accounting = _add_outcomes(log.accounting, counts, phrase, kinds)
    return replace(log, table=rows, accounting=accounting)


def _flag(frame: pl.LazyFrame, find: FindTexts, users_stay: bool) -> Flags:
    queries = find(frame, "query")
    queries = queries.with_columns(masked=pl.lit(None, queries.schema["query"]))
    last = find_last_rows(frame, queries if users_stay else queries.clear())
    return Flags(queries, find(frame, "url"), last)


def _add_outcomes(
    before: RowAccounting, counts: pl.DataFrame, phrase: str, kinds: Sequence[str]
) -> RowAccounting:
    accounting = replace(before, dropped=dict(before.dropped), normalized=dict(before.normalized))
    for outcome, kind, rows in counts.sort("kind", "fate").rows():
        count = accounting.drop if outcome == DROPPED else accounting.change
        count({f"{_OUTCOMES[outcome].format(phrase)}: {kinds[kind]}": rows})
    return accounting
