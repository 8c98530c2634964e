"""Integer noise, sampled by OpenDP from the operating system's randomness.

The samplers are exact: the probability of each integer is that of the formula, without floats in
between. In tests a seeded stream takes their place; a release made with it is marked as not for
publication.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import isqrt
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .seeded_noise import SeededNoise

Integers = NDArray[np.int64]
Stream = Callable[[int], NDArray[np.uint64]]

_PART = 50_000  # draws at a time: two threads share the work
_STEP = 256  # scales are multiples of 1/256, which a float holds exactly
_MAX_SCALE = 2**40


def exact_scale(value: Fraction) -> Fraction:
    """Return the scale rounded up to a multiple of 1/256, which OpenDP takes without rounding.

    >>> exact_scale(Fraction(1, 3))
    Fraction(43, 128)
    """
    scale = Fraction(-(-value * _STEP // 1), _STEP)
    if not 0 < scale < _MAX_SCALE:
        raise UsageError(
            f"noise of scale {float(value):g} cannot be drawn", hint="take a larger epsilon"
        )
    return scale


def exact_sqrt(square: Fraction) -> Fraction:
    """Return nearly the smallest exact scale whose square is at least this."""
    return exact_scale(Fraction(isqrt(int(square * 2**32)) + 1, 2**16))


class NoiseSource:
    """The source of noise: OpenDP, or a stream of 64-bit numbers for tests.

    >>> NoiseSource().is_secure, NoiseSource(lambda size: np.zeros(size, np.uint64)).is_secure
    (True, False)
    """

    def __init__(self, stream: Stream | None = None) -> None:
        self._stream = stream
        self._repeatable = None if stream is None else SeededNoise(stream)

    @property
    def is_secure(self) -> bool:
        """Whether the noise comes from the operating system and cannot be repeated."""
        return self._repeatable is None

    def uint64s(self, size: int) -> NDArray[np.uint64]:
        """Sample uniform numbers of 64 bits, for distributions that OpenDP does not offer."""
        if self._stream is not None:
            return self._stream(size)
        return np.frombuffer(os.urandom(8 * size), np.uint64)

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """Sample integers z with probabilities proportional to exp(-|z| / scale)."""
        if self._repeatable is not None:
            return self._repeatable.laplace(size, scale)
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        return _draw_noise(dp.m.make_laplace(*space, scale=_double(scale)), size)

    def gaussian(self, size: int, scale: Fraction) -> Integers:
        """Sample integers z with probabilities proportional to exp(-z * z / (2 scale * scale))."""
        if self._repeatable is not None:
            return self._repeatable.gaussian(size, scale)
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
        return _draw_noise(dp.m.make_gaussian(*space, scale=_double(scale)), size)


def _draw_noise(measurement: Any, size: int) -> Integers:
    """Sample noise in parallel parts; each part is the measurement of a vector of zeros."""
    parts = [min(_PART, size - begin) for begin in range(0, size, _PART)]

    def draw(part: int) -> Integers:
        return np.asarray(measurement(np.zeros(part, np.int64)), np.int64)

    with ThreadPoolExecutor(2) as pool:
        noise = list(pool.map(draw, parts))
    return np.concatenate(noise) if noise else np.zeros(0, np.int64)


def _double(scale: Fraction) -> float:
    double = float(scale)
    if Fraction(double) != scale:  # the accounting would be that of another mechanism
        raise UsageError(f"the scale of noise must be a multiple of 1/{_STEP}, got {scale}")
    return double


def _opendp() -> ModuleType:
    dp = importlib.import_module("opendp.prelude")  # here: slow to import
    dp.enable_features("contrib")
    return dp
