"""What releases cost together: never less than what is true, and near what is best."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from queryveil.dp.accounting import zcdp_delta
from queryveil.dp.composition import Charge, added, best_order, composed, price_of_delta
from queryveil.dp.losses import Loss, exp_above, losses_of, pure_rho, rounded_up
from queryveil.errors import UsageError
from queryveil.ledger.limits import Budget, Limit
from queryveil.methods.base import parse_method

SOME = settings(max_examples=60, deadline=None)
epsilons = st.fractions(min_value=Fraction(1, 100), max_value=12, max_denominator=100)
deltas = st.integers(1, 30).map(lambda power: Fraction(1, 10**power))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Delta of Gaussian noise, exactly (Balle and Wang 2018)."""
    far, near = -epsilon / mu - mu / 2, -epsilon / mu + mu / 2
    return float(norm.cdf(near) - math.exp(epsilon + norm.logcdf(far)))


def default_charge(relation: int = 0) -> Charge:
    promise = parse_method("dp-statistics").guarantee()
    loss = promise.losses[relation]
    return Charge(Fraction(1), Fraction("1e-9"), loss.rho, loss.delta)


@pytest.mark.parametrize(("releases", "says"), [(12, 3.46), (52, 7.44)])
def test_many_default_releases_cost_far_less_than_their_sum(releases: int, says: float) -> None:
    one = default_charge()
    delta = releases * Fraction("1e-9")
    found = float(composed([one] * releases, delta))
    assert found <= says < releases / 3
    # The same by other code: zCDP in floats, and what Gaussian noise of this size costs at least.
    left = float(delta - releases * one.rho_delta)
    rho = releases * float(one.rho)
    again = brentq(lambda e: float(zcdp_delta(np.array([rho]), e)[0]) - left, 0.01, 50)
    assert found == pytest.approx(again, rel=1e-4)
    mu = math.sqrt(2 * rho)
    least = brentq(lambda e: gaussian_delta(mu, e) - left, 0.01, 50)
    assert least < found < 1.06 * least


def test_one_release_costs_what_it_promises() -> None:
    for line in ("dp-statistics", "dp-statistics:selection=gaussian", "dp-statistics:epsilon=4"):
        method = parse_method(line)
        promise = method.guarantee()
        epsilon, delta = Fraction(repr(promise.epsilon)), Fraction(repr(promise.delta))
        loss = promise.losses[0]
        alone = composed([Charge(Fraction(10**6), Fraction(1), loss.rho, loss.delta)], delta)
        assert Fraction(9, 10) * epsilon < alone <= epsilon


@SOME
@given(epsilons, st.integers(1, 24), st.integers(1, 9).map(lambda power: Fraction(1, 10**power)))
def test_coins_that_lie_are_never_undercounted(
    epsilon: Fraction, number: int, delta: Fraction
) -> None:
    """Randomized response costs most of all that keeps a pure epsilon; its sum is known exactly."""
    found = float(composed([Charge(epsilon, Fraction(0))] * number, delta))
    assert found <= float(number * epsilon)
    assert _coins_delta(float(epsilon), number, found) <= float(delta) * (1 + 1e-9) + 1e-12


def _coins_delta(epsilon: float, number: int, at: float) -> float:
    right = 1 / (1 + math.exp(-epsilon))
    total = 0.0
    for hits in range(number + 1):
        ways = math.comb(number, hits)
        one = ways * right**hits * (1 - right) ** (number - hits)
        two = ways * right ** (number - hits) * (1 - right) ** hits
        total += max(0.0, one - math.exp(at) * two)
    return total


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 2, 3]), min_size=127, max_size=127),
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)]),
)
def test_a_limit_holds_if_costs_are_chosen_in_view_of_the_outputs(
    policy: list[int], most: Fraction
) -> None:
    """Walk all outcomes of coins whose epsilons a policy picks by what was seen so far."""
    prices = [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10), Fraction(1)]
    delta = Fraction(1, 100)
    limit = Limit.of(Budget(most, delta), "replace-one", "renyi")
    assert limit.order is not None
    broken = 0.0
    for bits in product((0, 1), repeat=7):
        charges: list[Charge] = []
        with_, without, node = 1.0, 1.0, 0
        weight = 2.0**-(7)
        for depth, bit in enumerate(bits):
            charge = Charge(prices[policy[node]], Fraction(0))
            spent = Budget(Fraction(0), Fraction(0))
            (room,) = limit.rooms(spent, limit.at_order(charges))
            if room.refusal(charge, "") is not None:
                weight = 2.0 ** -(7 - depth)  # the rest of the bits changes nothing
                break
            charges.append(charge)
            lie = 1 / (1 + math.exp(float(charge.epsilon)))
            with_ *= lie if bit else 1 - lie
            without *= 1 - lie if bit else lie
            node = 2 * node + 1 + bit
            weight = 2.0 ** -(7 - depth - 1)
        broken += weight * max(0.0, with_ - math.exp(float(most)) * without)
    assert broken <= float(delta)


