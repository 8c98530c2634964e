"""Drop the rows of sensitive topics from a log, by a fixed rule on each row alone.

As in `screening`, the outcome of a row depends on its own text and on public lists: neighboring
logs stay neighbors, and the guarantee of a method holds as if the log had had no such rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import polars as pl

from ..engine.operations import values_of
from ..errors import UsageError, did_you_mean
from ..lexicons.sensitive import topic_bits
from ..lexicons.sensitive_terms import TOPICS
from .dropping import drop_rows
from .query_log import QueryLog


def topics_to_drop(setting: str) -> tuple[str, ...]:
    """Return the topics that a setting drops, in the order of `TOPICS`.

    >>> topics_to_drop("keep"), topics_to_drop("drop:crime,health")
    ((), ('health', 'crime'))

    Raises:
        UsageError: The setting is none of `keep`, `drop` and `drop:TOPIC,...`.
    """
    word, has_list, listed = setting.partition(":")
    if setting == "keep":
        return ()
    if word != "drop" or (has_list and not listed.strip()):
        raise UsageError(
            f'sensitive must be keep, drop or drop:TOPIC,..., got "{setting}"',
            hint=f"the topics are {', '.join(TOPICS)}",
        )
    named = [name.strip() for name in listed.split(",")] if has_list else list(TOPICS)
    for name in named:
        if name not in TOPICS:
            raise UsageError(f'"{name}" is no sensitive topic', hint=did_you_mean(name, TOPICS))
    return tuple(topic for topic in TOPICS if topic in named)


def normalize_sensitive(setting: str) -> str:
    """Return a setting as cards write it; raise a `UsageError` if there is no such setting.

    >>> normalize_sensitive("drop: crime, health"), normalize_sensitive("keep")
    ('drop:health,crime', 'keep')
    """
    topics = topics_to_drop(setting)
    if len(topics) == len(TOPICS):
        return "drop"
    return f"drop:{','.join(topics)}" if topics else "keep"


def drop_topics(log: QueryLog, setting: str, *, users_stay: bool = False) -> QueryLog:
    """Return the log without rows of sensitive topics; its accounting counts them.

    A row is dropped for its query. A clicked URL of a sensitive topic is blanked with its rank.
    With `users_stay` no user disappears: a user whose rows would all be dropped keeps the first
    one, blanked.
    """
    topics = topics_to_drop(setting)
    if not topics:
        return log
    find = partial(texts_of_topics, topics=topics)
    rest = drop_rows(log, find, "is of a sensitive topic", TOPICS, users_stay=users_stay)
    return replace(rest, dropped_topics=topics)


def texts_of_topics(table: pl.LazyFrame, column: str, topics: tuple[str, ...]) -> pl.DataFrame:
    """Return the distinct values of a column that have one of the topics, and the first of these.

    The column `kind` has the number of the topic in `TOPICS`. Each value is tested once.
    """
    values = values_of(table, column)
    bits = topic_bits(values[column].cast(pl.String))
    wanted = [(number, 1 << number) for number, name in enumerate(TOPICS) if name in topics]
    first = pl.coalesce(
        pl.when(pl.col("bits") & bit != 0).then(pl.lit(number, pl.Int64)) for number, bit in wanted
    )
    with_kinds = values.with_columns(bits=bits).with_columns(kind=first)
    return with_kinds.drop("bits").drop_nulls("kind")
