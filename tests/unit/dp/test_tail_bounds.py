"""Tails are bounds from above, close ones, and thresholds are the least that keep a chance."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.accounting import gaussian_tail, laplace_tail, min_threshold
from queryveil.errors import UsageError

SCALES = st.integers(64, 256 * 30).map(lambda n: Fraction(n, 256))


def exact(kind: str, scale: Fraction, least: int) -> Fraction:
    """Add the chances up one by one, with more digits than the code has."""
    far = int(110 * scale) + least + 20 if kind == "laplace" else int(25 * scale) + least + 20
    with localcontext(prec=80):
        weights = []
        for z in range(far):
            power = z / scale if kind == "laplace" else z * z / (2 * scale * scale)
            weights.append((-Decimal(power.numerator) / power.denominator).exp())
        return Fraction(sum(weights[least:]) / (2 * sum(weights) - weights[0]))


@settings(max_examples=12)
@given(SCALES, st.integers(1, 60))
def test_the_laplace_tail_is_exact_and_rounded_up(scale: Fraction, least: int) -> None:
    true, bound = exact("laplace", scale, least), laplace_tail(scale, least)
    assert true * (1 - Fraction(1, 10**40)) <= bound <= true * (1 + Fraction(1, 10**30))


@settings(max_examples=25)
@given(SCALES, st.integers(1, 200))
def test_the_gaussian_tail_is_a_bound(scale: Fraction, least: int) -> None:
    assert gaussian_tail(scale, least) >= exact("gaussian", scale, least)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(9, 2), Fraction(38)])
@pytest.mark.parametrize("far", [5, 6, 8])
def test_the_gaussian_tail_is_close_where_it_matters(scale: Fraction, far: int) -> None:
    least = int(far * scale)
    true, bound = exact("gaussian", scale, least), gaussian_tail(scale, least)
    assert true <= bound <= true * Fraction(105, 100)


def test_the_gaussian_tail_of_little_noise() -> None:
    """All weights sum up to about 1 there, not to scale * sqrt(2 pi)."""
    true, bound = (tail(Fraction(1, 4), 1) for tail in (lambda s, n: exact("gaussian", s, n),
                                                         gaussian_tail))  # fmt: skip
    assert true <= bound <= true * Fraction(105, 100)


def test_far_out_the_tails_stay_above_zero() -> None:
    for tail in (laplace_tail, gaussian_tail):
        assert 0 < tail(Fraction(1, 4), 10**9) < Fraction(1, 10**1000)


def test_the_chance_of_at_least_zero_is_bounded_too() -> None:
    assert laplace_tail(Fraction(7), 0) >= exact("laplace", Fraction(7), 0)
    assert gaussian_tail(Fraction(7), 0) >= exact("gaussian", Fraction(7), 0)


@settings(max_examples=60)
@given(SCALES, st.integers(2, 40), st.sampled_from((laplace_tail, gaussian_tail)))
def test_thresholds_are_the_least(scale: Fraction, digits: int, tail) -> None:
    chance = Fraction(1, 10**digits)
    found = min_threshold(tail, scale, chance)
    assert tail(scale, found) <= chance
    assert found == 1 or tail(scale, found - 1) > chance


def test_a_threshold_is_at_least_one() -> None:
    assert min_threshold(laplace_tail, Fraction(1), Fraction(1)) == 1


def test_a_threshold_beyond_reason_is_refused() -> None:
    with pytest.raises(UsageError, match="no threshold"):
        min_threshold(laplace_tail, Fraction(2**39), Fraction(1, 10**1000))
