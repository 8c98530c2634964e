"""The ledger counts exactly, forgets nothing, and sees when somebody changed it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from queryveil.dp.budget import format_amount, format_exact, parse_delta, parse_epsilon
from queryveil.errors import (
    BudgetError,
    FormatError,
    InputError,
    OutputError,
    UsageError,
    VerificationError,
)
from queryveil.ledger import store as files
from queryveil.ledger.ledger import Ledger
from queryveil.ledger.limits import Budget
from queryveil.ledger.location import locate_ledger
from queryveil.ledger.store import ChainHead, canonical_json, chain_hash

MANY = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
DP = {
    "kind": "dp",
    "method": "dp-statistics:epsilon=1",
    "log_digest": "ab12",
    "relation": "replace-one",
}
K = {"kind": "k-anonymity", "method": "microaggregation:k=5", "log_digest": "ab12"}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk where the test is about something else."""
    monkeypatch.setattr(files, "_SYNC", "OFF")
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def place(tmp_path: Path, quick: None) -> Path:
    return tmp_path / "ledger.db"


def fill(path: Path, pairs: int) -> None:
    """Write so many releases: rows 2 and 3, 4 and 5, ..."""
    with Ledger.open(path) as ledger:
        for number in range(pairs):
            assert ledger.reserve(**DP, epsilon=Fraction(1, 10)) == number + 1
            ledger.confirm(number + 1, "cd34", f"out{number + 1}")


# --- what an entry is ----------------------------------------------------------------------------


def test_a_release_from_reserve_to_copy(place: Path) -> None:
    with Ledger.open(place) as ledger:
        number = ledger.reserve(
            **DP,
            epsilon=Fraction(1, 3),
            delta=Fraction("1e-7"),
            recipe="all of it",
            notes=["parameters chosen after seeing the data"],
            extra={"users": {"a": "1/3"}},
        )
        (entry,) = ledger.entries()
        assert (number, entry.number, entry.state) == (1, 1, "reserved")
        assert entry.time.utcoffset().total_seconds() == 0
        ledger.confirm(1, "cd34", place.parent / "out")
        (entry,) = ledger.entries()
        assert (entry.state, entry.release_digest) == ("confirmed", "cd34")
        assert entry.folder == str(place.parent / "out")
        assert entry.extra == {"users": {"a": "1/3"}}
        assert ledger.record_copy(1, "out2") == 2
        assert ledger.record_copy(2, "out3") == 3
        copies = ledger.entries()[1:]
        assert [(c.copy_of, c.folder, c.epsilon, c.extra) for c in copies] == [
            (1, "out2", 0, {}), (1, "out3", 0, {}),
        ]  # fmt: skip
        assert ledger.spent() == (Fraction(1, 3), Fraction(1, 10**7))
    with Ledger.open(place) as again:
        assert again.spent() == (Fraction(1, 3), Fraction(1, 10**7))
        assert json.loads(json.dumps(again.entries()[0].to_dict()))["epsilon"] == "1/3"


