"""Prototypes as rows of a log: a text each, with a click and a coarse time.

Clicks are drawn from all lines with the same query, times from the lines of the group, once for
all its members. A day, a URL or a rank that fewer than `min_users` users had is never drawn.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.taxonomy.arrays import BoolArray, IntArray
from ...core.randomness import RandomSource
from ...engine.operations import count_users_by_key, filter_keys, match_encoding
from ..times import coarsen_time
from .contributions import allowance

__all__ = ["copy_to_members", "sample_clicks", "sample_times"]

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