@SOME
@given(st.fractions(min_value=Fraction(65, 64), max_value=5000, max_denominator=64), deltas)
def test_the_price_of_delta_is_rounded_up(order: Fraction, delta: Fraction) -> None:
    with localcontext(prec=80):
        a, d = (Decimal(x.numerator) / x.denominator for x in (order, delta))
        exact = (1 - 1 / a).ln() - (a * d).ln() / (a - 1)
        found = price_of_delta(order, delta)
        bound = Decimal(found.numerator) / found.denominator
        assert exact <= bound <= exact + abs(exact) * Decimal("1e-15") + Decimal("1e-15")


@SOME
@given(st.fractions(min_value=0, max_value=900), st.integers(1, 20))
def test_numbers_are_rounded_up(value: Fraction, digits: int) -> None:
    with localcontext(prec=80):
        exact = (Decimal(value.numerator) / value.denominator).exp()
        found = exp_above(value)
        assert (
            exact <= Decimal(found.numerator) / found.denominator <= exact * Decimal("1.0000000001")
        )
    assert value <= rounded_up(value, digits) <= value * (1 + Fraction(10, 10**digits))


@SOME
@given(st.lists(st.tuples(epsilons, deltas, epsilons), max_size=6), deltas)
def test_more_releases_never_cost_less(
    given_: list[tuple[Fraction, Fraction, Fraction]], delta: Fraction
) -> None:
    charges = [Charge(e, d, rho / 10, d / 2) for e, d, rho in given_]
    costs = [composed(charges[:n], delta) for n in range(len(charges) + 1)]
    known = [cost for cost in costs if cost is not None]
    assert costs[: len(known)] == known  # once nothing is proved, nothing is proved any more
    order = best_order(Fraction(1), delta)
    if order is not None:
        sums = [added(charges[:n], order).divergence for n in range(len(charges) + 1)]
        assert sums == sorted(sums)
    plain = sum((c.epsilon for c in charges), Fraction(0))
    if costs[-1] is not None and sum(c.delta for c in charges) <= delta:
        assert costs[-1] <= plain


def test_without_a_delta_epsilons_are_added() -> None:
    charges = [Charge(Fraction(1, 3), Fraction(0), Fraction(1, 1000))] * 4
    assert composed(charges, Fraction(0)) == Fraction(4, 3)
    assert composed([], Fraction(0)) == 0
    assert composed([Charge(Fraction(1), Fraction(1, 10))], Fraction(1, 100)) is None
    assert composed([Charge(Fraction(10**400), Fraction(0))], Fraction(1, 100)) == 10**400


def test_a_loss_is_stored_rounded_up() -> None:
    loss = Loss("replace-one", Fraction(1, 3), Fraction(10**20 + 1, 10**30))
    assert loss.rho == Fraction("0.333333333334")
    assert Loss.from_dict(loss.to_dict()) == loss
    assert loss.delta > Fraction(1, 10**10)
    assert [one.rho for one in losses_of(Fraction(1, 2))] == [Fraction(1, 2), 1]
    assert pure_rho(Fraction(2)) == 2
    for wrong in (("other", Fraction(1)), ("add-remove", Fraction(-1))):
        with pytest.raises(UsageError):
            Loss(*wrong)
