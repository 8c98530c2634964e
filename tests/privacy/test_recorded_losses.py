"""The losses that the ledger adds up, computed again from scales and thresholds alone."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import queryveil as qv
from queryveil.dp.composition import Charge, added, composed
from queryveil.dp.losses import Loss
from queryveil.ledger.entries import LedgerEntry, charge_in

EPSILON, DELTA = 1.0, 1e-6
BUDGET = f"epsilon={EPSILON:g}:delta={DELTA:g}"


def laplace_tail(scale: float, least: int) -> float:
    """Return the chance that discrete Laplace noise is at least so much, for `least` > 0."""
    ratio = math.exp(-1 / scale)
    return ratio**least / (1 + ratio)


def gaussian_tail(scale: float, least: int) -> float:
    weights = [math.exp(-(z * z) / (2 * scale * scale)) for z in range(int(12 * scale))]
    return sum(weights[least:]) / (2 * sum(weights) - 1)


def losses(spec: str) -> tuple[Loss, Loss]:
    one, other = qv.parse_method(spec).guarantee().losses
    assert (one.relation, other.relation) == ("add-remove", "replace-one")
    assert float(other.rho) == pytest.approx(2 * float(one.rho), rel=1e-9)
    assert other.delta == one.delta
    return one, other


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_tables_with_thresholds(noise: str) -> None:
    bounds = "max-queries-per-user=20:max-clicks-per-user=20"
    method = qv.parse_method(f"dp-statistics:selection={noise}:{BUDGET}:{bounds}")
    tables = [method.mechanisms().queries, method.mechanisms().clicks]
    tables.append(method.mechanisms().transitions)
    tail = {"laplace": laplace_tail, "gaussian": gaussian_tail}[noise]
    scales = [
        one.scale for one in method.table_noise({"queries": 1, "clicks": 1, "transitions": 1})
    ]
    rho = sum(20 / (2 * scale**2) for scale in scales)
    own = sum(20 * tail(float(one.scale), one.threshold - 1) for one in tables)
    loss, _ = losses(str(method))
    assert float(loss.rho) == pytest.approx(rho, rel=1e-6)
    assert own <= float(loss.delta) < 1.05 * own  # tails are bounded from above
    assert 0 < loss.delta < DELTA


@pytest.mark.parametrize("results", [False, True])
def test_click_graph(results: bool, tmp_path) -> None:
    (tmp_path / "results.tsv").write_text("hotel\thttp://a.example\n")
    files = f":public-results={tmp_path / 'results.tsv'}" if results else ""
    spec = f"click-graph:{BUDGET}:max-queries-per-user=3:max-clicks-per-user=2{files}"
    method = qv.parse_method(spec)
    choice = method.selection()
    # A pure epsilon for the choice and for each table of fresh counts; together epsilon.
    parts = [3 / float(choice.scale)]
    parts += [{"queries": 3, "clicks": 2}[one.table] / one.scale
              for one in method.table_noise({"queries": 1, "clicks": 1})]  # fmt: skip
    assert len(parts) == 2 + results
    assert sum(parts) == pytest.approx(EPSILON, rel=1e-9)
    above = [laplace_tail(float(choice.scale), choice.threshold + 1 - n) for n in (1, 3)]
    loss, _ = losses(spec)
    assert float(loss.rho) == pytest.approx(sum(part**2 / 2 for part in parts), rel=1e-9)
    assert float(loss.delta) == pytest.approx(max(3 * above[0], above[1]), rel=1e-6)


def test_replacement_with_a_delta() -> None:
    """Each slot has a bounded range; with a delta its loss is more than epsilon^2 / 2m."""
    method = qv.parse_method(f"semantic-replacement:{BUDGET}:max-phrases-per-user=100")
    (loss,) = method.guarantee().losses
    reach = (
        2 * method.phrase_budget.range_bound
    )  # the range of one slot, which costs its square / 8
    assert loss.relation == "replace-one"
    assert float(loss.rho) >= 100 * reach**2 / 8 * (1 - 1e-9)
    assert loss.rho > Fraction(1, 200)  # what m slots of epsilon / m would cost


def test_without_a_recorded_loss_the_whole_delta_is_aside() -> None:
    plain = Charge(Fraction(1), Fraction(1, 10**6))
    for order in (Fraction(3, 2), Fraction(40)):
        assert plain.at(order).delta == Fraction(1, 10**6)
        assert added([plain] * 5, order).delta == Fraction(5, 10**6)
    assert composed([plain] * 5, Fraction(4, 10**6)) is None
    recorded = Charge(Fraction(1), Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 10**9))
    assert recorded.at(Fraction(2)).delta == Fraction(1, 10**9)


def entry(*recorded: Loss) -> LedgerEntry:
    return LedgerEntry(
        number=1, time="", kind="dp", method="of others", method_spec="", log_digest="",
        epsilon=Fraction(1), delta=Fraction(1, 10**6), relation="add-remove", losses=recorded,
    )  # fmt: skip


def test_a_loss_for_adding_is_four_times_for_replacing_or_none() -> None:
    charge = charge_in(entry(Loss("add-remove", Fraction(1, 50))), "replace-one")
    assert charge is not None
    assert (charge.rho, charge.rho_delta) == (Fraction(4, 50), 0)
    aside = Loss("add-remove", Fraction(1, 50), Fraction(1, 10**9))
    charge = charge_in(entry(aside), "replace-one")
    assert charge is not None
    assert charge.rho is None  # nothing is proved of two steps with a chance aside
    assert charge.epsilon == 2
