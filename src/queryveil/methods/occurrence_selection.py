"""Which counted keys show, by noise, when most of them are too rare to be looked at one by one.

Keys with a low count are known by their number alone: how many of them show is drawn at once,
and then which ones. That gives every set of keys exactly the chance that noise on each key would.
docs/privacy/click-graph.md has the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import polars as pl

from ..core.randomness import RandomSource
from ..dp.noise import NoiseSource
from ..dp.occurrence_counts import OccurrenceThreshold
from ..engine.operations import aggregate
from ..engine.table import Table

_KEY = "query"
_ORDER = ("order", "tie")  # 128 bits: equal ones are rarer than any delta


def select_frequent_keys(
    counted: Table, choice: OccurrenceThreshold, noise: NoiseSource, chance: RandomSource
) -> pl.DataFrame:
    """Give the queries that show, with their exact counts, in order: query, count.

    `counted` has each query once, with its count from 1 on.
    """
    rare = choice.threshold // 2
    many = aggregate(counted, partial(_above, rare=rare), [_KEY]).sort(_KEY)
    shown = many[choice.release(many["count"].to_numpy().astype(np.int64), noise)]
    sizes = aggregate(counted, partial(_sizes, rare=rare), ["count"]).sort("count")
    lots = {
        n: choice.release_grouped(n, keys, noise)
        for n, keys in sizes.select("count", "keys").rows()
    }
    lots = {count: number for count, number in lots.items() if number}
    if not lots:
        return shown
    few = aggregate(counted, partial(_drawn, lots=lots), [_KEY, "count", *_ORDER], chance)
    return pl.concat([shown, _first(few, lots).select(shown.columns)]).sort(_KEY)


def _above(frame: pl.LazyFrame, _: RandomSource, *, rare: int) -> pl.DataFrame:
    return frame.filter(pl.col("count") > rare).select(_KEY, "count").collect()


def _sizes(frame: pl.LazyFrame, _: RandomSource, *, rare: int) -> pl.DataFrame:
    """Tell how many keys have each low count."""
    low = frame.filter(pl.col("count").is_between(1, rare))
    return low.group_by("count").agg(keys=pl.len().cast(pl.Int64)).collect()


def _drawn(frame: pl.LazyFrame, chance: RandomSource, *, lots: Mapping[int, int]) -> pl.DataFrame:
    """Put the rare keys of a share in random order, and give as many as could be drawn."""
    low = frame.filter(pl.col("count").is_in(list(lots))).select(_KEY, "count").sort(_KEY)
    rows = low.collect()
    bits = chance.uint64s(2 * rows.height).view(np.int64).reshape(2, -1)
    order = [pl.Series(name, part) for name, part in zip(_ORDER, bits, strict=True)]
    return _first(rows.with_columns(order), lots)


def _first(rows: pl.DataFrame, lots: Mapping[int, int]) -> pl.DataFrame:
    ordered = rows.sort("count", *_ORDER, _KEY)
    wanted = pl.col("count").replace_strict(dict(lots), default=0, return_dtype=pl.Int64)
    return ordered.filter(pl.int_range(pl.len()).over("count") < wanted)
