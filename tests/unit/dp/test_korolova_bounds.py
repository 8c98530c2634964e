"""The formulas of Korolova et al. 2009, with the numbers of SPEC 4.3."""

from __future__ import annotations

from itertools import product
from math import exp, expm1, log, log1p

import pytest

from queryveil.dp.occurrence_counts import (
    exact_delta,
    exact_epsilon,
    published_privacy_loss,
    published_threshold,
)
from queryveil.errors import UsageError

EPSILON, DELTA = log(10), 1e-5
TABLE = {
    1: 5.70, 2: 12.0, 5: 31.99, 10: 66.99, 20: 140.0, 40: 292.0, 80: 608.2, 160: 1264.5,
}  # fmt: skip


@pytest.mark.parametrize(("d", "threshold"), TABLE.items())
def test_published_thresholds(d: int, threshold: float) -> None:
    assert published_threshold(d, EPSILON, DELTA) == pytest.approx(threshold, abs=0.05)


@pytest.mark.parametrize("d", TABLE)
def test_a_published_threshold_costs_what_it_was_made_for(d: int) -> None:
    epsilon, delta = published_privacy_loss(d, published_threshold(d, EPSILON, DELTA), d / EPSILON)
    assert epsilon == pytest.approx(EPSILON)
    assert delta == pytest.approx(DELTA)


def test_the_confirmed_case_of_one_query() -> None:
    epsilon, delta = published_privacy_loss(1, 5.70, 0.434)
    assert epsilon == pytest.approx(log(10), rel=1e-2)
    assert delta == pytest.approx(1e-5, rel=2e-2)


@pytest.mark.parametrize(
    ("threshold", "scale", "loss"), [(10, 10, 0.227), (500, 500, 0.204), (10, 500, 0.675)]
)
def test_the_second_term_matters_for_much_noise(
    threshold: float, scale: float, loss: float
) -> None:
    assert published_privacy_loss(1, threshold, scale)[0] == pytest.approx(loss, abs=5e-4)


def test_no_threshold_is_too_high_for_the_formula() -> None:
    assert published_privacy_loss(1, 10**7, 1.0) == (1.0, 0.0)


@pytest.mark.parametrize(("d", "delta"), [(20, 1.1e-6), (5, 2e-6)])
def test_the_tight_delta_at_the_published_threshold(d: int, delta: float) -> None:
    threshold, scale = published_threshold(d, EPSILON, DELTA), d / EPSILON
    assert exact_delta(d, threshold, scale) == pytest.approx(delta, rel=0.04)
    assert exact_epsilon(d, threshold, scale) == pytest.approx(EPSILON)


def parts_of(d: int, most: int) -> list[tuple[int, ...]]:
    """Give all ways to write numbers up to d as falling sums."""
    ways: list[tuple[int, ...]] = [()]
    for first in range(1, min(d, most) + 1):
        ways += [(first, *rest) for rest in parts_of(d - first, first)]
    return ways


@pytest.mark.parametrize(
    ("d", "threshold", "scale"),
    [*product((1, 3, 8), (8.0, 12.5, 40.0), (0.7, 4.0, 30.0))],
)
def test_tight_bounds_hold_for_every_way_to_spread_a_users_queries(
    d: int, threshold: float, scale: float
) -> None:
    def shows(t: int) -> float:
        return exp((t - threshold) / scale) / 2

    hides = [sum(log1p(-shows(t)) for t in way) for way in parts_of(d, d)]
    most_delta = max(-expm1(hidden) for hidden in hides)
    spent = [(d - sum(way)) / scale - hidden
             for way, hidden in zip(parts_of(d, d), hides, strict=True)]  # fmt: skip
    delta, epsilon = exact_delta(d, threshold, scale), exact_epsilon(d, threshold, scale)
    assert most_delta <= delta * (1 + 1e-12)
    assert delta <= published_privacy_loss(d, threshold, scale)[1] * (1 + 1e-12)
    assert max(spent) <= epsilon * (1 + 1e-12)
    assert epsilon == pytest.approx(max(spent))


@pytest.mark.parametrize(
    ("d", "epsilon", "delta"), [(0, 1.0, 0.1), (1, 0.0, 0.1), (1, 1.0, 0.0), (1, 1.0, 0.6)]
)
def test_what_has_no_threshold_is_refused(d: int, epsilon: float, delta: float) -> None:
    with pytest.raises(UsageError, match="no threshold"):
        published_threshold(d, epsilon, delta)


@pytest.mark.parametrize(("d", "threshold", "scale"), [(0, 5.0, 1.0), (6, 5.0, 1.0), (1, 5.0, 0.0)])
@pytest.mark.parametrize("bound", [published_privacy_loss, exact_delta, exact_epsilon])
def test_bounds_that_do_not_hold_are_refused(bound, d, threshold, scale) -> None:
    with pytest.raises(UsageError, match="do not hold"):
        bound(d, threshold, scale)