def test_a_reserved_entry_is_spent_for_ever(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.reserve(**DP, epsilon=Fraction(2))
    with Ledger.open(place) as ledger:
        assert ledger.spent() == (2, 0)
        assert any("not confirmed, yet spent: entry 1" in text for text in ledger.warnings())


def test_kinds_without_a_budget(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.confirm(ledger.reserve(**K), "cd", "out")
        assert ledger.warnings() == []
        ledger.record_copy(1, "out2")  # the same bytes: nothing to join
        assert ledger.warnings() == []
        ledger.confirm(ledger.reserve(**K), "cd", "out")
        assert any("do not compose" in text for text in ledger.warnings())
        ledger.reserve(kind="none", method="frequent-queries:min-users=5", log_digest="x")
        assert ledger.entries()[-1].protection == "unprotected"
        assert "1 release is unprotected: no budget covers that" in ledger.warnings()
        assert ledger.spent() == (0, 0)
        ledger.reserve(**{**DP, "kind": "conditional-dp"}, epsilon=Fraction(1))
        assert ledger.spent() == (1, 0)
        assert any("on conditions only" in text for text in ledger.warnings())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epsilon": 0.1}, "not exact"),
        ({"epsilon": True}, "not exact"),
        ({"epsilon": Fraction(0)}, "epsilon is 0"),
        ({"epsilon": Fraction(-1)}, "epsilon is -1"),
        ({"epsilon": Fraction(1), "delta": Fraction(1)}, "delta is 1"),
        ({"epsilon": Fraction(1), "delta": 1e-7}, "not exact"),
        ({"epsilon": Fraction(1, 3**3000)}, "too many digits"),
        ({}, "needs an epsilon"),
        ({"kind": "k-anonymity", "epsilon": Fraction(1)}, "no epsilon"),
        ({"kind": "dq", "epsilon": Fraction(1)}, 'did you mean "dp"'),
        ({"method": "", "epsilon": Fraction(1)}, "method"),
        ({"epsilon": Fraction(1), "notes": [3]}, "note"),
        ({"epsilon": Fraction(1), "extra": {"x": float("nan")}}, "JSON"),
        ({"epsilon": Fraction(1), "extra": {"x": object}}, "JSON"),
        (
            {"epsilon": Fraction(1), "extra": {"x": json.loads("[" * 30 + "1" + "]" * 30)}},
            "too deep",
        ),
    ],
    ids=str,
)
def test_wrong_entries_are_refused_and_not_written(place: Path, wrong: Any, says: str) -> None:
    with Ledger.open(place) as ledger:
        head = ledger.head()
        with pytest.raises(UsageError, match=says):
            ledger.reserve(**{**DP, **wrong})
        assert ledger.head() == head


def test_wrong_numbers(place: Path) -> None:
    with Ledger.open(place) as ledger:
        with pytest.raises(UsageError, match="no entry 1"):
            ledger.confirm(1, "cd", "out")
        ledger.reserve(**DP, epsilon=Fraction(1))
        with pytest.raises(UsageError, match="never confirmed"):
            ledger.record_copy(1, "out")
        ledger.confirm(1, "cd", "out")
        with pytest.raises(UsageError, match="confirmed already"):
            ledger.confirm(1, "cd", "out")
        with pytest.raises(UsageError, match="no entry 0"):
            ledger.record_copy(0, "out")


# --- releases that extend others -----------------------------------------------------------------


def extend(ledger: Ledger, number: int, epsilon: int = 0, **more: Any) -> int:
    return ledger.reserve(**{**DP, **more}, epsilon=Fraction(epsilon), extends=number)


