"""Real noise has the spread that is paid for, and this test would see it if it had less.

The gap between the summed chances of n draws and of their true distribution is beyond
sqrt(ln(2 / a) / 2n) with a chance of at most a, whatever the distribution (Dvoretzky, Kiefer,
Wolfowitz, Massart). So the test fails by accident with a chance of 1e-6 at most.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import exp, log, sqrt

import numpy as np
import pytest

from queryveil.dp.noise import NoiseSource

DRAWS = 20_000
ACCIDENT = 1e-6
GAP = sqrt(log(2 / ACCIDENT) / (2 * DRAWS))
CASES = [
    ("laplace", Fraction(5, 4)),
    ("laplace", Fraction(40)),
    ("gaussian", Fraction(5, 4)),
    ("gaussian", Fraction(75, 2)),
]


@cache
def summed(kind: str, scale: Fraction, far: int) -> np.ndarray:
    """Give the chances of at most -far, ..., at most far, by the formula."""
    with localcontext(prec=30):
        half = []
        for z in range(far + 1):
            power = z / scale if kind == "laplace" else z * z / (2 * scale * scale)
            half.append((-Decimal(power.numerator) / power.denominator).exp())
        whole = 2 * sum(half) - half[0]
        return np.cumsum([float(half[abs(z)] / whole) for z in range(-far, far + 1)])


def reach(scale: Fraction) -> int:
    return int(40 * scale) + 5


def is_right(drawn: np.ndarray, kind: str, scale: Fraction) -> bool:
    """Say whether these draws may come from that noise."""
    far = reach(scale)
    seen = np.searchsorted(np.sort(drawn), np.arange(-far, far + 1), side="right") / len(drawn)
    return float(np.abs(seen - summed(kind, scale, far)).max()) <= GAP


def narrower(scale: Fraction) -> Fraction:
    return Fraction(int(scale * 256 * 4 / 5), 256)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_noise_has_the_scale_that_is_paid_for(kind: str, scale: Fraction) -> None:
    assert is_right(getattr(NoiseSource(), kind)(DRAWS, scale), kind, scale)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_a_fifth_less_is_seen(kind: str, scale: Fraction) -> None:
    assert not is_right(getattr(NoiseSource(), kind)(DRAWS, narrower(scale)), kind, scale)


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_a_fifth_less_is_seen_nearly_always(kind: str, scale: Fraction) -> None:
    """By the same bound: draws of the narrow noise come near the right one with a tiny chance."""
    far = reach(scale)
    apart = np.abs(summed(kind, scale, far) - summed(kind, narrower(scale), far)).max()
    missed = 2 * exp(-2 * DRAWS * (float(apart) - GAP) ** 2)
    assert apart > GAP
    assert missed < 1e-6


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_draws_do_not_follow_one_another(kind: str, scale: Fraction) -> None:
    """Neighbours are as often on the same side of zero as chance would have it."""
    signs = np.sign(getattr(NoiseSource(), kind)(2000, scale))
    together = float((signs[1:] * signs[:-1]).sum()) / sqrt(2000)
    assert abs(together) < 5.5  # of which the standard deviation is at most 1


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_two_draws_differ(kind: str, scale: Fraction) -> None:
    first, second = (getattr(NoiseSource(), kind)(200, scale) for _ in range(2))
    assert first.tolist() != second.tolist()
