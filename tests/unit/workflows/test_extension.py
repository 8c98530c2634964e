"""A release goes on within what each user has left, and never counts too little."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numbered_method import NONE, Slotted, known, write_log

import queryveil as qv
from queryveil.core.randomness import RandomSource
from queryveil.errors import (
    BudgetError,
    InputError,
    OutputError,
    ParameterError,
    UsageError,
    VerificationError,
)
from queryveil.ledger import store as files
from queryveil.ledger.entries import LedgerEntry
from queryveil.ledger.ledger import Ledger
from queryveil.methods.continuation import PreviousContributions
from queryveil.release.release import Release
from queryveil.workflows.budget import set_ledger_limit

ONE = [("ann", 1), ("ann", 2), ("bob", 1)]
TWO = [*ONE, ("ann", 3), ("bob", 3), ("cat", 3), ("cat", 4)]
THREE = [*TWO, ("ann", 5), ("ann", 6), ("bob", 5), ("dan", 6)]


@pytest.fixture(autouse=True)
def method(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(files, "_SYNC", "OFF")
    with known():
        yield


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder with three logs, each longer than the one before, and a release of the first."""
    for name, rows in (("one", ONE), ("two", TWO), ("three", THREE)):
        write_log(tmp_path / "logs" / f"{name}.tsv", rows)
    qv.anonymize_to_folder(read(tmp_path, "one"), Slotted(), tmp_path / "a")
    return tmp_path


def read(top: Path, name: str, **more: Any) -> qv.QueryLog:
    return qv.read_log(top / "logs" / f"{name}.tsv", **more)


def append(top: Path, name: str, old: str, new: str, **more: Any) -> qv.PrivateCard:
    days = {"three": 5, "more": 5, "most": 6}
    more.setdefault("since", f"2006-03-0{days.get(name, 3)}")
    return qv.extend_release(read(top, name), top / old, top / new, **more)


def mapping(folder: Path) -> dict[str, tuple[str, int]]:
    lines = (folder / "private" / "mapping.tsv").read_text().splitlines()[1:]
    return {user: (name, int(slots)) for user, name, slots in (line.split("\t") for line in lines)}


def slots(folder: Path) -> dict[str, int]:
    return {user: used for user, (_, used) in mapping(folder).items()}


def entries(top: Path) -> list[LedgerEntry]:
    with Ledger.open(top / "logs" / "ledger.db", create=False) as ledger:
        return ledger.entries()


def spent(top: Path) -> Fraction:
    with Ledger.open(top / "logs" / "ledger.db", create=False) as ledger:
        return ledger.spent().epsilon


def rows_of(folder: Path) -> Counter[str]:
    return Counter(pl.read_parquet(folder / "public" / "log.parquet")["user"].to_list())


def stumble(patch: pytest.MonkeyPatch) -> None:
    """Let the method be stopped after it has drawn."""
    real = Slotted.continue_release

    def stopped(self: Slotted, *args: Any) -> Release:
        real(self, *args)
        raise KeyboardInterrupt

    patch.setattr(Slotted, "continue_release", stopped)


# --- going on ------------------------------------------------------------------------------------


def test_users_keep_their_names_and_use_what_they_have(top: Path) -> None:
    card = append(top, "two", "a", "b")
    old, new = mapping(top / "a"), mapping(top / "b")
    assert slots(top / "a") == {"ann": 2, "bob": 1}
    assert slots(top / "b") == {"ann": 3, "bob": 2, "cat": 2}
    assert {user: new[user][0] for user in old} == {user: old[user][0] for user in old}
    assert rows_of(top / "b") == {new["ann"][0]: 1, new["bob"][0]: 1, new["cat"][0]: 2}
    assert card.dropped == {"before the first day that is new": 3, "replaced": 4}
    assert card.input.rows + card.generated["drawn"] == 4 + sum(card.dropped.values())
    assert card.guarantee.epsilon == 1.0
    assert card.ledger.extends == 1
    assert any("goes on with an earlier one" in note for note in card.public.notes)
    assert qv.verify(top / "b").holds


