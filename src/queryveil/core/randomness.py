"""Randomness for order, samples and pseudonyms.

Privacy *noise* comes from `dp/` alone. The draws of this module decide the order of rows, the
users of a sample and their pseudonyms. They come from the operating system. A seed replaces them
by a SHAKE-256 stream that is the same on every machine; an output that was produced with a seed
is marked as not for publication.
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
_NAME_BYTES = 6  # 48 bits, 12 letters: the longest text that Polars stores inline


class RandomSource:
    """A stream of random bytes, secret unless it has a seed.

    >>> RandomSource(seed=1).permutation(5).tolist() == RandomSource(seed=1).permutation(5).tolist()
    True
    >>> RandomSource().is_secure, RandomSource(seed=1).is_secure
    (True, False)
    """

    def __init__(self, seed: int | None = None, name_bytes: int = _NAME_BYTES) -> None:
        if seed is not None and seed < 0:
            raise UsageError(
                f"the seed {seed} is negative", hint="a seed is an integer of at least 0"
            )
        self.seed = seed
        self._name_bytes = name_bytes
        self._draws = 0

    @property
    def is_secure(self) -> bool:
        """Whether the draws cannot be reproduced."""
        return self.seed is None

    def bytes(self, size: int) -> bytes:
        """Sample random bytes."""
        if self.seed is None:
            return os.urandom(size)
        self._draws += 1
        label = f"queryveil/{self.seed}/{self._draws}".encode()
        return hashlib.shake_256(label).digest(size)

    def uint64s(self, size: int) -> NDArray[np.uint64]:
        """Sample integers of 64 bits."""
        return np.frombuffer(self.bytes(8 * size), dtype="<u8")

    def permutation(self, size: int) -> NDArray[np.uint32]:
        """Sample a permutation of 0..size-1, uniform except for ties among 64-bit keys."""
        return pl.Series(self.uint64s(size)).arg_sort().to_numpy()

    def tokens(self, size: int) -> NDArray[np.bytes_]:
        """Sample distinct tokens, of twelve letters by default.

        A token carries no information. Where several sources sample for one release, each uses
        longer tokens, so that collisions are improbable.
        """
        tokens = self._sample_tokens(size)
        while (missing := size - len(tokens)) > 0:
            tokens = np.unique(np.concatenate([tokens, self._sample_tokens(missing)]))
        return tokens[
            self.permutation(size)
        ]  # np.unique sorts; the order must carry no information

    def _sample_tokens(self, size: int) -> NDArray[np.bytes_]:
        """Sample tokens and drop duplicates, so that there may be fewer than `size`."""
        text = self.bytes(self._name_bytes * size).hex().encode().translate(_LETTERS)
        return np.unique(np.frombuffer(text, dtype=f"S{2 * self._name_bytes}"))
