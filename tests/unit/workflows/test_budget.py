"""A release is paid for before noise is drawn, and a repeat of it draws and pays anew."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import queryveil as qv
from conftest import add_subjects
from queryveil.errors import BudgetError, InputError, UsageError, VerificationError
from queryveil.ledger.ledger import Ledger
from queryveil.workflows.anonymization import anonymize_to_folder
from queryveil.workflows.budget import DATA_ACCESS_NOTE, set_ledger_limit

LINE = "dp-statistics:epsilon=9:delta=1e-4:max-queries-per-user=2:budget-split=1/0/0"


@pytest.fixture
def log(tmp_path: Path, synthetic: Path) -> Path:
    folder = tmp_path / "population"
    folder.mkdir()
    return Path(shutil.copy(synthetic, folder / "log.tsv"))


def spent(log: Path) -> tuple[int, int]:
    """Give epsilon that was spent, and the number of entries."""
    place = log.parent / "ledger.db"
    if not place.exists():
        return 0, 0
    with Ledger.open(place, create=False) as ledger:
        return int(ledger.spent_in("add-remove").epsilon), len(ledger.entries())


def release(log: Path, out: Path, line: str = LINE, **more: object) -> dict[str, object]:
    return anonymize_to_folder(qv.read_log(log), qv.parse_method(line), out, **more)


def test_it_is_paid_before_the_noise(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        assert spent(log) == (9, 1)
        raise KeyboardInterrupt

    monkeypatch.setattr("queryveil.methods.statistics.dp_statistics.release_approximate", stumble)
    with pytest.raises(KeyboardInterrupt):
        qv.anonymize(qv.read_log(log), LINE)
    assert spent(log) == (9, 1)


@pytest.mark.parametrize("change", ["nothing", "a line"])
def test_a_repeat_does_not_tell_whether_the_log_changed(
    log: Path, tmp_path: Path, change: str
) -> None:
    add_subjects(log)
    line = LINE.replace("epsilon=9", "epsilon=1")
    release(log, tmp_path / "one", line)
    if change == "a line":
        log.write_bytes(log.read_bytes() + b"new\tweather\t2006-03-01 10:00:00\t\t\n")
    again = release(log, tmp_path / "two", line)
    assert again.copied is None
    assert spent(log) == (2, 2)  # the same cost, whatever the log is
    one, two = (tmp_path / name / "public" / "queries.tsv" for name in ("one", "two"))
    assert one.read_bytes() != two.read_bytes()


def test_a_copy_is_named_and_free(log: Path, tmp_path: Path) -> None:
    release(log, tmp_path / "one")
    log.unlink()  # it is not opened
    card = qv.copy_release(tmp_path / "one", tmp_path / "two")
    assert card.copied == str(tmp_path / "one")
    for path in (tmp_path / "one" / "public").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / "public" / path.name).read_bytes()
    assert (tmp_path / "two" / "private").stat().st_mode & 0o077 == 0
    assert qv.verify(tmp_path / "two").holds
    assert spent(log) == (9, 2)
    shutil.rmtree(tmp_path / "one")
    qv.copy_release(tmp_path / "two", tmp_path / "three", logs=[log])
    with Ledger.open(log.parent / "ledger.db", create=False) as ledger:
        assert [entry.copy_of for entry in ledger.entries()] == [None, 1, 1]


REPLACE = "semantic-replacement:domain=sport:max-phrases-per-user=2"


def test_a_copy_forgets_the_mapping_too(log: Path, tmp_path: Path) -> None:
    release(log, tmp_path / "one", REPLACE)
    qv.copy_release(tmp_path / "one", tmp_path / "two", include_mapping=False)
    kept = [(tmp_path / name / "private" / "mapping.tsv").exists() for name in ("one", "two")]
    assert kept == [True, False]


@pytest.mark.parametrize("change", ["table", "card", "more", "link", "gone", "public"])
def test_what_was_changed_is_not_copied(log: Path, tmp_path: Path, change: str) -> None:
    release(log, tmp_path / "one")
    public = tmp_path / "one" / "public"
    if change == "table":
        with (public / "queries.tsv").open("a") as file:
            file.write("more\t99\n")
    elif change == "card":
        (public / "release.json").write_text((public / "release.json").read_text() + " ")
    elif change == "more":
        (public / "names.tsv").write_text("ann")
    elif change == "link":
        (public / "names.tsv").symlink_to(log)
    elif change == "gone":
        (tmp_path / "one" / "private" / "card.json").unlink()
    else:
        shutil.rmtree(public)
    with pytest.raises((UsageError, InputError, VerificationError)):
        qv.copy_release(tmp_path / "one", tmp_path / "two", logs=[log])
    assert not (tmp_path / "two").exists()
    assert spent(log) == (9, 1)


def test_a_release_of_another_ledger_is_not_copied(log: Path, tmp_path: Path) -> None:
    release(log, tmp_path / "one")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match="there is no ledger"):
        qv.copy_release(tmp_path / "one", tmp_path / "two", ledger=f"{other}/")
    set_ledger_limit("1", "0", ledger=f"{other}/")
    with pytest.raises(UsageError, match="does not know this release"):
        qv.copy_release(tmp_path / "one", tmp_path / "two", ledger=f"{other}/")
    assert not (tmp_path / "two").exists()


def test_a_copy_never_takes_the_place_of_its_source(log: Path, tmp_path: Path) -> None:
    release(log, tmp_path / "one")
    for place in (tmp_path / "one", tmp_path / "one" / "in"):
        with pytest.raises(UsageError, match="cannot be copied onto itself"):
            qv.copy_release(tmp_path / "one", place, overwrite=True)


@pytest.mark.parametrize("line", [LINE, "frequent-queries:min-users=5"])
def test_a_release_may_be_written_twice(log: Path, tmp_path: Path, line: str) -> None:
    made = qv.anonymize(qv.read_log(log), line)
    made.write(tmp_path / "one")
    made.write(tmp_path / "two", format="tsv")
    with Ledger.open(log.parent / "ledger.db", create=False) as ledger:
        entries = ledger.entries()
    assert [(e.state, e.copy_of) for e in entries] == [("confirmed", None), ("copied", 1)]
    assert int(sum(e.epsilon or 0 for e in entries)) == (9 if line == LINE else 0)
    qv.copy_release(tmp_path / "two", tmp_path / "three")
    assert qv.verify(tmp_path / "three").holds


def test_beyond_the_limit_nothing_is_written(log: Path, tmp_path: Path) -> None:
    set_ledger_limit("10", "1e-3", [log], relation="add-remove")
    release(log, tmp_path / "one")
    with pytest.raises(BudgetError, match="needs epsilon 9, but 1 is left"):
        release(log, tmp_path / "two", LINE.replace("user=2", "user=3"))
    assert not (tmp_path / "two").exists()
    assert qv.copy_release(tmp_path / "one", tmp_path / "three").copied  # it costs nothing


def test_a_bad_list_costs_nothing(log: Path, tmp_path: Path) -> None:
    for line in (
        "dp-statistics:mode=pure:public-queries=none.txt",
        "click-graph:public-results=none.txt",
    ):
        with pytest.raises((InputError, UsageError)):
            release(log, tmp_path / "one", line)
    assert spent(log) == (0, 0)


def test_a_sample_of_users_is_refused(log: Path) -> None:
    with pytest.raises(UsageError, match="sample"):
        qv.anonymize(qv.read_log(log, sample_users=100), LINE)
    assert spent(log) == (0, 0)


def test_a_log_without_a_file_needs_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    log = qv.QueryLog.from_rows([(str(n), "weather", None, None, None) for n in range(99)])
    with pytest.raises(UsageError, match="ledger="):
        qv.anonymize(log, LINE)
    found = qv.anonymize(log, LINE, ledger="rain").tables["queries"]
    assert found["query"].to_list() in ([], ["weather"])
    assert (tmp_path / "queryveil" / "rain.db").exists()
    assert qv.anonymize(log, LINE, seed=1).not_release_grade_because


def test_other_releases_are_noted_too(log: Path, tmp_path: Path) -> None:
    release(log, tmp_path / "one", "frequent-queries:min-users=5")
    for name in ("two", "three"):
        release(log, tmp_path / name, "string-microaggregation:k=3")
    with Ledger.open(log.parent / "ledger.db", create=False) as ledger:
        kinds = [entry.kind for entry in ledger.entries()]
        assert kinds == ["none", "k-anonymity", "k-anonymity"]
        assert any("compose" in warning for warning in ledger.warnings())
    assert spent(log) == (0, 3)


def test_a_look_at_the_data_is_told_for_ever(log: Path, tmp_path: Path) -> None:
    told = qv.plan(qv.read_log(log), qv.parse_method(LINE))
    assert told.preview is None
    assert told.forecast.expected.queries >= 0
    assert spent(log) == (0, 0)
    exact = qv.plan(qv.read_log(log), qv.parse_method(LINE), exact=True)
    assert exact.data_access == DATA_ACCESS_NOTE
    assert exact.preview is not None
    assert spent(log) == (0, 1)
    release(log, tmp_path / "one")
    card = json.loads((tmp_path / "one" / "public" / "release.json").read_text("utf-8"))
    assert DATA_ACCESS_NOTE in card["notes"]
    assert DATA_ACCESS_NOTE in (tmp_path / "one" / "public" / "report.html").read_text("utf-8")
    assert qv.verify(tmp_path / "one").holds


def test_a_plan_does_not_open_the_log() -> None:
    def log() -> qv.QueryLog:
        raise KeyboardInterrupt

    assert qv.plan(log, qv.parse_method(LINE), expected_users=10**6).expected_users == 10**6


def test_a_synthetic_log_of_the_tables(log: Path, tmp_path: Path) -> None:
    line = "dp-statistics:epsilon=99:delta=1e-3:max-queries-per-user=3:synthetic-users=50"
    card = release(log, tmp_path / "one", line, format="tsv")
    rows = (tmp_path / "one" / "public" / "log.tsv").read_text("utf-8").split("\n")[1:-1]
    assert len({row.split("\t")[0] for row in rows}) == card.output.ids == 50
    shown = (tmp_path / "one" / "public" / "queries.tsv").read_text("utf-8")
    assert all(f"\n{row.split(chr(9))[1]}\t" in shown for row in rows)
    assert card.generated == {"synthetic rows": len(rows)}
    assert any("synthetic" in note for note in card.public.notes)
    assert qv.verify(tmp_path / "one").holds
