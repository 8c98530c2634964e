"""Emit prototypes as rows of a log: a text each, with a click and a coarse time.

The clicks of a query are apportioned over all its released rows, times are drawn from the rows of
the group, once for all its members. A day, a URL or a rank that fewer than `min_users` users had
is never released.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from ...concepts.mapping.options import MappingOptions
from ...concepts.taxonomy.arrays import BoolArray, IntArray
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import count_users_by_key, filter_keys, match_encoding, shuffle_rows
from ...errors import InputError
from ...log.query_log import QueryLog
from ...release.formats import KIND, QUERY
from ..base import MethodOutput
from ..publication import coarsen_time, pseudonymize
from .apportionment import spread_evenly, systematic_rounding
from .contributions import allowance, check_contributions, within_bound
from .senders import sole_senders

_PAIR = ["query", "url"]
_SHORT = "row not made: beyond a member's share of the log of the group"


@dataclass(frozen=True)
class EmissionRules:
    """What texts, times and clicks need to be released.

    Attributes:
        mapping: The concepts by which a frequent text replaces a rare one.
        min_users: The minimal number of users of a text, a click and a time.
        max_fraction: The maximal fraction of a group's log from one member.
        time_precision: The resolution of released times; "none" for no times.
        include_clicks: Whether clicks are released.
    """

    mapping: MappingOptions
    min_users: int
    max_fraction: float
    time_precision: str
    include_clicks: bool


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Groups, and the texts that their members share.

    Attributes:
        members: user and group, sorted by user name.
        texts: group, query, and the user who contributed it: a row of `members`, or `NOBODY`. It
            may have the kind of each row: `QUERY` or `PART`.
        short: The rows that each group's log lacks because of the contribution bound.
    """

    members: pl.DataFrame = field(repr=False)
    texts: pl.DataFrame = field(repr=False)
    short: IntArray = field(repr=False)

    def bounded(self, share: float) -> Prototypes:
        """Return prototypes without the rows beyond the bound of their contributors."""
        group = self.members["group"].to_numpy()
        texts = within_bound(self.texts, group, share)
        check_contributions(texts, share)
        before, after = (np.bincount(rows["group"].to_numpy()) for rows in (self.texts, texts))
        return Prototypes(self.members, texts, self.short + before - after)


def emit_logs(
    log: QueryLog,
    prototypes: Prototypes,
    rules: EmissionRules,
    rng: RandomSource,
    progress: Progress,
) -> MethodOutput:
    """Return one log per group for all its members: with times and clicks, shuffled, renamed."""
    members = prototypes.members
    with progress.stage("bound contributions"):
        prototypes = prototypes.bounded(rules.max_fraction)
        if rules.max_fraction < 1:
            sender = sole_senders(prototypes.texts, members, log.local_frame)
            texts = prototypes.texts.with_columns(user=pl.Series(sender))
            prototypes = replace(prototypes, texts=texts).bounded(rules.max_fraction)
    short = int((prototypes.short * np.bincount(members["group"].to_numpy())).sum())
    with progress.stage("fill the prototypes"):
        filled, blanked = _add_times_and_clicks(log, prototypes, rules, rng)
        # Categorical: all members get these texts, and each text is stored once.
        filled = filled.with_columns(pl.col("query", "url").cast(pl.Categorical))
    with progress.stage("rename and shuffle"):
        rows = shuffle_rows(copy_to_members(filled, members).lazy(), rng).collect()
        public, mapping = pseudonymize(rows, "user", rng)
        mapping = mapping.join(members.with_columns(pl.col("user").cast(pl.String)), on="user")
    kind = [KIND] if KIND in public.columns else []
    return MethodOutput(
        log=public.lazy().select("user", "query", "time", "rank", "url", *kind),
        mapping=mapping,
        dropped={"replaced by the log of the group": log.accounting.kept},
        generated=_count_generated(public),
        blanked=blanked | ({_SHORT: short} if short else {}),
    )


def _count_generated(rows: pl.DataFrame) -> dict[str, int]:
    """Count the rows of the groups' logs, by kind if they have kinds."""
    if KIND not in rows.columns:
        return {"rows of the groups' logs": rows.height}
    queries = int((rows[KIND] == QUERY).sum())
    return {
        "whole queries in the groups' logs": queries,
        "parts of queries in the groups' logs": rows.height - queries,
    }


