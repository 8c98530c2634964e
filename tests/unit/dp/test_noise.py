"""Noise is integer, of exactly the scale that was asked for, and the same again from a stream."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import log, sqrt

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.dp import noise as module
from queryveil.dp.noise import NoiseSource, exact_scale
from queryveil.dp.thresholded_counts import ThresholdedCounts
from queryveil.errors import UsageError

KINDS = ("laplace", "gaussian")


def chances(kind: str, scale: Fraction, far: int) -> list[Decimal]:
    """Give the chances of -far..far by the formula."""
    with localcontext(prec=40):
        weights = []
        for z in range(far + 1):
            exact = z / scale if kind == "laplace" else z * z / (2 * scale * scale)
            weights.append((-Decimal(exact.numerator) / exact.denominator).exp())
        total = 2 * sum(weights) - weights[0]
        return [weights[abs(z)] / total for z in range(-far, far + 1)]


def distance(drawn: np.ndarray, kind: str, scale: Fraction) -> float:
    """Give the greatest gap between the drawn and the exact summed chances."""
    far = int(50 * scale) + 2 if kind == "laplace" else int(12 * scale) + 2
    exact = np.cumsum([float(p) for p in chances(kind, scale, far)])
    seen = np.searchsorted(np.sort(drawn), np.arange(-far, far + 1), side="right") / len(drawn)
    return float(np.abs(seen - exact).max())


# --- scales --------------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_a_scale_is_rounded_up_to_the_next_multiple(value: Fraction) -> None:
    scale = exact_scale(value)
    assert (scale * 256).denominator == 1
    assert value <= scale < value + Fraction(1, 256)
    assert Fraction(float(scale)) == scale


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-1), Fraction(2**40)])
def test_a_scale_that_cannot_be_drawn_is_refused(value: Fraction) -> None:
    with pytest.raises(UsageError):
        exact_scale(value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_scale_that_a_float_would_round_is_refused(kind: str) -> None:
    with pytest.raises(UsageError, match="must be a multiple"):
        getattr(NoiseSource(), kind)(3, Fraction(1, 3))


# --- OpenDP --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_whole_numbers_and_as_many_as_asked(kind: str) -> None:
    for size in (0, 1, 7):
        drawn = getattr(NoiseSource(), kind)(size, Fraction(5, 2))
        assert drawn.dtype == np.int64
        assert drawn.shape == (size,)


@pytest.mark.parametrize("kind", KINDS)
def test_no_part_is_drawn_twice(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PART", 50)
    drawn = getattr(NoiseSource(), kind)(175, Fraction(1000))
    parts = [tuple(drawn[begin : begin + 25]) for begin in range(0, 175, 25)]
    assert drawn.shape == (175,)
    assert len(set(parts)) == 7


def test_opendp_says_the_same_cost() -> None:
    dp.enable_features("contrib")
    laplace = ThresholdedCounts("laplace", exact_scale(Fraction(61, 3)), 9, contribution_bound=7)
    made = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), float(laplace.scale)
    )
    assert made.map(7) == pytest.approx(float(laplace.epsilon), rel=1e-12)
    gaussian = ThresholdedCounts("gaussian", exact_scale(Fraction(61, 3)), 9, contribution_bound=9)
    made = dp.m.make_gaussian(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), float(gaussian.scale)
    )
    assert made.map(3.0) == pytest.approx(float(gaussian.rho), rel=1e-12)


# --- the stream that can be repeated -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(85, 2)])
def test_repeatable_noise_follows_the_formula(kind: str, scale: Fraction) -> None:
    size = 20_000
    drawn = getattr(NoiseSource(RandomSource(seed=4).uint64s), kind)(size, scale)
    # Dvoretzky, Kiefer, Wolfowitz: a gap beyond this has a chance of 1e-6.
    assert distance(drawn, kind, scale) < sqrt(log(2e6) / (2 * size))
    narrow = getattr(NoiseSource(RandomSource(seed=4).uint64s), kind)(size, scale * Fraction(4, 5))
    assert distance(narrow, kind, scale) > sqrt(log(2e6) / (2 * size))


@pytest.mark.parametrize("kind", KINDS)
def test_repeatable_noise_is_the_same_again(kind: str) -> None:
    first, second = (getattr(NoiseSource(RandomSource(seed=9).uint64s), kind) for _ in range(2))
    assert first(100, Fraction(8)).tolist() == second(100, Fraction(8)).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_repeatable_noise_has_the_exact_chances(kind: str) -> None:
    """A number of the stream falls on the integer whose summed chances hold it."""
    scale, far = Fraction(3, 2), 80
    with localcontext(prec=40):
        edges = np.cumsum(chances(kind, scale, far))
        middles = [(low + high) / 2 for low, high in pairwise(edges)]
        numbers = [int(m * 2**64) for m in middles]
    wanted = range(-far + 1, far + 1)
    near = [(number, z) for number, z in zip(numbers, wanted, strict=True) if abs(z) < 8]
    stream = np.array([number for number, _ in near], np.uint64)
    drawn = getattr(NoiseSource(lambda size: stream[:size]), kind)(len(stream), scale)
    assert drawn.tolist() == [z for _, z in near]


@pytest.mark.parametrize("kind", KINDS)
def test_the_ends_of_the_stream_are_the_ends_of_the_noise(kind: str) -> None:
    ends = np.array([0, 2**64 - 1, 2**63], np.uint64)
    low, high, middle = getattr(NoiseSource(lambda size: ends[:size]), kind)(3, Fraction(2))
    assert low < -15 < 15 < high
    assert abs(middle) <= 1
