"""Noise that can be drawn again from a seed: for tests, never for a release."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_WHOLE = 2**64
_MAX_TABLE_SCALE = 5_000
_DIGITS = 50  # a million products lose at most ten of them


class SeededNoise:
    """Noise by inversion: random numbers of 64 bits, looked up in a cumulative distribution."""

    def __init__(self, stream: Callable[[int], NDArray[np.uint64]]) -> None:
        self._stream = stream

    def laplace(self, size: int, scale: Fraction) -> NDArray[np.int64]:
        """Sample discrete Laplace noise."""
        if scale > _MAX_TABLE_SCALE:
            # The table would be too long; the difference of two geometric numbers is Laplace too.
            up, down = (geometric_from_bits(self._stream(size), scale) for _ in range(2))
            return up - down
        return self._sample_table(size, -1 / scale, Fraction(0), int(45 * scale) + 2)

    def gaussian(self, size: int, scale: Fraction) -> NDArray[np.int64]:
        """Sample discrete Gaussian noise."""
        square = scale * scale
        return self._sample_table(size, -1 / (2 * square), -1 / square, int(10 * scale) + 2)

    def _sample_table(
        self, size: int, first: Fraction, change: Fraction, max_value: int
    ) -> NDArray[np.int64]:
        """Sample from -max_value to max_value with symmetric weights.

        From 0 to 1 the logarithm of the weight changes by `first`, and at each further step by
        `change` more.
        """
        with localcontext(prec=_DIGITS):
            half = [Decimal(1)]
            step, factor = _exp(first), _exp(change)
            for _ in range(max_value):
                half.append(half[-1] * step)
                step *= factor
            unit = _WHOLE / (2 * sum(half) - half[0])
            summed, table = Decimal(0), []
            for z in range(-max_value, max_value):
                summed += half[abs(z)] * unit
                table.append(int(summed))
        edges = np.array([min(edge, _WHOLE - 1) for edge in table], np.uint64)
        drawn = np.searchsorted(edges, self._stream(size), side="right")
        return drawn.astype(np.int64) - max_value


def geometric_from_bits(numbers: NDArray[np.uint64], scale: Fraction) -> NDArray[np.int64]:
    """Turn 64-bit numbers into integers g >= 0 with probabilities proportional to exp(-g / scale).

    By inversion of the formula: a table of a wide distribution would not fit into memory.
    """
    with localcontext(prec=_DIGITS):
        wide = Decimal(scale.numerator) / scale.denominator
        logs = [-((Decimal(int(n)) + 1) / _WHOLE).ln() for n in numbers]
        return np.array([int(log * wide) for log in logs], np.int64)


def _exp(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / value.denominator).exp()
