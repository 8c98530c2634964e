"""A reservation: recorded at the right time, confirmed once, and copied when written again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from queryveil.errors import QueryveilError
from queryveil.ledger import EntryDetails, Ledger, LedgerEntry, Reservation
from queryveil.ledger.groups import OTHER_GROUPS_NOTE
from queryveil.ledger.reservation import LedgerReference

NOTHING = (None, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def paid(path: Path | None) -> Reservation:
    cost = (Fraction(2), Fraction(0))
    return Reservation(path, "dp", "m", "r", "d", cost, relation="replace-one")


def grouped(path: Path | None, **details: str) -> Reservation:
    return Reservation(path, "k-anonymity", "m", "r", "d", NOTHING, details=EntryDetails(**details))


def entries(path: Path) -> list[LedgerEntry]:
    with Ledger.open(path, create=False) as ledger:
        return ledger.entries()


def test_a_budget_is_reserved_before_anything_else(path: Path, tmp_path: Path) -> None:
    planned = paid(path)
    assert planned.spends_budget
    assert not path.exists()
    reserved = planned.reserve()
    assert [(e.state, e.epsilon) for e in entries(path)] == [("reserved", 2)]
    assert (planned.number, reserved.number) == (None, 1)
    assert reserved.record_writing() == ()
    reserved.confirm("abc", tmp_path / "out")
    (entry,) = entries(path)
    assert (entry.state, entry.release_digest, entry.folder) == (
        "confirmed", "abc", str(tmp_path / "out"),
    )  # fmt: skip


def test_each_reserve_is_a_release_of_its_own(path: Path, tmp_path: Path) -> None:
    planned = paid(path)
    one, two = planned.reserve(), planned.reserve()
    one.confirm("a", tmp_path / "one")
    two.confirm("b", tmp_path / "two")
    assert [(e.state, e.release_digest) for e in entries(path)] == [
        ("confirmed", "a"), ("confirmed", "b"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["none", "k-anonymity", "dp"])
def test_written_twice_is_a_copy(path: Path, tmp_path: Path, kind: str) -> None:
    made = paid(path).reserve() if kind == "dp" else replace(grouped(path), kind=kind)
    for number, digest in enumerate("abc"):
        made.record_writing()
        made.confirm(digest, tmp_path / digest)
        assert len(entries(path)) == number + 1
    assert [(e.state, e.copy_of) for e in entries(path)] == [
        ("confirmed", None), ("copied", 1), ("copied", 1),
    ]  # fmt: skip


def test_other_groups_are_noted_by_the_later_of_two(path: Path, tmp_path: Path) -> None:
    first, second = grouped(path), grouped(path)
    assert first.record_writing() == ()
    assert second.record_writing() == (OTHER_GROUPS_NOTE,)  # the first is being written
    first.confirm("a", tmp_path / "a")
    kept = grouped(path, groups_of="a")
    assert kept.record_writing() == (OTHER_GROUPS_NOTE,)  # of the second
    assert [e.state for e in entries(path)] == ["confirmed", "reserved", "reserved"]


def test_kept_groups_are_no_other_groups(path: Path, tmp_path: Path) -> None:
    first = grouped(path)
    first.record_writing()
    first.confirm("a", tmp_path / "a")
    kept = grouped(path, groups_of="a")
    assert kept.record_writing() == ()
    assert kept.record_writing() == ()  # written again: still its own entry
    assert len(entries(path)) == 2


def test_without_a_ledger_nothing_is_recorded(tmp_path: Path) -> None:
    made = replace(grouped(None), why_not="read-only").reserve()
    assert made.record_writing() == ()
    made.confirm("a", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    assert made.reference() == LedgerReference(not_recorded_because="read-only")


def test_only_what_was_paid_must_be_confirmed(path: Path, tmp_path: Path) -> None:
    reserved = paid(path).reserve()
    path.write_bytes(b"no ledger")
    with pytest.raises(QueryveilError):
        reserved.confirm("a", tmp_path / "a")
    free = replace(grouped(path), kind="none")
    free.confirm("a", tmp_path / "a")  # nothing is lost but the record of the folder
    with pytest.raises(QueryveilError):  # whether others have other groups would be unknown
        grouped(path).record_writing()


def test_no_folder_for_a_ledger_is_no_reason_to_stop(tmp_path: Path) -> None:
    made = grouped(tmp_path / "missing" / "deeper" / "ledger.db")
    (tmp_path / "missing").write_text("a file, so that no folder can be made there")
    assert made.record_writing() == ()
    made.confirm("a", tmp_path / "a")


def test_the_section_of_the_card(path: Path) -> None:
    reserved = replace(paid(path), notes=("seen",)).reserve()
    assert reserved.reference() == LedgerReference(str(path), 1, ("seen",))
    further = replace(reserved, extends=1, details=EntryDetails(max_contributions=4))
    assert further.reference() == LedgerReference(
        str(path), 1, ("seen",), extends=1, max_contributions=4
    )
    assert "digest" not in repr(reserved)
