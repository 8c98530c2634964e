"""Select keys by noisy counts without a visit to each rare key.

For keys with a low count only their number is needed: first the number of selected keys is drawn,
then which ones. Every set of keys has exactly the same probability as with noise on each key.
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
_ORDER = ("order", "tie")  # 128 bits: ties are less probable than any delta


def select_frequent_keys(
    counted: Table, selection: OccurrenceThreshold, noise: NoiseSource, rng: RandomSource
) -> pl.DataFrame:
    """Return the selected queries with their exact counts, sorted by query: query, count.

    Args:
        counted: One row per query, with its count of at least 1.
    """
    max_rare = selection.threshold // 2
    frequent = aggregate(counted, partial(_frequent_keys, max_rare=max_rare), [_KEY]).sort(_KEY)
    counts = frequent["count"].to_numpy().astype(np.int64)
    selected = frequent[selection.release(counts, noise)]
    sizes = aggregate(counted, partial(_count_rare_keys, max_rare=max_rare), ["count"])
    drawn = {
        count: selection.release_grouped(count, keys, noise)
        for count, keys in sizes.sort("count").select("count", "keys").rows()
    }
    quotas = {count: keys for count, keys in drawn.items() if keys}
    if not quotas:
        return selected
    columns = [_KEY, "count", *_ORDER]
    candidates = aggregate(counted, partial(_sample_rare_keys, quotas=quotas), columns, rng)
    rare = _take_quotas(candidates, quotas).select(selected.columns)
    return pl.concat([selected, rare]).sort(_KEY)


def _frequent_keys(frame: pl.LazyFrame, _: RandomSource, *, max_rare: int) -> pl.DataFrame:
    return frame.filter(pl.col("count") > max_rare).select(_KEY, "count").collect()


def _count_rare_keys(frame: pl.LazyFrame, _: RandomSource, *, max_rare: int) -> pl.DataFrame:
    """Count the keys of each low count."""
    low = frame.filter(pl.col("count").is_between(1, max_rare))
    return low.group_by("count").agg(keys=pl.len().cast(pl.Int64)).collect()


def _sample_rare_keys(
    frame: pl.LazyFrame, rng: RandomSource, *, quotas: Mapping[int, int]
) -> pl.DataFrame:
    """Shuffle the rare keys of a partition, and return as many as all quotas could need."""
    low = frame.filter(pl.col("count").is_in(list(quotas))).select(_KEY, "count").sort(_KEY)
    rows = low.collect()
    bits = rng.uint64s(2 * rows.height).view(np.int64).reshape(2, -1)
    order = [pl.Series(name, part) for name, part in zip(_ORDER, bits, strict=True)]
    return _take_quotas(rows.with_columns(order), quotas)


def _take_quotas(rows: pl.DataFrame, quotas: Mapping[int, int]) -> pl.DataFrame:
    """Return the first keys of each count in random order, as many as its quota."""
    ordered = rows.sort("count", *_ORDER, _KEY)
    quota = pl.col("count").replace_strict(dict(quotas), default=0, return_dtype=pl.Int64)
    return ordered.filter(pl.int_range(pl.len()).over("count") < quota)
