"""Randomness for order, samples and pseudonyms.

Privacy *noise* comes from `dp/` alone. What is drawn here decides in which order rows
stand and what a person is called. It comes from the operating system. A seed replaces it
by a SHAKE-256 stream that is the same on every machine; whatever was made with a seed is
marked as not for publication.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..errors import UsageError

# Sixteen letters, no digit: a spreadsheet would read "123456e78901" as a number.
_LETTERS = bytes.maketrans(b"0123456789abcdef", b"abcdefghkmnprstw")
_NAME_BYTES = 6  # 48 bits, 12 letters: the longest text that Polars keeps inside a cell


class RandomSource:
    """A stream of random bytes, secret unless a seed is given.

    >>> RandomSource(seed=1).permutation(5).tolist() == RandomSource(seed=1).permutation(5).tolist()
    True
    >>> RandomSource().is_secure, RandomSource(seed=1).is_secure
    (True, False)
    """

    def __init__(self, seed: int | None = None, name_bytes: int = _NAME_BYTES) -> None:
        if seed is not None and seed < 0:
            raise UsageError(f"the seed {seed} is negative", hint="take a whole number from 0 on")
        self.seed = seed
        self._name_bytes = name_bytes
        self._draws = 0

    @property
    def is_secure(self) -> bool:
        """Whether nobody can draw the same again."""
        return self.seed is None

    def bytes(self, size: int) -> bytes:
        """Draw random bytes."""
        if self.seed is None:
            return os.urandom(size)
        self._draws += 1
        label = f"queryveil/{self.seed}/{self._draws}".encode()
        return hashlib.shake_256(label).digest(size)

    def uint64s(self, size: int) -> NDArray[np.uint64]:
        """Draw numbers of 64 bits."""
        return np.frombuffer(self.bytes(8 * size), dtype="<u8")

    def permutation(self, size: int) -> NDArray[np.uint32]:
        """Draw a permutation of 0..size-1, uniform but for equal keys of 64 bits."""
        return pl.Series(self.uint64s(size)).arg_sort().to_numpy()

    def tokens(self, size: int) -> NDArray[np.bytes_]:
        """Draw distinct names, of twelve letters if nothing else was asked for.

        Nothing can be derived from them. Where several draw for one release each takes longer
        names, so that they do not meet.
        """
        names = self._names(size)
        while (missing := size - len(names)) > 0:
            names = np.unique(np.concatenate([names, self._names(missing)]))
        return names[self.permutation(size)]  # np.unique sorts; the order must tell nothing

    def _names(self, size: int) -> NDArray[np.bytes_]:
        text = self.bytes(self._name_bytes * size).hex().encode().translate(_LETTERS)
        return np.unique(np.frombuffer(text, dtype=f"S{2 * self._name_bytes}"))
