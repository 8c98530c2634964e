"""The same noise again from the same stream, for tests and marked releases alone.

The distribution is cut off where its tail is below 2^-64, so this has no guarantee.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["SeededNoise", "geometric_from_bits"]

_WHOLE = 2**64
_WIDEST = 5_000
_DIGITS = 50  # a million products lose ten of them at most


class SeededNoise:
    """Noise by looking up random numbers of 64 bits in a table of summed chances."""

    def __init__(self, stream: Callable[[int], NDArray[np.uint64]]) -> None:
        self._stream = stream

    def laplace(self, size: int, scale: Fraction) -> NDArray[np.int64]:
        """Draw discrete Laplace noise."""
        if scale > _WIDEST:  # a table would not fit
            one, two = (geometric_from_bits(self._stream(size), scale) for _ in range(2))
            return one - two
        return self._looked_up(size, -1 / scale, Fraction(0), int(45 * scale) + 2)

    def gaussian(self, size: int, scale: Fraction) -> NDArray[np.int64]:
        """Draw discrete Gaussian noise."""
        square = scale * scale
        return self._looked_up(size, -1 / (2 * square), -1 / square, int(10 * scale) + 2)

    def _looked_up(
        self, size: int, first: Fraction, change: Fraction, most: int
    ) -> NDArray[np.int64]:
        """Draw from weights whose logarithm falls by `first`, and each time by `change` more."""
        with localcontext(prec=_DIGITS):
            half = [Decimal(1)]
            step, factor = _exp(first), _exp(change)
            for _ in range(most):
                half.append(half[-1] * step)
                step *= factor
            unit = _WHOLE / (2 * sum(half) - half[0])
            summed, table = Decimal(0), []
            for z in range(-most, most):
                summed += half[abs(z)] * unit
                table.append(int(summed))
        edges = np.array([min(edge, _WHOLE - 1) for edge in table], np.uint64)
        return np.searchsorted(edges, self._stream(size), side="right").astype(np.int64) - most


def geometric_from_bits(numbers: NDArray[np.uint64], scale: Fraction) -> NDArray[np.int64]:
    """Turn numbers into integers from 0 on with chances in proportion to exp(-g / scale).

    By inversion, since what is wide fits in no table.
    """
    with localcontext(prec=_DIGITS):
        wide = Decimal(scale.numerator) / scale.denominator
        logs = [-((Decimal(int(n)) + 1) / _WHOLE).ln() for n in numbers]
        return np.array([int(log * wide) for log in logs], np.int64)


def _exp(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / value.denominator).exp()