def test_it_is_in_the_ledger_before_the_noise(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Slotted.continue_release

    def looked(self: Slotted, *args: Any) -> Release:
        assert [entry.state for entry in entries(top)] == ["confirmed", "reserved"]
        return real(self, *args)

    monkeypatch.setattr(Slotted, "continue_release", looked)
    append(top, "two", "a", "b")
    first, second = entries(top)
    assert (second.state, second.extends, second.epsilon) == ("confirmed", 1, 0)
    assert second.folder == str(top / "b")
    assert (first.epsilon, spent(top)) == (1, 1)


def test_a_stream_of_three(top: Path) -> None:
    append(top, "two", "a", "b")
    append(top, "three", "b", "c")
    assert slots(top / "c") == {"ann": 4, "bob": 3, "cat": 2, "dan": 1}
    assert mapping(top / "c")["cat"][0] == mapping(top / "b")["cat"][0]
    assert sum(rows_of(top / "c").values()) == 3  # ann had one slot left, and two new rows
    assert [entry.extends for entry in entries(top)] == [None, 1, 2]
    assert spent(top) == 1


def timeless(*rows: tuple[str, str | None]) -> qv.QueryLog:
    return qv.QueryLog.from_rows([(user, "q", time, None, None) for user, time in rows])


def test_only_what_is_new_counts_also_in_a_log_of_its_own(top: Path) -> None:
    log = timeless(
        ("bob", "2006-03-03 10:00:00"), ("bob", None), ("cat", "2006-03-01 10:00:00"),
        ("cat", "2006-03-02 10:00:00"),
    )  # fmt: skip
    card = qv.extend_release(log, top / "a", top / "b", since="2006-03-03", ledger=f"{top}/logs")
    assert slots(top / "b") == {"ann": 2, "bob": 2}
    assert card.dropped == {
        "no time, so not known to be new": 1,
        "before the first day that is new": 2,
        "replaced": 1,
    }


def test_a_log_without_times(top: Path) -> None:
    how: dict[str, Any] = {"since": "2006-03-03", "ledger": f"{top}/logs"}
    card = qv.extend_release(timeless(("bob", None)), top / "a", top / "b", **how)
    assert card.output.rows == 0
    assert card.dropped["no time, so not known to be new"] == 1


@pytest.mark.parametrize("rows", [[("bob", None)], [("bob", None), ("eve", "9999-01-01 00:00:00")]])
def test_no_row_of_the_first_log_decides_what_is_new(top: Path, rows: list[Any]) -> None:
    """Neither whether it has times, nor a clock that runs ahead."""
    how: dict[str, Any] = {"ledger": f"{top}/logs"}
    qv.anonymize_to_folder(timeless(*rows), Slotted(), top / "t", **how)
    append(top, "two", "t", "c", since="2006-03-03", **how)
    assert sum(rows_of(top / "c").values()) == 4


def test_the_first_new_day_is_the_owners_word(top: Path) -> None:
    with pytest.raises(UsageError, match="must not be computed from the rows"):
        append(top, "two", "a", "b", since=None)
    qv.anonymize_to_folder(read(top, "one", until="2006-03-02"), Slotted(), top / "d")
    with pytest.raises(UsageError, match="`since` must be after 2006-03-02"):
        append(top, "two", "d", "e", since="2006-03-02")
    append(top, "two", "d", "e", since=None)  # the day after, as the earlier one was cut there
    assert slots(top / "e")["cat"] == 2
    log = read(top, "three", since="2006-03-05")  # as on the command line
    qv.extend_release(log, top / "e", top / "f")
    assert slots(top / "f")["dan"] == 1


def test_nobody_has_anything_left(top: Path) -> None:
    whole = [("eve", day) for day in (1, 2, 3, 4)]
    write_log(top / "logs" / "full.tsv", whole)
    write_log(top / "logs" / "more.tsv", [*whole, ("eve", 5)])
    qv.anonymize_to_folder(read(top, "full"), Slotted(), top / "full")
    card = append(top, "more", "full", "b")
    assert card.output.rows == 0
    assert slots(top / "b") == {"eve": 4}
    assert qv.verify(top / "b").holds
    write_log(top / "logs" / "most.tsv", [*whole, ("eve", 5), ("eve", 6)])
    append(top, "most", "b", "c", add_budget=True)
    assert slots(top / "c") == {"eve": 5}


def test_nothing_new_is_an_empty_part_that_can_be_extended(top: Path) -> None:
    """A refusal would tell that nobody sent anything, which no epsilon covers."""
    card = append(top, "one", "a", "b")
    assert card.output.rows == 0
    assert qv.verify(top / "b").holds
    append(top, "two", "b", "c")
    assert slots(top / "c")["cat"] == 2


# --- the promise ---------------------------------------------------------------------------------


def test_a_lower_guarantee_is_the_sum(top: Path) -> None:
    card = append(top, "two", "a", "b", add_budget=True)
    assert card.guarantee.epsilon == 2.0
    assert card.public.parameters["previous_epsilon"] == 1.0
    assert card.ledger.max_contributions == 8
    assert (spent(top), entries(top)[1].epsilon) == (2, 1)
    assert qv.verify(top / "b").holds
    later = append(top, "three", "b", "c")  # within what is paid for now
    assert later.guarantee.epsilon == 2.0
    assert slots(top / "c")["ann"] == 5
    assert (spent(top), entries(top)[2].epsilon) == (2, 0)
    assert qv.verify(top / "c").holds


def test_decimals_stay_what_they_are(top: Path) -> None:
    """0.1 + 0.2 is not 0.3 in floats; the ledger counts fractions, the card not less."""
    method = Slotted(epsilon=0.1)
    qv.anonymize_to_folder(read(top, "one"), method, top / "a1")
    append(top, "two", "a1", "b1", add_budget=True)
    card = append(top, "three", "b1", "c1", add_budget=True)
    assert card.public.parameters["previous_epsilon"] == 0.2
    assert card.guarantee.epsilon >= 0.3
    assert spent(top) == 1 + Fraction("0.3")
    assert qv.verify(top / "c1").holds


def test_the_limit_holds(top: Path) -> None:
    set_ledger_limit("1.5", "0", [top / "logs" / "one.tsv"])
    with pytest.raises(BudgetError, match=r"needs epsilon 1, but 0.5 is left"):
        append(top, "two", "a", "b", add_budget=True)
    assert not (top / "b").exists()
    assert len(entries(top)) == 1
    # What a limit leaves is not taken unasked: the promise stays.
    assert append(top, "two", "a", "b").guarantee.epsilon == 1.0
    set_ledger_limit("0.5", "0", [top / "logs" / "one.tsv"])
    with pytest.raises(BudgetError, match=r"limit of 0.5 is passed"):
        append(top, "three", "b", "c")


def test_a_method_that_forgets_what_was_spent(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Slotted.guarantee
    monkeypatch.setattr(
        Slotted, "guarantee", lambda self: replace(real(self), epsilon=self.epsilon)
    )
    with pytest.raises(VerificationError, match="does not cover what was spent"):
        append(top, "two", "a", "b", add_budget=True)
    assert len(entries(top)) == 1


# --- once only -----------------------------------------------------------------------------------


def test_a_release_is_extended_once(top: Path) -> None:
    append(top, "two", "a", "b")
    shutil.copytree(top / "a", top / "copy")
    with Ledger.open(top / "logs" / "ledger.db") as ledger:
        ledger.record_copy(1, top / "copy")
    for old in ("a", "copy"):
        with pytest.raises(UsageError, match=f"{top}/a was extended already by {top}/b: append"):
            append(top, "three", old, "c")
    assert not (top / "c").exists()


def test_a_repeat_of_the_new_log_is_no_copy_of_the_part(top: Path) -> None:
    append(top, "two", "a", "b")
    card = qv.anonymize_to_folder(read(top, "two"), Slotted(), top / "whole")
    assert card.copied is None
    assert spent(top) == 2


def test_a_run_that_was_stopped_counts(top: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stumble(patch)
        with pytest.raises(KeyboardInterrupt):
            append(top, "two", "a", "b")
    assert [entry.state for entry in entries(top)] == ["confirmed", "reserved"]
    with pytest.raises(UsageError, match="another log") as caught:
        append(top, "three", "a", "b")
    assert "given first" in str(caught.value)
    assert not (top / "b").exists()
    append(top, "two", "a", "b")
    # Each new row twice: once for what may have been seen, once for what is published.
    assert slots(top / "b") == {"ann": 4, "bob": 3, "cat": 4}
    assert {user: mapping(top / "b")[user][0] for user in ("ann", "bob")} == {
        user: mapping(top / "a")[user][0] for user in ("ann", "bob")
    }
    assert [entry.state for entry in entries(top)] == ["confirmed", "reserved", "confirmed"]
    assert spent(top) == 1
    append(top, "three", "b", "c")
    assert slots(top / "c") == {"ann": 4, "bob": 4, "cat": 4, "dan": 1}


def test_a_stopped_run_with_a_lower_guarantee_counts_for_the_promise(top: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stumble(patch)
        with pytest.raises(KeyboardInterrupt):
            append(top, "two", "a", "b", add_budget=True)
    assert append(top, "two", "a", "b").guarantee.epsilon == spent(top) == 2
    assert qv.verify(top / "b").holds


def test_a_log_from_no_file_cannot_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    day = "2006-03-0{} 10:00:00".format
    first = qv.QueryLog.from_rows([("ann", "x", day(1), None, None)])
    later = qv.QueryLog.from_rows([("ann", "x", day(2), None, None)])
    qv.anonymize_to_folder(first, Slotted(), tmp_path / "a", ledger="us")
    # Two logs without files are not the same log.
    again = qv.anonymize_to_folder(later, Slotted(), tmp_path / "a2", ledger="us")
    assert again.copied is None
    with monkeypatch.context() as patch:
        stumble(patch)
        with pytest.raises(KeyboardInterrupt):
            qv.extend_release(
                later, tmp_path / "a", tmp_path / "b", since="2006-03-02", ledger="us"
            )
    with pytest.raises(UsageError, match="cannot be computed from another log"):
        qv.extend_release(later, tmp_path / "a", tmp_path / "b", since="2006-03-02", ledger="us")


def test_two_at_once(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that came later counts the other one, and it alone is confirmed."""
    real = Slotted.continue_release

    def meanwhile(self: Slotted, *args: Any) -> Release:
        monkeypatch.setattr(Slotted, "continue_release", real)
        append(top, "two", "a", "c")
        return real(self, *args)

    monkeypatch.setattr(Slotted, "continue_release", meanwhile)
    with pytest.raises(UsageError, match="entry 3 extends the same release"):
        append(top, "two", "a", "b")
    assert [entry.state for entry in entries(top)] == ["confirmed", "reserved", "confirmed"]
    assert slots(top / "c") == {"ann": 4, "bob": 3, "cat": 4}
    with pytest.raises(UsageError, match="does not know this release"):
        append(top, "three", "b", "d")


@pytest.mark.parametrize("stops", [False, True])
def test_two_at_the_same_moment(top: Path, monkeypatch: pytest.MonkeyPatch, stops: bool) -> None:
    """Between looking at the ledger and reserving, another run reserved."""
    real = Slotted.count_contributions

    def meanwhile(self: Slotted, *args: Any) -> pl.DataFrame:
        monkeypatch.setattr(Slotted, "count_contributions", real)
        with pytest.MonkeyPatch.context() as patch:
            if stops:
                stumble(patch)
            with suppress(KeyboardInterrupt):
                append(top, "two", "a", "c")
        return real(self, *args)

    monkeypatch.setattr(Slotted, "count_contributions", meanwhile)
    kind, says = (OutputError, "at this moment") if stops else (UsageError, "extended already")
    with pytest.raises(kind, match=says):
        append(top, "two", "a", "b")
    assert not (top / "b").exists()
    assert len(entries(top)) == 2


@settings(
    max_examples=12, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(st.lists(st.sampled_from(["go", "stop", "lower", "stop lower"]), min_size=1, max_size=5))
def test_nobody_ever_loses_more_than_the_ledger_counts(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    top = tmp_path_factory.mktemp("stream")
    rows = list(ONE)
    write_log(top / "logs" / "0.tsv", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Slotted, "drawn", top / "drawn")
        qv.anonymize_to_folder(read(top, "0"), Slotted(), top / "r0")
        old, log, day = "r0", "0", 2
        for number, step in enumerate(steps, 1):
            if old == f"r{number - 1}":  # else it is tried again with the same log
                day, log = day + 2, str(number)
                rows += [("ann", day), ("bob", day), ("bob", day + 1), (f"new{number}", day)]
                write_log(top / "logs" / f"{log}.tsv", rows)
            with patch.context() as once:
                if "stop" in step:
                    stumble(once)
                try:
                    append(top, log, old, f"r{number}", add_budget="lower" in step)
                    old = f"r{number}"
                except (KeyboardInterrupt, InputError):
                    pass
            seen = Counter[str]()
            for line in (top / "drawn").read_text().splitlines():
                seen.update(json.loads(line))
            assert max(seen.values()) * Fraction(1, 4) <= spent(top)
            card = json.loads((top / old / "public" / "release.json").read_text())
            assert card["guarantee"]["epsilon"] <= spent(top)
            if old == f"r{number}":
                assert slots(top / old) == seen
                assert card["guarantee"]["epsilon"] == spent(top)


# --- what is refused -----------------------------------------------------------------------------


MAPPING, CARD = "private/mapping.tsv", "private/card.json"
SPOILED: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "no mapping": (MAPPING, lambda _: None),
    "no slots": (MAPPING, lambda _: "user\tpseudonym\nann\tx\n"),
    "somebody missing": (MAPPING, lambda text: text[: text.index("bob")]),
    "slots are no numbers": (MAPPING, lambda text: text.replace("\t2\n", "\tmany\n")),
    "twice": (MAPPING, lambda text: text + "ann\tother\t1\n"),
    "more than paid": (MAPPING, lambda text: text.replace("\t2\n", "\t5\n")),
    "no private card": (CARD, lambda _: None),
    "no day": (CARD, lambda text: text.replace('"until": null', '"until": "soon"')),
    "edited": ("public/report.html", lambda _: "other"),
}
ASKED: dict[str, dict[str, Any]] = {
    "no ledger": {"ledger": "nobody"},
    "in its place": {"new": "a", "overwrite": True},
    "inside": {"new": "a/more"},
    "another method": {"method": qv.FrequentQueries()},
    "another parameter": {"method": Slotted(max_phrases_per_user=5)},
    "no folder": {"old": "nowhere"},
}


def spoil(top: Path, how: str) -> None:
    if how in SPOILED:
        path = top / "a" / SPOILED[how][0]
        text = SPOILED[how][1](path.read_text())
        path.unlink() if text is None else path.write_text(text)


REFUSED = {
    "no mapping": (InputError, "`include_mapping=False`"),
    "no slots": (InputError, "no column slots"),
    "somebody missing": (VerificationError, "1 users of the release are missing"),
    "slots are no numbers": (VerificationError, "damaged"),
    "twice": (VerificationError, "damaged"),
    "more than paid": (VerificationError, "used more slots than the ledger counts"),
    "no private card": (VerificationError, "the private card is missing"),
    "no day": (VerificationError, "card is damaged"),
    "edited": (VerificationError, "files differ from the card: report.html"),
    "no ledger": (UsageError, "does not know this release"),
    "in its place": (UsageError, "cannot be written onto or into"),
    "inside": (UsageError, "cannot be written onto or into"),
    "another method": (UsageError, "made by slotted, not by frequent-queries"),
    "another parameter": (UsageError, "made with `max_phrases_per_user=4`, not 5"),
    "no folder": (InputError, "no such folder"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_what_is_refused_costs_nothing(
    top: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(top))
    before = entries(top)
    kind, says = REFUSED[how]
    spoil(top, how)
    with pytest.raises(kind, match=says) as caught:
        append(top, **({"name": "two", "old": "a", "new": "b"} | ASKED.get(how, {})))
    assert caught.value.hint or kind is VerificationError
    assert not (top / "b").exists()
    assert entries(top) == before


def test_what_is_not_for_publication(top: Path) -> None:
    qv.anonymize_to_folder(read(top, "one"), Slotted(), top / "seeded", seed=1)
    with pytest.raises(UsageError, match=r"not for publication.*fixed seed"):
        append(top, "two", "seeded", "b")
    with pytest.raises(UsageError, match="sample of users"):
        qv.extend_release(read(top, "two", sample_users=2), top / "a", top / "b")


def test_methods_without_slots(top: Path) -> None:
    qv.anonymize_to_folder(read(top, "one"), qv.FrequentQueries(min_users=2), top / "frequent")
    with pytest.raises(ParameterError, match="frequent-queries cannot extend an earlier release"):
        append(top, "two", "frequent", "b")
    with pytest.raises(ParameterError, match="cannot extend") as caught:
        append(top, "two", "frequent", "b", method=qv.FrequentQueries(min_users=2))
    assert caught.value.hint


@pytest.mark.parametrize("promise", [{"delta": 1e-6}, {"model": "none", "epsilon": None}])
def test_promises_without_slots(
    top: Path, monkeypatch: pytest.MonkeyPatch, promise: dict[str, Any]
) -> None:
    real = Slotted.guarantee
    monkeypatch.setattr(Slotted, "guarantee", lambda self: replace(real(self), **promise))
    qv.anonymize_to_folder(read(top, "one"), Slotted(epsilon=2.0), top / "other")
    with pytest.raises(ParameterError):
        append(top, "two", "other", "b")


def test_files_must_be_named_and_the_same(top: Path) -> None:
    words = top / "words.txt"
    words.write_text("one")
    method = Slotted(words=str(words))
    qv.anonymize_to_folder(read(top, "one"), method, top / "w")
    with pytest.raises(UsageError, match=r"files that its method reads \(words.txt\)") as caught:
        append(top, "two", "w", "b")
    assert "`method`" in str(caught.value)
    words.write_text("two")
    with pytest.raises(UsageError, match="differ from those of the earlier release"):
        append(top, "two", "w", "b", method=method)
    words.write_text("one")
    append(top, "two", "w", "b", method=method)
    append(top, "three", "b", "c", method=method)
    assert slots(top / "c")["dan"] == 1


@pytest.mark.parametrize("wrong", ["slots", "name", "column", "nobody"])
def test_a_method_is_held_to_what_it_said(
    top: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    real = Slotted.continue_release

    def liar(self: Slotted, *args: Any) -> Release:
        release = real(self, *args)
        table = release.mapping
        changed = {
            "slots": table.with_columns(pl.col("slots") - 1),
            "name": table.with_columns(pl.col("pseudonym").reverse()),
            "column": table.drop("slots"),
            "nobody": None,
        }
        return replace(release, mapping=changed[wrong])

    monkeypatch.setattr(Slotted, "continue_release", liar)
    with pytest.raises(VerificationError, match="did not use the announced slots"):
        append(top, "two", "a", "b")
    assert not (top / "b").exists()
    assert entries(top)[1].state == "reserved"  # it has drawn, so that counts


def test_without_a_mapping_it_ends(top: Path) -> None:
    append(top, "two", "a", "b", include_mapping=False)
    with pytest.raises(InputError, match="`include_mapping=False`"):
        append(top, "three", "b", "c")


# --- what a method gets --------------------------------------------------------------------------


def test_new_users_get_names_that_nobody_has() -> None:
    class Narrow(RandomSource):
        """Draws a name that is taken, then another one."""

        drawn: ClassVar[list[str]] = ["taken", "free"]

        def tokens(self, size: int) -> Any:
            return [self.drawn.pop(0)] * size

    kinds = {"user": pl.String, "slots": pl.UInt32}
    known_users = pl.DataFrame([("ann", "taken", 1)], schema=NONE.schema, orient="row")
    uses = pl.DataFrame([("bob", 2)], schema=kinds, orient="row")
    found = PreviousContributions(known_users, 4).updated(uses, Narrow())
    assert found.rows() == [("ann", "taken", 1), ("bob", "free", 2)]
    assert found.schema == NONE.schema
    assert (
        PreviousContributions(known_users, 4)
        .updated(uses.clear(), RandomSource())
        .equals(known_users)
    )


@dataclass(frozen=True)
class _Cased:
    """What a person types, and what she is told."""

    call: tuple[str, ...]
    code: int
    says: str


NEW = ("--out", "b")
CALLS = [
    _Cased(("--method", "slotted", "--add-budget", *NEW), 2, "--add-budget needs --extend"),
    _Cased(("--add-budget", *NEW), 2, "--add-budget needs --extend"),
    _Cased(("--extend", "a", "--seed", "1", *NEW), 2, "--seed cannot be combined with --extend"),
    _Cased(("--extend", "a", "--min-users", "3", *NEW), 2, "--min-users needs --method"),
    _Cased(("--extend", "a", "--method", "frequent-queries", *NEW), 2, "made by slotted"),
    _Cased(("--extend", "nowhere", *NEW), 1, "there is no such folder"),
    _Cased(("--extend", "a", "--out", "a"), 1, "this exists already"),
    _Cased(NEW, 2, "--method"),
]


@pytest.mark.parametrize("case", CALLS, ids=lambda case: " ".join(case.call))
def test_mistakes_of_the_command(top: Path, cli, case: _Cased) -> None:
    ran = cli("anonymize", "logs/two.tsv", *case.call)
    assert (ran.code, ran.out) == (case.code, "")
    assert case.says in " ".join(ran.err.split())
    assert not (top / "b").exists()
    assert len(entries(top)) == 1


def test_the_command(top: Path, cli) -> None:
    (top / "queryveil.toml").write_text('[anonymize]\nmethod = "frequent-queries"\nmin_users = 9\n')
    ran = cli("anonymize", "logs/two.tsv", "--extend", "a", *NEW, "--since", "2006-03-03", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["method"] == "slotted"
    more = ("--since", "2006-03-05", "--add-budget")
    ran = cli("anonymize", "logs/three.tsv", "--extend", "b", "--out", "c", *more)
    assert (ran.code, ran.err) == (0, "")
    assert "Released with slotted" in ran.out
    assert "Written and verified: c/public (may be published: differential" in ran.out
    shown = cli("ledger", "show", "logs/two.tsv").out
    assert "extends 1" in " ".join(shown.split())
    told = json.loads(cli("ledger", "show", "logs/two.tsv", "--json").out)
    assert [entry["extends"] for entry in told["entries"]] == [None, 1, 2]
    assert told["spent"]["epsilon"] == "2"
