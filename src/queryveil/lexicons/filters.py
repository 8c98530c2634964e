"""A filter: a set of which only short hashes are stored.

Every member is recognized; another text is taken for one with a small probability. The members
cannot be listed. The hashes are sorted and their differences stored, which takes 8 bits per member
at a probability of 1%, less than a Bloom filter of the same probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .storage import read_packed, write_packed
from .words import Hashes, hash_texts

_LONG = 255  # a byte of a difference that continues in the next byte


@dataclass(frozen=True, eq=False)
class HashFilter:
    """A set of texts, by their hashes modulo `size`."""

    size: int
    values: NDArray[np.uint32]

    @classmethod
    def build(cls, texts: pl.Series, probability: float) -> HashFilter:
        """Return the filter of folded texts, with this probability to take another for a member.

        >>> people = HashFilter.build(pl.Series(["jane doe", "john roe"]), 0.01)
        >>> people.contains(hash_texts(pl.Series(["john roe", "mary major"]))).tolist()
        [True, False]
        """
        hashes = np.unique(hash_texts(texts))
        size = int(len(hashes) / probability)
        return cls(size, np.unique(hashes % np.uint64(size)).astype(np.uint32))

    def contains(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return which texts, given by their hashes, are in the set or look so."""
        wanted = (hashes % np.uint64(self.size)).astype(np.uint32)
        places = np.searchsorted(self.values, wanted)
        places[places == len(self.values)] = 0
        return np.asarray(self.values[places] == wanted)

    def write(self, path: Path) -> None:
        """Write the filter: its size, then the differences of its values in bytes."""
        steps = np.diff(self.values, prepend=np.uint32(0)).astype(np.int64)
        longs = steps // _LONG
        content = np.full(len(steps) + int(longs.sum()), _LONG, np.uint8)
        content[np.cumsum(longs + 1) - 1] = steps % _LONG
        write_packed(path, self.size.to_bytes(8, "little") + content.tobytes())

    @classmethod
    def read(cls, path: Path) -> HashFilter:
        """Read a filter that `write` wrote."""
        content = read_packed(path)
        steps = np.frombuffer(content, np.uint8, offset=8)
        values = np.cumsum(steps, dtype=np.int64)[steps != _LONG]
        return cls(int.from_bytes(content[:8], "little"), values.astype(np.uint32))
