"""Releases are added up between logs of one relation, and never count for too little."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.losses import Loss
from queryveil.errors import BudgetError, UsageError, VerificationError
from queryveil.ledger import store as files
from queryveil.ledger.entries import LedgerEntry, charge_in, replaced_delta
from queryveil.ledger.events import entry_of, read_row
from queryveil.ledger.ledger import Ledger
from queryveil.ledger.store import ChainHead, canonical_json, chain_hash
from queryveil.methods.base import parse_method

ADD = {"kind": "dp", "method": "counts", "log_digest": "ab12", "relation": "add-remove"}
REPLACE = {"kind": "dp", "method": "words", "log_digest": "ab12", "relation": "replace-one"}
epsilons = st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100)
deltas = st.integers(2, 30).map(lambda power: Fraction(1, 10**power))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(files, "_SYNC", "OFF")
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return tmp_path / "ledger.db"


@pytest.mark.parametrize("kind", ["dp", "conditional-dp"])
def test_a_limit_of_two_does_not_take_a_loss_of_three(place: Path, kind: str) -> None:
    with Ledger.open(place) as ledger:
        ledger.set_limit(Fraction(2), Fraction("1e-6"))
        ledger.reserve(**ADD, epsilon=Fraction(1), delta=Fraction("1e-9"))
        assert ledger.spent() == (2, replaced_delta(Fraction(1), Fraction("1e-9")))
        with pytest.raises(BudgetError, match="needs epsilon 1, but 0 is left"):
            ledger.reserve(**REPLACE | {"kind": kind}, epsilon=Fraction(1))
        with pytest.raises(BudgetError, match="needs epsilon 2 counted for replace-one"):
            ledger.reserve(**ADD, epsilon=Fraction(1))
        assert len(ledger.entries()) == 1


def test_both_totals_are_told(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.reserve(**ADD, epsilon=Fraction(1), delta=Fraction("1e-9"))
        assert ledger.spent_in("add-remove") == (1, Fraction("1e-9"))
        assert ledger.spent_in("replace-one").epsilon == 2
        ledger.reserve(**REPLACE, epsilon=Fraction(1))
        assert ledger.spent_in("add-remove") is ledger.composed_in("add-remove") is None
        assert ledger.spent_in("replace-one").epsilon == ledger.spent().epsilon == 3


def test_there_is_no_way_back_from_replacing(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.set_limit(Fraction(9), Fraction("1e-6"), relation="add-remove")
        ledger.reserve(**ADD, epsilon=Fraction(1), delta=Fraction("1e-9"))
        assert ledger.spent() == (1, Fraction("1e-9"))
        for more in (REPLACE, ADD | {"relation": None}):
            with pytest.raises(BudgetError, match="promises nothing there"):
                ledger.reserve(**more, epsilon=Fraction(1))
        ledger.set_limit(Fraction(9), Fraction("1e-6"))
        ledger.reserve(**REPLACE, epsilon=Fraction(1))
        with pytest.raises(UsageError, match="promise nothing for add-remove"):
            ledger.set_limit(Fraction(9), Fraction("1e-6"), relation="add-remove")
        for wrong in ({"relation": "swap"}, {"composition": "luck"}):
            with pytest.raises(UsageError, match="is no"):
                ledger.set_limit(Fraction(9), Fraction(0), **wrong)
        with pytest.raises(UsageError, match="is no neighboring relation"):
            ledger.reserve(**REPLACE | {"relation": "swap"}, epsilon=Fraction(1))


def test_what_does_not_tell_its_relation_counts_as_the_dearest(place: Path) -> None:
    with Ledger.open(place) as ledger:
        loss = [Loss("add-remove", Fraction(1, 100)), Loss("replace-one", Fraction(1, 100))]
        ledger.reserve(**ADD | {"relation": None}, epsilon=Fraction(1), losses=loss)
        assert ledger.spent() == (2, 0)
        ledger.set_limit(Fraction(2), Fraction(1, 10))
        assert ledger.remaining() == (0, Fraction(1, 10))  # no loss counts for it
        assert any("without a neighboring relation" in text for text in ledger.warnings())


def test_recorded_losses_make_room(place: Path) -> None:
    losses = parse_method("dp-statistics").guarantee().losses
    with Ledger.open(place) as ledger:
        ledger.set_limit(Fraction(4), Fraction("12e-9"), relation="add-remove")
        for _ in range(12):
            ledger.reserve(**ADD, epsilon=Fraction(1), delta=Fraction("1e-9"), losses=losses)
        assert ledger.spent() == (12, Fraction("12e-9"))
        assert 3.4 < float(ledger.composed_in("add-remove").epsilon) < 3.46
        with pytest.raises(BudgetError, match="delta"):  # half of it is for chances, and used up
            ledger.reserve(**ADD, epsilon=Fraction(1), delta=Fraction("1e-9"), losses=losses)
        ledger.set_limit(Fraction(4), Fraction("12e-9"), relation="add-remove", composition="sum")
        assert ledger.remaining() == (0, 0)
        with pytest.raises(UsageError, match="no noise fits"):
            ledger.set_limit(Fraction(4), Fraction(0), composition="renyi")


def test_a_refusal_at_an_order_has_few_digits(place: Path) -> None:
    losses = parse_method("dp-statistics").guarantee().losses
    with Ledger.open(place) as ledger:
        ledger.set_limit(Fraction("1.5"), Fraction("1e-6"), composition="renyi")
        cost = {"epsilon": Fraction(1), "delta": Fraction("1e-9"), "losses": losses}
        ledger.reserve(**ADD, **cost)
        with pytest.raises(BudgetError, match=r"about 0\.[0-9]{6} counted") as refused:
            ledger.reserve(**ADD, **cost)
        assert not re.search("[0-9]{12}", refused.value.what)


def test_a_limit_of_one_release_takes_it_and_no_second(place: Path) -> None:
    for line in ("dp-statistics", "dp-statistics:max-queries-per-user=1", "click-graph"):
        promise = parse_method(line).guarantee()
        cost = {name: Fraction(repr(getattr(promise, name))) for name in ("epsilon", "delta")}
        place.unlink(missing_ok=True)
        with Ledger.open(place) as ledger:
            ledger.set_limit(*cost.values(), relation="add-remove")
            ledger.reserve(**ADD, **cost, losses=promise.losses)
            with pytest.raises(BudgetError):
                ledger.reserve(**ADD, **cost, losses=promise.losses)


@settings(max_examples=60, deadline=None)
@given(epsilons, deltas, epsilons, deltas, st.booleans())
def test_conversion_rises_and_never_counts_too_little(
    e1: Fraction, d1: Fraction, e2: Fraction, d2: Fraction, known: bool
) -> None:
    low, high = ((min(e1, e2), min(d1, d2)), (max(e1, e2), max(d1, d2)))
    costs = [charge_in(entry(*one, known), "replace-one") for one in (low, high)]
    assert costs[0].epsilon <= costs[1].epsilon
    assert costs[0].delta <= costs[1].delta
    for (epsilon, delta), cost in zip((low, high), costs, strict=True):
        assert cost.epsilon == 2 * epsilon
        # Two steps, each (epsilon, delta): P <= e^eps P' + d <= e^eps (e^eps P'' + d) + d.
        bound = float(epsilon) < 700 and (1 + 2.718281828459045 ** float(epsilon)) * float(delta)
        assert float(cost.delta) >= min(1.0, bound) * (1 - 1e-12)
        assert cost.delta <= 1


def entry(epsilon: Fraction, delta: Fraction, known: bool) -> LedgerEntry:
    row = {"event": "charged", "entry": 1, "time": "2026-01-01T00:00:00+00:00", "kind": "dp",
           "method": "m", "recipe": "m", "log": "x", "epsilon": str(epsilon), "delta": str(delta),
           "notes": [], "extra": {}, "extends": None, "losses": [],
           "relation": "add-remove" if known else None}  # fmt: skip
    return entry_of(read_row(row))


# --- ledgers from before -------------------------------------------------------------------------


def write(place: Path, *events: dict[str, Any]) -> None:
    """Write events as they are, chained rightly."""
    with Ledger.open(place) as ledger, ledger._file.transaction("add"):
        head = ledger._head
        for event in events:
            full = {"time": "2026-01-01T00:00:00+00:00", **event}
            ledger._file.append(head, full)
            head = ChainHead(head.number + 1, chain_hash(head, canonical_json(full)))


def old(number: int, method: str, **more: Any) -> dict[str, Any]:
    plain = {"event": "reserved", "entry": number, "kind": "dp", "method": method, "recipe": "m",
             "log": "x", "epsilon": "1", "delta": "0", "notes": [], "extra": {}}  # fmt: skip
    return plain | more


def test_an_old_ledger_keeps_all_that_was_spent(place: Path) -> None:
    limit = {"event": "limited", "epsilon": "6", "delta": "0"}
    write(place, limit, old(1, "dp-statistics:epsilon=1"), old(2, "semantic-replacement"),
          old(3, "of-mine"), old(4, "semantic-replacement", event="extended", extends=2,
                                 epsilon="0"))  # fmt: skip
    with Ledger.open(place, create=False) as ledger:
        known = ["add-remove", "replace-one", None, "replace-one"]
        assert [one.relation for one in ledger.entries()] == known
        assert ledger.spent() == (2 + 1 + 2, 0)
        assert ledger.remaining() == (1, 0)
        assert ledger.limit().composition == "sum"
        ledger.reserve(**REPLACE, epsilon=Fraction(1))
        with pytest.raises(BudgetError):
            ledger.reserve(**REPLACE, epsilon=Fraction(1, 100))


@pytest.mark.parametrize(
    "more",
    [
        {"relation": "swap"},
        {"relation": 1},
        {"epsilon": "-1"},
        {"delta": "-1/10"},
        {"losses": [{"relation": "replace-one", "rho": "-1", "delta": "0"}]},
        {"losses": [{"relation": "replace-one", "rho": "1e9999999", "delta": "0"}]},
        {"losses": [{"relation": "replace-one", "rho": "1", "delta": "2"}]},
        {"losses": [{"rho": "1"}]},
        {"losses": None},
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(place: Path, more: dict[str, Any]) -> None:
    event = old(1, "m", event="charged", extends=None, relation="replace-one", losses=[]) | more
    write(place, event)
    with pytest.raises(VerificationError, match="row 2 is no event"):
        Ledger.open(place, create=False)


@pytest.mark.parametrize(
    "more", [{"order": "1"}, {"order": "-3"}, {"composition": "luck"}, {"relation": "swap"}]
)
def test_a_limit_that_makes_no_sense_is_refused(place: Path, more: dict[str, Any]) -> None:
    limit = {"event": "bounded", "epsilon": "1", "delta": "1/100", "relation": "replace-one",
             "composition": "either", "order": "20"}  # fmt: skip
    write(place, limit | more)
    with pytest.raises(VerificationError, match="row 2 is no event"):
        Ledger.open(place, create=False)
