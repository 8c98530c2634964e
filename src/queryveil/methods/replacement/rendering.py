"""The rows that are published: a label for each concept, a number for each slot, no clicks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...concepts.taxonomy.labels import publishable_labels
from ...core.randomness import RandomSource
from .mechanism import PIECE


@dataclass(frozen=True, eq=False, repr=False)
class ReplacementRows:
    """The published rows, what each means, and who got which pseudonym.

    Times are numbers of rows, as short as they can be.
    """

    log: pl.DataFrame
    concepts: pl.DataFrame
    mapping: pl.DataFrame


def by_pseudonym(mapping: pl.DataFrame, sizes: IntArray, concepts: IntArray) -> IntArray:
    """Return concepts, which stand user after user of `mapping`, in the order of pseudonyms."""
    order, found, done = _order(mapping), np.empty(len(concepts), np.int32), 0
    begins = np.cumsum(sizes) - sizes
    for begin, end in _pieces(sizes[order]):
        users = order[begin:end]
        number = _counted_up(sizes[users])
        number += np.repeat(begins[users], sizes[users])
        found[done : done + len(number)] = concepts[number]
        done += len(number)
    return found


def render_rows(
    taxonomy: Taxonomy,
    mapping: pl.DataFrame,
    sizes: IntArray,
    concepts: IntArray,
    chance: RandomSource,
    before: IntArray | None = None,
) -> ReplacementRows:
    """Name users and concepts.

    The users of `mapping` have so many rows each (`sizes`); rows are numbered from 1 on, or from
    what was used `before`. They are written in the order of pseudonyms, which are random, and of
    these numbers: that tells nothing. The concepts stand in that order already (`by_pseudonym`).

    Rows are made in pieces: there may be a hundred million, and each step needs some memory. So
    that `concepts` is the only copy of them, it becomes a column of what is returned.
    """
    order = _order(mapping)
    who, names = as_categorical(mapping["pseudonym"].gather(order)), publishable_labels(taxonomy)
    texts = as_categorical(names.texts)
    first = np.zeros(len(sizes), np.int64) if before is None else before
    logs, done = [], 0
    for begin, end in _pieces(sizes[order]):
        users = order[begin:end]
        number = _counted_up(sizes[users])
        place = np.repeat(np.arange(begin, end, dtype=np.uint32), sizes[users])
        own = concepts[done : done + len(number)]
        labels = names.sample(own, chance.uint64s(len(own)))
        time = number + np.repeat(first[users], sizes[users]) + 1
        columns = {"user": who.gather(place), "query": texts.gather(labels)}
        logs.append(pl.DataFrame(columns | {"time": time.astype(_short(sizes, first))}))
        done += len(own)
    log = pl.concat(logs).with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
    meant = pl.Series("concept", concepts, pl.Int32)  # not copied
    return ReplacementRows(log, log.select("user").with_columns(meant), mapping)


def _order(mapping: pl.DataFrame) -> IntArray:
    return mapping["pseudonym"].arg_sort().to_numpy()


def _pieces(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Cut users into runs that have about so many rows; at least one, which may be empty."""
    ends = np.cumsum(sizes)
    begin, done = 0, 0
    while begin < len(sizes):
        end = max(begin + 1, int(np.searchsorted(ends, done + PIECE, side="right")))
        yield begin, end
        begin, done = end, int(ends[end - 1])
    if not len(sizes):
        yield 0, 0


def _counted_up(sizes: IntArray) -> IntArray:
    """Return 0, 1, ... for each size, one after the other.

    >>> _counted_up(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    begins = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(begins, sizes)


def _short(sizes: IntArray, first: IntArray) -> type[np.int16] | type[np.int32]:
    """Return the shortest kind of number that counts the rows of every user."""
    most = int(sizes.max(initial=0)) + int(first.max(initial=0))
    return np.int16 if most < 2**15 else np.int32


def as_categorical(texts: pl.Series) -> pl.Series:
    """Hold each text once, however often it is gathered."""
    return texts.cast(pl.Categorical(pl.Categories.random()))