def _add_times_and_clicks(
    log: QueryLog, prototypes: Prototypes, rules: EmissionRules, rng: RandomSource
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Draw a time and a click for each text of the prototypes; count the blanked cells."""
    members, texts = prototypes.members, prototypes.texts
    few = f"fewer than {rules.min_users} users"
    if texts["group"].n_unique() < members["group"].n_unique():
        raise InputError("a group has an empty log", hint="this is a bug: please report it")
    numbers = members.with_row_index("number").lazy()
    grouped = log.local_frame.join(numbers, on="user", maintain_order="left")
    rows = grouped.select("group", "time", user="number").collect()
    group = texts["group"].to_numpy()
    times, dayless = sample_times(
        rows, group, rules.time_precision, rules.min_users, rules.max_fraction, rng
    )
    filled = texts.drop("user").with_columns(times)
    copies = np.bincount(members["group"].to_numpy())[group]  # released rows of each text
    reason = f"{rules.time_precision} of {few}, or beyond a member's share"
    blanked = {reason: int(copies[dayless].sum())}
    if rules.include_clicks:
        clicks = apportion_clicks(log.local_frame, texts, rules.min_users, rng)
        filled = filled.with_columns(clicks["rank"], clicks["url"])
        for noun, flag, name in (("click", "click", "url"), ("rank", "ranked", "rank")):
            missing = clicks.select(pl.col(flag).fill_null(False) & pl.col(name).is_null())
            blanked[f"{noun} of {few}"] = int(copies[missing.to_series().to_numpy()].sum())
    else:
        filled = filled.with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
    return filled, {reason: count for reason, count in blanked.items() if count}


def sample_times(
    rows: pl.DataFrame,
    group: IntArray,
    step: str,
    min_users: int,
    share: float,
    rng: RandomSource,
) -> tuple[pl.Series, BoolArray]:
    """Draw a time for each row of the prototypes; flag rows of groups with times that get none.

    The rows of a group take turns among its members, so that all contribute equally many times,
    and none contributes more than a fraction `share` of them.

    Args:
        rows: The user number, group and time of each row of the log.
        group: The group of each row of the prototypes.
    """
    table = rows.select("user", "group", time=coarsen_time(step)).drop_nulls("time")
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
    rounds_before, turn = np.divmod(_random_turns(group, rng), np.maximum(members, 1))
    giver = np.minimum(begin + turn, givers.height - 1)
    drawn = rng.uint64s(len(group)) % count[giver].astype(np.uint64)
    times = table["time"].gather(first[giver] + drawn.astype(np.int64))
    has_time = (members > 0) & (rounds_before < allowance(np.bincount(group), share)[group])
    released = pl.select(pl.when(pl.Series(has_time)).then(times)).to_series()
    return released.alias("time"), timed & ~has_time


def _random_turns(group: IntArray, rng: RandomSource) -> IntArray:
    """Assign numbers from 0 to the rows of each group, in random order."""
    order = rng.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    ordered = group[order]
    turn = np.empty(len(group), np.int64)
    turn[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered)
    return turn


def apportion_clicks(
    frame: pl.LazyFrame, texts: pl.DataFrame, min_users: int, rng: RandomSource
) -> pl.DataFrame:
    """Return rank and URL for each text: the clicks of its query, in their proportions.

    A URL needs `min_users` users who clicked it for the query, a rank as many who clicked it there.
    Parts of queries get no clicks. The column `click` flags rows with a URL in the log, and
    `ranked` those with a rank too.
    """
    slots = texts.with_row_index("slot").with_columns(pl.col("query").cast(pl.String))
    if KIND in texts.columns:
        slots = slots.filter(pl.col(KIND) == QUERY)
    wanted = match_encoding(frame, slots.select(pl.col("query").unique()), "query")
    rows = _blank_rare_clicks(filter_keys(frame, wanted, ["query"]), min_users)
    keys = ["query", "rank", "url", "click", "ranked"]
    counts = rows.group_by(keys).agg(count=pl.len()).sort(keys).collect(engine="streaming")
    slots = slots.select("slot", "query").join(counts.select("query"), on="query", how="semi")
    totals = slots.group_by("query").len().sort("query")
    counts = counts.join(totals, on="query", how="semi", maintain_order="left")
    segment = counts["query"].rle_id().to_numpy().astype(np.int64)
    portions, size = counts["count"].to_numpy().astype(np.float64), totals["len"].to_numpy()
    copies = systematic_rounding(portions, segment, size.astype(np.int64), rng)
    taken = spread_evenly(copies, segment, rng)
    order = slots[rng.permutation(slots.height)].sort("query", maintain_order=True)["slot"]
    clicks = counts.select("rank", "url", "click", "ranked")[taken].with_columns(slot=order)
    every = pl.int_range(texts.height, dtype=pl.UInt32, eager=True).alias("slot").to_frame()
    return every.join(clicks, on="slot", how="left", maintain_order="left").drop("slot")


def _blank_rare_clicks(frame: pl.LazyFrame, min_users: int) -> pl.LazyFrame:
    """Blank clicks and ranks of too few users; flag the rows that had a click or a rank."""
    rows = frame.select("user", "query", "rank", "url")
    for flag, keys in (("url_known", _PAIR), ("rank_known", [*_PAIR, "rank"])):
        known = count_users_by_key(frame, keys, min_users).lazy()
        known = known.select(*keys, pl.lit(True).alias(flag))
        rows = rows.join(known, on=keys, how="left")
    return rows.select(
        pl.col("query").cast(pl.String),
        pl.when("rank_known").then("rank").alias("rank"),
        pl.when("url_known").then(pl.col("url").cast(pl.String)).alias("url"),
        click=pl.col("url").is_not_null(),
        ranked=pl.col("url").is_not_null() & pl.col("rank").is_not_null(),
    )


def copy_to_members(prototypes: pl.DataFrame, users: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the prototype of their group for every user."""
    # In a fixed order: the rows are shuffled later, and a seed must always give the same release.
    return users.join(prototypes, on="group", maintain_order="left_right").drop("group")
