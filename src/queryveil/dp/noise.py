"""Integer noise, drawn by OpenDP from the operating system's randomness.

The samplers are exact: the chance of each integer is that of the formula, with no float on the
way. A stream that can be repeated takes their place in tests; what is made with it is marked as
not for publication.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError

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


Integers = NDArray[np.int64]
Stream = Callable[[int], NDArray[np.uint64]]

_PART = 50_000  # draws at a time: two threads share the work
_STEP = 256  # scales are multiples of 1/256, which a float holds exactly
_MOST = 2**40


def exact_scale(value: Fraction) -> Fraction:
    """Round a scale up to one that OpenDP takes without rounding.

    >>> exact_scale(Fraction(1, 3))
    Fraction(43, 128)
    """
    scale = Fraction(-(-value * _STEP // 1), _STEP)
    if not 0 < scale < _MOST:
        raise UsageError(
            f"noise of scale {float(value):g} cannot be drawn", hint="take a larger epsilon"
        )
    return scale


def exact_sqrt(square: Fraction) -> Fraction:
    """Give the least such scale, nearly, whose square is at least this."""
    return exact_scale(Fraction(isqrt(int(square * 2**32)) + 1, 2**16))


class NoiseSource:
    """Where noise comes from: OpenDP, or a stream of 64-bit numbers for tests.

    >>> NoiseSource().is_secure, NoiseSource(lambda size: np.zeros(size, np.uint64)).is_secure
    (True, False)
    """

    def __init__(self, stream: Stream | None = None) -> None:
        self._stream = stream
        self._repeatable = None if stream is None else SeededNoise(stream)

    @property
    def is_secure(self) -> bool:
        """Whether nobody can draw the same again."""
        return self._repeatable is None

    def uint64s(self, size: int) -> NDArray[np.uint64]:
        """Draw numbers of 64 bits, for choices that no sampler of OpenDP makes."""
        if self._stream is not None:
            return self._stream(size)
        return np.frombuffer(os.urandom(8 * size), np.uint64)

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """Draw integers z with chances in proportion to exp(-|z| / scale)."""
        if self._repeatable is not None:
            return self._repeatable.laplace(size, scale)
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        return _drawn(dp.m.make_laplace(*space, scale=_double(scale)), size)

    def gaussian(self, size: int, scale: Fraction) -> Integers:
        """Draw integers z with chances in proportion to exp(-z * z / (2 scale * scale))."""
        if self._repeatable is not None:
            return self._repeatable.gaussian(size, scale)
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
        return _drawn(dp.m.make_gaussian(*space, scale=_double(scale)), size)


def _drawn(measurement: Any, size: int) -> Integers:
    """Draw in parts, side by side; each part is noise on zeros."""
    parts = [min(_PART, size - begin) for begin in range(0, size, _PART)]

    def draw(part: int) -> Integers:
        return np.asarray(measurement(np.zeros(part, np.int64)), np.int64)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(draw, parts))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _double(scale: Fraction) -> float:
    double = float(scale)
    if Fraction(double) != scale:  # the accounting would speak of another mechanism
        raise UsageError(f"a scale of {scale} is no multiple of 1/{_STEP}")
    return double


def _opendp() -> ModuleType:
    try:
        dp = importlib.import_module("opendp.prelude")
    except ImportError as error:
        raise UsageError(
            "differential privacy needs OpenDP", hint="pip install 'queryveil[dp]'"
        ) from error
    dp.enable_features("contrib")
    return dp