def test_a_release_that_extends_another(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.set_limit(Fraction(2), Fraction(0))
        ledger.confirm(ledger.reserve(**DP, epsilon=Fraction(1)), "r1", "one")
        assert ledger.stream("r2") is None
        ledger.confirm(extend(ledger, 1), "r2", "two")
        ledger.confirm(extend(ledger, 2, 1), "r3", "three")
        assert [entry.extends for entry in ledger.entries()] == [None, 1, 2]
        assert ledger.entries()[1].to_dict()["extends"] == 1
        assert (ledger.spent(), ledger.remaining()) == ((2, 0), (0, 0))
        assert [ledger.stream(f"r{n}").paid for n in (1, 2, 3)] == [1, 2, 2]
        with pytest.raises(BudgetError):
            extend(ledger, 3, 1)
        assert extend(ledger, 3) == 4  # what is paid for may be used
    with Ledger.open(place) as again:
        stream = again.stream("r3")
        assert (stream.entry.number, stream.successor) == (3, None)
        assert [entry.number for entry in stream.unconfirmed] == [4]


def test_it_is_extended_once_also_as_a_copy(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.confirm(ledger.reserve(**DP, epsilon=Fraction(1)), "r1", "one")
        assert ledger.record_copy(1, "copy") == 2
        assert extend(ledger, 2) == 3
        assert ledger.entries()[2].extends == 1
        ledger.confirm(3, "r3", "three")
        for number in (1, 2):
            with pytest.raises(UsageError, match="one was extended already by three: append to"):
                extend(ledger, number)
        assert ledger.record_copy(3, "copy3") == 4
        assert ledger.stream("r3").successor is None
        assert ledger.stream("r1").successor.number == 3
        assert ledger.stream("r1").paid == 1


def test_attempts_that_were_lost_must_be_counted(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.confirm(ledger.reserve(**DP, epsilon=Fraction(1)), "r1", "one")
        assert extend(ledger, 1) == 2
        head = ledger.head()
        with pytest.raises(OutputError, match="another run is extending one"):
            extend(ledger, 1)
        for other in ({"log_digest": "other"}, {"recipe": "other"}):
            with pytest.raises(UsageError, match="another log"):
                extend(ledger, 1, lost=[2], **other)
        assert ledger.head() == head
        assert extend(ledger, 1, lost=[2]) == 3
        with pytest.raises(UsageError, match="entry 3 extends the same release"):
            ledger.confirm(2, "r2", "two")
        ledger.confirm(3, "r3", "three")
        assert any("entry 2" in text for text in ledger.warnings())


def test_what_cannot_be_extended(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.reserve(**DP, epsilon=Fraction(1))
        ledger.confirm(ledger.reserve(**K), "k", "out")
        ledger.confirm(ledger.reserve(**DP, epsilon=Fraction(1)), "r3", "three")
        head = ledger.head()
        for number, more, says in (
            (1, {}, "entry 1 is reserved"),
            (2, {}, "confirmed and k-anonymity"),
            (9, {}, "no entry 9"),
            (3, {"kind": "conditional-dp"}, "entry 3 is confirmed and dp"),
        ):
            with pytest.raises(UsageError, match=says):
                extend(ledger, number, **more)
        with pytest.raises(UsageError, match="cannot extend"):
            ledger.reserve(**K, extends=3)
        for wrong in (Fraction(-1), 0.0, False):
            with pytest.raises(UsageError, match="epsilon"):
                ledger.reserve(**DP, epsilon=wrong, extends=3)
        assert ledger.head() == head


@pytest.mark.parametrize(
    "strange", [{"refunds": 1}, {"event": "extended"}, {"event": "extended", "extends": 2}], ids=str
)
def test_what_a_later_version_may_write_is_not_overlooked(
    place: Path, strange: dict[str, Any]
) -> None:
    event = {"event": "reserved", "entry": 1, "time": "2026-01-01T00:00:00+00:00", "kind": "dp",
             "method": "m", "recipe": "m", "log": "x", "epsilon": "1", "delta": "0", "notes": [],
             "extra": {}}  # fmt: skip
    with Ledger.open(place) as ledger, ledger._file.transaction("add"):
        ledger._file.append(ledger._head, event | strange)
    with pytest.raises(VerificationError, match="row 2 is no event that this ledger knows"):
        Ledger.open(place)


# --- the limit -----------------------------------------------------------------------------------


def test_beyond_the_limit_nothing_is_written(place: Path) -> None:
    with Ledger.open(place) as ledger:
        assert ledger.limit() is ledger.remaining() is None
        ledger.set_limit(Fraction(1), Fraction(0))
        ledger.reserve(**DP, epsilon=Fraction("0.6"))
        head = ledger.head()
        with pytest.raises(BudgetError, match=r"ledger.db: .* needs epsilon 1, but 0.4 is left"):
            ledger.reserve(**DP, epsilon=Fraction(1))
        with pytest.raises(BudgetError, match="needs delta 1e-7, but 0 is left"):
            ledger.reserve(**DP, epsilon=Fraction("0.1"), delta=Fraction("1e-7"))
        assert ledger.head() == head
        ledger.reserve(**K)  # has no budget to be limited
        ledger.reserve(**DP, epsilon=Fraction("0.4"))
        assert ledger.remaining() == (0, 0)
        assert "the limit is reached: nothing more can be spent" in ledger.warnings()
        ledger.set_limit(Fraction(2), Fraction(0))
        ledger.reserve(**DP, epsilon=Fraction(1))


def test_a_limit_below_what_is_spent(place: Path) -> None:
    with Ledger.open(place) as ledger:
        ledger.reserve(**DP, epsilon=Fraction(1), delta=Fraction("1e-6"))
        ledger.set_limit(Fraction(5), Fraction("1e-7"))
        assert ledger.remaining() == (0, 0)
        says = "delta 1e-6 is spent and the limit is 1e-7: nothing more can be spent"
        assert says in ledger.warnings()
        with pytest.raises(BudgetError):
            ledger.reserve(**DP, epsilon=Fraction(1))
        for wrong in (Fraction(0), Fraction(-1), 0.5):
            with pytest.raises(UsageError):
                ledger.set_limit(wrong, Fraction(0))


amounts = st.fractions(min_value=Fraction(1, 50), max_value=3, max_denominator=50)
steps = st.lists(
    st.tuples(st.sampled_from(["reserve", "confirm", "copy", "limit", "again"]), amounts),
    max_size=14,
)


@MANY
@given(steps)
def test_the_sum_is_that_of_what_was_accepted(
    place: Path, wanted: list[tuple[str, Fraction]]
) -> None:
    place.unlink(missing_ok=True)
    ledger, total, limit = Ledger.open(place), Fraction(0), None
    for step, amount in wanted:
        numbers = {state: [e.number for e in ledger.entries() if e.state == state]
                   for state in ("reserved", "confirmed")}  # fmt: skip
        if step == "reserve":
            if limit is not None and total + amount > limit:
                with pytest.raises(BudgetError):
                    ledger.reserve(**DP, epsilon=amount)
            else:
                ledger.reserve(**DP, epsilon=amount)
                total += amount
        elif step == "confirm" and numbers["reserved"]:
            ledger.confirm(numbers["reserved"][0], "cd", "out")
        elif step == "copy" and numbers["confirmed"]:
            ledger.record_copy(numbers["confirmed"][0], "out")
        elif step == "limit":
            limit = amount
            ledger.set_limit(limit, Fraction(0))
        else:
            ledger.close()
            ledger = Ledger.open(place)
        assert ledger.spent() == (total, 0)
        assert ledger.remaining() == (
            None if limit is None else Budget(max(Fraction(0), limit - total), Fraction(0))
        )
    ledger.check()
    ledger.close()


# --- changed by others ---------------------------------------------------------------------------


def tamper(path: Path, *statements: str, reset: bool = False) -> None:
    """Change rows as somebody would who knows SQLite but not the chain."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    for table in ("never_changed", "never_removed"):
        connection.execute(f"DROP TRIGGER {table}")
    for statement in (*statements, *files._TABLES[1:]):
        connection.execute(statement)
    if reset:
        connection.execute("UPDATE sqlite_sequence SET seq = (SELECT max(number) FROM events)")
    connection.commit()
    connection.close()


SWAP = (
    "UPDATE events SET number = -1 WHERE number = {row}",
    "UPDATE events SET number = {row} WHERE number = {row} + 1",
    "UPDATE events SET number = {row} + 1 WHERE number = -1",
)
PUT_IN = (
    "UPDATE events SET number = -number WHERE number >= {row}",
    "UPDATE events SET number = 1 - number WHERE number < 0",
    "INSERT INTO events SELECT {row}, event, hash FROM events WHERE number = {row} - 1",
)
CLOSE_UP = (
    "DELETE FROM events WHERE number = {row}",
    "UPDATE events SET number = number - 1 WHERE number > {row}",
)
CHANGES = {
    "edited": ("UPDATE events SET event = replace(event, '0', '1') WHERE number = {row}",),
    "cheaper": (
        """UPDATE events SET event = replace(event, '"time"', '"tame"') WHERE number = {row}""",
    ),
    "another hash": ("UPDATE events SET hash = upper(hash) || 'x' WHERE number = {row}",),
    "a blob": ("UPDATE events SET event = CAST(event AS BLOB) WHERE number = {row}",),
    "removed": ("DELETE FROM events WHERE number = {row}",),
    "removed and closed up": CLOSE_UP,
    "swapped": SWAP,
    "put in": PUT_IN,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("row", [2, 5, 8])
def test_the_first_broken_row_is_named(place: Path, change: str, row: int) -> None:
    fill(place, 5)
    with Ledger.open(place) as opened:
        tamper(place, *(text.format(row=row) for text in CHANGES[change]), reset=True)
        with pytest.raises(VerificationError, match=rf"row {row} ") as caught:
            opened.check()
        assert "forget what was spent" in caught.value.hint
        assert str(place) in str(caught.value)
    with pytest.raises(VerificationError, match=rf"row {row} "):
        Ledger.open(place)


@MANY
@given(row=st.integers(1, 7), at=st.integers(0, 10**6), sign=st.sampled_from('0123456789abc"{}é'))
def test_any_letter_changed_is_seen(place: Path, row: int, at: int, sign: str) -> None:
    if not place.exists():
        fill(place, 3)
    copy = place.with_name("copy.db")
    shutil.copy(place, copy)
    connection = sqlite3.connect(copy)
    query = f"SELECT event FROM events WHERE number = {row}"
    (text,) = connection.execute(query).fetchone()
    connection.close()
    at %= len(text)
    changed = text[:at] + sign + text[at + 1 :]
    tamper(copy, f"UPDATE events SET event = '{changed}' WHERE number = {row}")
    if changed == text:
        Ledger.open(copy).close()
    else:
        with pytest.raises(VerificationError, match=f"row {row} "):
            Ledger.open(copy)


def test_rows_cut_off_at_the_end(place: Path) -> None:
    fill(place, 2)
    with Ledger.open(place) as opened:
        tamper(place, "DELETE FROM events WHERE number > 3")
        with pytest.raises(VerificationError, match="row 5 is no longer"):
            opened.reserve(**DP, epsilon=Fraction(1))
        with pytest.raises(VerificationError, match="row 4 is cut off: 5 was the last"):
            opened.check()
    for more in ("DELETE FROM events", "DELETE FROM sqlite_sequence"):
        tamper(place, more)
        with pytest.raises(VerificationError, match="row 1 is cut off"):
            Ledger.open(place)


def test_a_row_before_the_first(place: Path) -> None:
    fill(place, 1)
    tamper(place, f"INSERT INTO events VALUES ({-(2**63)}, 'x', 'y')")
    with pytest.raises(VerificationError, match="row 1 is missing"):
        Ledger.open(place)


def test_a_chain_without_sense_is_refused(place: Path) -> None:
    with Ledger.open(place) as ledger:
        file, head = ledger._file, ledger.head()
        with file.transaction("add"):
            file.append(head, {"event": "forgiven"})
        with pytest.raises(VerificationError, match="row 2 is no event"):
            ledger.spent()


def test_sqlite_itself_refuses_to_change_a_row(place: Path) -> None:
    fill(place, 1)
    connection = sqlite3.connect(place)
    for statement in ("UPDATE events SET hash = ''", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="only added to"):
            connection.execute(statement)
    connection.close()


def test_a_trigger_that_forgets(place: Path) -> None:
    fill(place, 1)
    connection = sqlite3.connect(place)
    connection.execute("CREATE TRIGGER f BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END")
    connection.close()
    with pytest.raises(VerificationError, match="altered"):
        Ledger.open(place)


# --- files that are no ledger --------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"AnonID\tQuery\n", b"SQLite format 3\0" + b"\7" * 2000])
def test_what_is_no_ledger_is_refused_and_kept(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    with pytest.raises((FormatError, VerificationError)) as caught:
        Ledger.open(place)
    assert str(place) in str(caught.value)
    assert caught.value.hint
    assert place.read_bytes() == content


def test_other_databases_newer_ones_and_folders(place: Path) -> None:
    connection = sqlite3.connect(place)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(FormatError, match="no ledger"):
        Ledger.open(place)
    place.unlink()
    fill(place, 1)
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(FormatError, match=r"newer queryveil.*update"):
        Ledger.open(place)
    with pytest.raises(FormatError, match="folder"):
        Ledger.open(place.parent)
    with pytest.raises(InputError, match="there is no ledger"):
        Ledger.open(place.parent / "other.db", create=False)
    with pytest.raises(OutputError, match="cannot be opened or created"):
        Ledger.open(place / "below.db")


@MANY
@example(at=3652, byte=128)  # a text that is no UTF-8
@given(at=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_damaged_byte_never_lowers_the_sum(place: Path, at: int, byte: int) -> None:
    if not place.exists():
        fill(place, 40)
    content = bytearray(place.read_bytes())
    content[at % len(content)] = byte
    copy = place.with_name("copy.db")
    copy.write_bytes(content)
    try:
        with Ledger.open(copy) as ledger:
            assert ledger.spent() == (4, 0)
    except (FormatError, VerificationError):
        pass


def test_a_file_cut_short(place: Path) -> None:
    fill(place, 40)
    content = place.read_bytes()
    for length in range(1, len(content), 1500):
        place.write_bytes(content[:length])
        with pytest.raises((FormatError, VerificationError)):
            Ledger.open(place)


# --- the disk ------------------------------------------------------------------------------------


def test_durable_and_one_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "ledger.db"
    with Ledger.open(path) as ledger:
        connection = ledger._file._connection
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("truncate",)
        ledger.reserve(**DP, epsilon=Fraction(1))
        copy = tmp_path / "copy.db"
        shutil.copy(path, copy)
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]
    assert path.stat().st_mode & 0o077 == 0
    with Ledger.open(copy) as alone:
        assert alone.spent() == (1, 0)


def test_a_wal_file_becomes_one_file_again(place: Path) -> None:
    fill(place, 1)
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    fill_again = Ledger.open(place)
    fill_again.reserve(**DP, epsilon=Fraction(1))
    fill_again.close()
    assert [file.name for file in place.parent.iterdir()] == ["ledger.db"]


def test_a_journal_without_its_ledger(place: Path) -> None:
    place.with_name("ledger.db-journal").write_text("pages of before")
    with pytest.raises(VerificationError, match=r"was removed, but ledger.db-journal is there"):
        Ledger.open(place)
    assert not place.exists()
    place.with_name("ledger.db-journal").write_text("")
    fill(place, 1)


def test_moved_while_open(place: Path) -> None:
    with Ledger.open(place) as ledger:
        place.rename(place.with_name("moved.db"))
        Ledger.open(place).close()
        with pytest.raises(OutputError, match="moved or replaced"):
            ledger.reserve(**DP, epsilon=Fraction(1))


def test_locked_by_another(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WAIT", 0.05)
    with Ledger.open(place) as one, Ledger.open(place) as two, one._file.transaction("add"):
        with pytest.raises(OutputError, match="another process kept"):
            two.reserve(**DP, epsilon=Fraction(1))
        assert two.spent() == (0, 0)


def test_a_process_of_its_own(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(place) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            with pytest.raises(OutputError, match="open it again"):
                ledger.reserve(**DP, epsilon=Fraction(1))
        assert ledger.entries() == []


def test_two_at_once_see_each_other(place: Path) -> None:
    with Ledger.open(place) as one, Ledger.open(place) as two:
        one.set_limit(Fraction(1), Fraction(0))
        assert two.reserve(**DP, epsilon=Fraction("0.7")) == 1
        with pytest.raises(BudgetError, match=r"but 0.3 is left"):
            one.reserve(**DP, epsilon=Fraction("0.7"))
        one.confirm(1, "cd", "out")
        assert two.entries()[0].state == "confirmed"


def test_each_of_thousands_of_rows_is_read_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening costs a step a row, and asking again costs nothing: this is not about seconds."""
    with Ledger.open(place) as ledger, ledger._file.transaction("add"):
        head = ledger._head
        for number in range(1, 5001):
            event = {"event": "reserved", "entry": number, "time": "2026-01-01T00:00:00+00:00",
                     "kind": "dp", "method": "m", "recipe": "m", "log": "x", "epsilon": "1/7",
                     "delta": "0", "notes": [], "extra": {}}  # fmt: skip
            ledger._file.append(head, event)
            head = ChainHead(head.number + 1, chain_hash(head, canonical_json(event)))
    walked: list[ChainHead] = []
    monkeypatch.setattr(
        files, "chain_hash", lambda head, text: walked.append(head) or chain_hash(head, text)
    )
    with Ledger.open(place) as ledger:
        assert ledger.spent() == (Fraction(10000, 7), 0)  # of no known relation: counted twice
        assert len(walked) == 5001
        ledger.spent()
        ledger.head()
        assert len(ledger.entries()) == 5000
    assert len(walked) == 5001


# --- amounts -------------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_amounts_there_and_back(value: Fraction) -> None:
    assert parse_epsilon(format_exact(value)) == value
    shown = format_amount(value)
    assert shown.startswith("about") or parse_epsilon(shown) == value


@pytest.mark.parametrize(
    "text",
    ["0", "-1", "nan", "inf", "-inf", "", "1/0", "0/5", "1e9999", "1e999999999", "1,5", "one",
     "1_000", "٣", "0x1", "9" * 300, "1/-3", "1/3/3", "-0.1"],
)  # fmt: skip
def test_no_epsilon(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_epsilon(text)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["1", "2", "-1e-9", "nan", "1/0"])
def test_no_delta(text: str) -> None:
    with pytest.raises(UsageError):
        parse_delta(text)


def test_amounts() -> None:
    assert parse_epsilon("0.1") == Fraction(1, 10)
    assert parse_epsilon(" 1e-7 ") == Fraction(1, 10**7)
    assert parse_epsilon("2/6") == Fraction(1, 3)
    assert parse_delta("0") == 0
    long = sum((Fraction(1, n) for n in range(1, 9000)), Fraction(0))
    assert format_amount(long) == format_exact(long) == "about 9.68214"


# --- where it lies -------------------------------------------------------------------------------


def test_the_folder_of_the_log(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    assert locate_ledger(None, [here / "a.tsv", here / "b.tsv"]) == here / "ledger.db"
    with pytest.raises(UsageError, match="`ledger"):
        locate_ledger(None, [here / "a.tsv", there / "b.tsv"])
    with pytest.raises(UsageError, match="`ledger"):
        locate_ledger(None, [])
    (here / "a.tsv").write_text("x")
    (there / "link.tsv").symlink_to(here / "a.tsv")
    assert locate_ledger(None, [there / "link.tsv"]) == here / "ledger.db"


def test_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    logs = [Path("elsewhere/log.tsv")]
    named = tmp_path / "data" / "queryveil" / "aol-2006.v_1.db"
    assert locate_ledger("aol-2006.v_1", logs) == named
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert locate_ledger("aol", []) == tmp_path / "home/.local/share/queryveil/aol.db"
    (tmp_path / "aol").mkdir()
    for text in ("./aol", "aol/", str(tmp_path / "aol")):
        assert locate_ledger(text, logs) == tmp_path / "aol" / "ledger.db"
    assert locate_ledger("./", []) == tmp_path / "ledger.db"
    assert locate_ledger("aol", []) == tmp_path / "home/.local/share/queryveil/aol.db"
    with pytest.raises(InputError, match="no such folder"):
        locate_ledger("./oal", [])
    for wrong in ("", "a b", ".hidden", "ä", "a" * 101, "a\n"):
        with pytest.raises(UsageError, match="not a name"):
            locate_ledger(wrong, [])
