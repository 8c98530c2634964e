"""Ragged arrays of numbers and arrays of strings, flat so that a file can hold them as they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
ByteArray = NDArray[np.uint8]
BoolArray = NDArray[np.bool_]

_NEWLINE = 10


@dataclass(frozen=True, eq=False)
class RaggedArray:
    """Many short lists of numbers: list `i` is `items[start[i]:start[i + 1]]`.

    >>> lists = RaggedArray.from_lists([[3], [], [1, 2]])
    >>> len(lists), lists[2].tolist(), lists.sizes.tolist()
    (3, [1, 2], [1, 0, 2])
    """

    start: IntArray
    items: IntArray

    @classmethod
    def from_lists(cls, lists: list[list[int]]) -> RaggedArray:
        """Build from Python lists; for tests and small inputs."""
        sizes = np.fromiter((len(row) for row in lists), np.int64, len(lists))
        items = np.fromiter((item for row in lists for item in row), np.int32)
        return cls.from_sizes(sizes, items)

    @classmethod
    def from_sizes(cls, sizes: IntArray, items: IntArray) -> RaggedArray:
        """Build from the sizes of the lists and their concatenated items."""
        start = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=start[1:])
        return cls(start, items)

    @classmethod
    def group_by(cls, owners: IntArray, items: IntArray, size: int) -> RaggedArray:
        """Build from pairs of list and item; a list keeps the order of its pairs."""
        order = np.argsort(owners, kind="stable")
        return cls.from_sizes(np.bincount(owners, minlength=size), items[order])

    def __len__(self) -> int:
        return len(self.start) - 1

    def mirrored(self) -> RaggedArray:
        """Return the lists in reverse order, each reversed too.

        >>> mirror = RaggedArray.from_lists([[1, 2], [3]]).mirrored()
        >>> mirror[0].tolist(), mirror[1].tolist()
        ([3], [2, 1])
        """
        return RaggedArray(len(self.items) - self.start[::-1], self.items[::-1])

    def __getitem__(self, row: int) -> IntArray:
        return self.items[self.start[row] : self.start[row + 1]]

    @cached_property
    def sizes(self) -> IntArray:
        """The length of each list."""
        return np.diff(self.start)

    @cached_property
    def row_ids(self) -> IntArray:
        """The list that each item belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.sizes)

    def take(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the concatenated items of these lists, and for each item the index into `rows`."""
        sizes = self.sizes[rows]
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        indices = np.repeat(np.arange(len(rows), dtype=np.int64), sizes)
        shift = np.repeat(self.start[:-1][rows] - (ends - sizes), sizes)
        return self.items[np.arange(total) + shift], indices

    def transpose(self, size: int) -> RaggedArray:
        """Return for each item the lists that hold it, in ascending order."""
        return RaggedArray.group_by(self.items, self.row_ids, size)


@dataclass(frozen=True, eq=False)
class StringArray:
    """Many strings in one array of bytes, each terminated by a newline.

    >>> texts = StringArray.of(["bed and breakfast", "caf\u00e9"])
    >>> len(texts), texts[1]
    (2, 'caf\u00e9')
    """

    bytes: ByteArray

    @classmethod
    def of(cls, texts: list[str]) -> StringArray:
        """Build from strings without newlines."""
        joined = "".join(f"{text}\n" for text in texts).encode()
        return cls(np.frombuffer(joined, np.uint8))

    @cached_property
    def _ends(self) -> IntArray:
        return np.flatnonzero(self.bytes == _NEWLINE)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, row: int) -> str:
        begin = int(self._ends[row - 1]) + 1 if row else 0
        return self.bytes[begin : int(self._ends[row])].tobytes().decode()

    def series(self) -> pl.Series:
        """Return all strings as a column."""
        return self._series

    @cached_property
    def _series(self) -> pl.Series:
        # Polars splits several times faster than Python makes a list of strings.
        text = pl.Series("text", [self.bytes.tobytes().decode()], dtype=pl.String)
        return text.str.strip_suffix("\n").str.split("\n").explode() if len(self) else text[:0]

    def __getstate__(self) -> dict[str, ByteArray]:
        return {"bytes": self.bytes}
