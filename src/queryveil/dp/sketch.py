"""A noisy picture of what is frequent: a fixed number of buckets, whatever the keys are.

Keys fall into buckets by a public hash. Every user spreads one unit of weight, in the sense of
lengths of vectors, over the buckets of all her keys. Every bucket gets noise, also an empty one, so
nothing depends on which keys there are. Users then give those of their keys whose buckets are
heaviest to the table that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .noise import Integers, NoiseSource, exact_sqrt


Numbers = NDArray[np.integer[Any]]

_UNIT = 1 << 10  # weights are whole numbers of 1/1024, rounded down
_USERS = 1 << 16  # whose weights are made at a time
_GRAIN = 1 << 24  # wishes are whole numbers of 1/2^24


@dataclass(frozen=True)
class NoisySketch:
    """Noise for buckets in which each user's weights have a length of at most 1."""

    scale: Fraction
    buckets: int = 1 << 17

    @classmethod
    def for_rho(cls, rho: Fraction) -> NoisySketch:
        """Make the sketch that costs at most so much, as zCDP."""
        return cls(exact_sqrt(_UNIT**2 / (2 * rho)))

    @property
    def rho(self) -> Fraction:
        """What it costs."""
        return _UNIT**2 / (2 * self.scale * self.scale)

    def release(
        self,
        user: Numbers,
        key: Numbers,
        bucket: Numbers,
        wish: NDArray[np.float64],
        source: NoiseSource,
    ) -> NDArray[np.float64]:
        """Sum up what users wish to weigh their keys, bucket by bucket, with noise.

        Each row has a user and a key; `bucket` and `wish` say of each key where it falls and how
        gladly it is given. Gives sums in units of the noise, above the middle one.
        """
        return self.add_noise(self.bucket_sums(user, key, bucket, wish), source)

    def bucket_sums(
        self, user: Numbers, key: Numbers, bucket: Numbers, wish: NDArray[np.float64]
    ) -> Integers:
        """Sum up the weights without noise; sums of different users can be added."""
        sums = np.zeros(self.buckets, np.int64)
        for first in range(0, int(user.max(initial=0)) + 1, _USERS):
            rows = np.flatnonzero((user >= first) & (user < first + _USERS))
            some = user[rows].astype(np.int64) - first
            mine = key[rows]
            _, place, weights = self.weights(some, bucket[mine].astype(np.int64), wish[mine])
            # Sums of whole numbers below 2^53 are exact, although NumPy adds them up as floats.
            sums += np.bincount(place, weights, self.buckets).astype(np.int64)
        return sums

    def add_noise(self, sums: Integers, source: NoiseSource) -> NDArray[np.float64]:
        """Add noise to the sums of all users, in units of the noise, above the middle one."""
        noisy = sums + source.gaussian(self.buckets, self.scale)
        middle = float(np.median(noisy))
        return np.asarray((noisy - middle) / float(self.scale), np.float64)

    def weights(
        self, user: Integers, bucket: Integers, wish: NDArray[np.float64]
    ) -> tuple[Integers, Integers, Integers]:
        """Scale each user's weights, bucket by bucket, to a length of at most 1, rounded down.

        Keys of hers that share a bucket are added up first: else many of them in one bucket
        would weigh more than 1. They are added as whole numbers: a sum of floats would depend on
        the order of her rows, and so on the rows of others, and could be rounded down otherwise.
        """
        pairs, place = np.unique(user * self.buckets + bucket, return_inverse=True)
        owner, summed = pairs // self.buckets, np.bincount(place, np.rint(wish * _GRAIN))
        length = np.sqrt(np.bincount(owner, summed * summed))
        scaled = summed * ((_UNIT - 1) / np.maximum(length, 1e-300))[owner]
        whole = np.floor(scaled).astype(np.int64)
        if len(owner) and int(np.bincount(owner, whole * whole).max()) > _UNIT**2:
            raise UsageError("a user's weights are longer than 1: this is a defect, report it")
        return owner, pairs % self.buckets, whole
