"""A noisy sketch of key frequencies: a fixed number of buckets, whatever the keys are.

Keys fall into buckets by a public hash. Every user spreads a vector of weights with an L2 norm of
at most 1 over the buckets of all their keys. Every bucket gets noise, also an empty one, so nothing
depends on which keys exist. Users then contribute those of their keys whose buckets are heaviest to
the table of counts.
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

_UNIT = 1 << 10  # weights are multiples of 1/1024, rounded down
_USERS = 1 << 16  # users whose weights are computed at a time, to bound the memory
_GRAIN = 1 << 24  # wished weights are rounded to multiples of 1/2^24


@dataclass(frozen=True)
class NoisySketch:
    """Noise for buckets in which each user's weights have an L2 norm of at most 1."""

    scale: Fraction
    buckets: int = 1 << 17

    @classmethod
    def for_rho(cls, rho: Fraction) -> NoisySketch:
        """Return the sketch that is rho-zCDP."""
        return cls(exact_sqrt(_UNIT**2 / (2 * rho)))

    @property
    def rho(self) -> Fraction:
        """The zCDP loss of the sketch."""
        return _UNIT**2 / (2 * self.scale * self.scale)

    def release(
        self,
        user: Numbers,
        key: Numbers,
        bucket: Numbers,
        wish: NDArray[np.float64],
        source: NoiseSource,
    ) -> NDArray[np.float64]:
        """Return the noisy sum of weights of each bucket, as `add_noise` does.

        Args:
            user: The user of each row.
            key: The key of each row, an index into `bucket` and `wish`.
            bucket: The bucket of each key.
            wish: The weight that a user would like to give each key, before scaling.
        """
        return self.add_noise(self.bucket_sums(user, key, bucket, wish), source)

    def bucket_sums(
        self, user: Numbers, key: Numbers, bucket: Numbers, wish: NDArray[np.float64]
    ) -> Integers:
        """Return the sums of weights without noise; sums of disjoint sets of users can be added."""
        sums = np.zeros(self.buckets, np.int64)
        for first in range(0, int(user.max(initial=0)) + 1, _USERS):
            rows = np.flatnonzero((user >= first) & (user < first + _USERS))
            users, keys = user[rows].astype(np.int64) - first, key[rows]
            _, buckets, weights = self.weights(users, bucket[keys].astype(np.int64), wish[keys])
            # Sums of integers below 2^53 are exact, although NumPy adds them up as floats.
            sums += np.bincount(buckets, weights, self.buckets).astype(np.int64)
        return sums

    def add_noise(self, sums: Integers, source: NoiseSource) -> NDArray[np.float64]:
        """Return the sums of all users with noise, minus their median, in units of the noise."""
        noisy = sums + source.gaussian(self.buckets, self.scale)
        median = float(np.median(noisy))
        return np.asarray((noisy - median) / float(self.scale), np.float64)

    def weights(
        self, user: Integers, bucket: Integers, wish: NDArray[np.float64]
    ) -> tuple[Integers, Integers, Integers]:
        """Scale each user's weights, bucket by bucket, to an L2 norm of at most 1, rounded down.

        Keys of a user that share a bucket are added up first: else many of them in one bucket
        would weigh more than 1. They are added as integers: a sum of floats would depend on the
        order of the user's rows, and so on the rows of others, and could be rounded down otherwise.

        Returns:
            User, bucket and weight of each distinct pair of user and bucket.
        """
        pairs, pair = np.unique(user * self.buckets + bucket, return_inverse=True)
        owner, summed = pairs // self.buckets, np.bincount(pair, np.rint(wish * _GRAIN))
        norm = np.sqrt(np.bincount(owner, summed * summed))
        scaled = summed * ((_UNIT - 1) / np.maximum(norm, 1e-300))[owner]
        weights = np.floor(scaled).astype(np.int64)
        if len(owner) and int(np.bincount(owner, weights * weights).max()) > _UNIT**2:
            raise UsageError(
                "the L2 norm of a user's weights is above 1",
                hint="this is a defect: please report it",
            )
        return owner, pairs % self.buckets, weights
