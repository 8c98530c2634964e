"""What noise costs is never said to be less than it is, and not much more."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.accounting import TableLoss, composed_delta, zcdp_delta


def opendp_delta(rho: float, epsilon: float) -> float:
    """Ask OpenDP for its own conversion of the rho of one Gaussian count."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    made = dp.m.make_gaussian(*space, scale=(1 / (2 * rho)) ** 0.5)
    return float(dp.c.make_zCDP_to_approxDP(made).map(1.0).delta(epsilon))


def plain_delta(rho: Fraction, epsilon: Fraction) -> Decimal:
    """Narrow the best order of the formula down, in decimals."""
    with localcontext(prec=30):
        r, e = (Decimal(x.numerator) / x.denominator for x in (rho, epsilon))

        def power(a: Decimal) -> Decimal:
            return (a - 1) * (a * r - e) + a * (1 - 1 / a).ln() - (a - 1).ln()

        low, high = Decimal("1.001"), 5 + 4 * e / r
        for _ in range(100):
            left, right = (2 * low + high) / 3, (low + 2 * high) / 3
            low, high = (low, right) if power(left) < power(right) else (left, high)
        return min(power(low).exp(), Decimal(1))


@pytest.mark.parametrize("rho", [1e-7, 1e-5, 1e-3, 0.012, 0.1, 1.0])
@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0])
def test_zcdp_as_opendp_converts_it(rho: float, epsilon: float) -> None:
    theirs, ours = opendp_delta(rho, epsilon), float(zcdp_delta(np.array([rho]), epsilon)[0])
    assert ours >= theirs * (1 - 1e-12)
    assert ours <= theirs * 1.02 or theirs < 1e-100


def test_zcdp_takes_many_at_once() -> None:
    rho = np.array([1e-3, 0.02, 50.0])
    one_by_one = [float(zcdp_delta(rho[i : i + 1], 1.0)[0]) for i in range(3)]
    assert zcdp_delta(rho, 1.0).tolist() == one_by_one
    assert one_by_one[-1] == 1.0


def test_no_noise_to_account_for_is_no_reason_to_promise_zero() -> None:
    assert float(zcdp_delta(np.array([0.0]), 1.0)[0]) > 0


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 400).map(lambda n: Fraction(n, 40_000)),
            st.integers(1, 100),
            st.integers(3, 14).map(lambda n: Fraction(1, 10**n)),
        ),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 20).map(lambda n: Fraction(n, 20_000)),
    st.sampled_from((Fraction(1, 2), Fraction(1), Fraction(3))),
)
def test_joint_delta_against_the_plain_sum(
    tables: list[tuple[Fraction, int, Fraction]], rest: Fraction, epsilon: Fraction
) -> None:
    parts = [TableLoss(float(rho), keys, float(chance)) for rho, keys, chance in tables]
    shown = sum(keys * chance for _, keys, chance in tables)
    found = composed_delta(parts, float(rest), epsilon)
    with localcontext(prec=30):
        plain = plain_delta(sum(rho for rho, _, _ in tables) + rest, epsilon)
        plain += Decimal(shown.numerator) / shown.denominator
    assert found >= min(float(plain), 1.0)
    if shown < Fraction(1, 1000):  # where epsilon' is near epsilon
        assert found <= float(plain) * 1.08


def test_joint_delta_covers_every_cut_into_lifted_and_hidden_keys() -> None:
    """Each fixed cut costs less than the sum, which holds for cuts that change on the way."""
    parts = [TableLoss(0.004, 6, 1e-7), TableLoss(0.002, 3, 4e-7), TableLoss(0.002, 2, 1e-6)]
    for epsilon in (Fraction(1, 2), Fraction(1)):
        found = composed_delta(parts, 0.0005, epsilon)
        for cut in product(*(range(part.contribution_bound + 1) for part in parts)):
            pairs = list(zip(parts, cut, strict=True))
            rho = sum(part.rho * (1 - t / part.contribution_bound) for part, t in pairs) + 0.0005
            shown = sum(t * part.delta_per_key for part, t in pairs)
            assert float(zcdp_delta(np.array([rho]), float(epsilon))[0]) + shown <= found


def test_leaving_a_user_out_is_paid_for() -> None:
    """The more her keys may show, the less of epsilon is left for the other direction."""
    rarely, often = (
        composed_delta([TableLoss(0.01, 10, p)], 0.0, Fraction(1)) for p in (1e-12, 1e-3)
    )
    hidden = float(zcdp_delta(np.array([0.01]), 1.0)[0])
    assert rarely == pytest.approx(hidden + 1e-11, rel=1e-6)
    assert often - 1e-2 > hidden


def test_keys_that_show_half_of_the_time_have_no_promise() -> None:
    assert composed_delta([TableLoss(1e-6, 5, 0.1)], 0.0, Fraction(1)) == 1.0
