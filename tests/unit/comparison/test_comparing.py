"""Methods side by side: what is run, what it gives, what is written."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.comparison import runner as cells
from queryveil.comparison.comparing import compare, compare_figures
from queryveil.comparison.grid import (
    PRESETS,
    FigureRequest,
    FigureSpec,
    get_preset,
    request_figures,
)
from queryveil.comparison.journal import open_journal
from queryveil.comparison.references import REFERENCE_RUNS
from queryveil.comparison.result import Comparison, ComparisonRow, RunOptions
from queryveil.comparison.writing import write_comparison
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.ledger.ledger import Ledger
from queryveil.ledger.state import warnings_of
from queryveil.workflows.budget import DATA_ACCESS_NOTE

PRIVATE = "dp-statistics:epsilon=9:delta=1e-4:max-queries-per-user=2:budget-split=1/0/0"


@pytest.fixture
def measure(tmp_path: Path) -> str:
    path = tmp_path / "paths.txt"
    path.write_text("Top/Sports/Tennis\nTop/Sports/Swimming\nTop/Arts/Music\n")
    return f"profile-divergence:taxonomy={path}"


@pytest.fixture
def log() -> qv.QueryLog:
    """Four users who sent tennis, two of whom also sent music."""
    sent = [(user, "tennis") for user in "abcd"] + [(user, "music") for user in "ab"]
    return qv.QueryLog.from_rows([(user, query, None, None, None) for user, query in sent])


def test_rows(log: qv.QueryLog, measure: str) -> None:
    methods = ["frequent-queries", qv.FrequentQueries(min_users=3)]
    found = compare(log, methods, sweep={"min_users": ["2", "4"]}, repeats=2, measures=[measure])
    assert [(r.label, r.params, r.repeat) for r in found.rows] == [
        ("frequent-queries", {"min_users": 2}, 1), ("frequent-queries", {"min_users": 2}, 2),
        ("frequent-queries", {"min_users": 4}, 1), ("frequent-queries", {"min_users": 4}, 2),
        ("frequent-queries:min-users=3", {}, 1), ("frequent-queries:min-users=3", {}, 2),
    ]  # fmt: skip
    half = pytest.approx(0.311278 / 2, abs=1e-6)  # a and b lose music
    assert [row.value for row in found.rows] == [0, 0, half, half, half, half]
    assert all(row.seconds >= 0 and row.error is None for row in found.rows)
    assert {row.details["counts"]["users"] for row in found.rows} == {4}


def test_the_table(log: qv.QueryLog, measure: str, tmp_path: Path) -> None:
    methods, sweep = (
        ["frequent-queries", "click-graph"],
        {"min_users": [2], "pseudonym_scope": ["user", "session"]},
    )
    ledger = str(tmp_path)  # click-graph is private: its ledger needs a place
    table = compare(log, methods, sweep=sweep, measures=[measure], ledger=ledger).to_polars()
    assert table.columns == [
        "method", "label", "min_users", "pseudonym_scope", "repeat", "measure", "value", "seconds",
        "error", "details",
    ]  # fmt: skip
    assert table["min_users"].to_list() == [2, 2, None]
    assert table["pseudonym_scope"].to_list() == ["user", "session", None]
    assert table["value"].null_count() == 1
    assert json.loads(table["details"][0])["counts"]["users"] == 4


def test_a_run_that_fails_is_a_row_and_the_others_go_on(log: qv.QueryLog, measure: str) -> None:
    methods = ["string-microaggregation", "frequent-queries:min-users=2"]
    found = compare(log, methods, sweep={"k": [9]}, measures=[measure])
    failed, done = found.rows
    assert failed.value is None
    assert "9" in failed.error
    assert done.value == 0
    assert found.to_polars()["error"].null_count() == 1


def test_a_method_that_would_release_nothing_is_measured_as_that(log: qv.QueryLog) -> None:
    measures = ["query-coverage", "record-linkage", "uniqueness"]
    rows = compare(log, ["frequent-queries:min-users=9"], measures=measures).rows
    assert [(row.value, row.error) for row in rows] == [(0, None)] * 3
    assert rows[1].details["counts"]["vanished"] == 4


def test_a_measure_that_fails_is_a_row(log: qv.QueryLog, measure: str, tmp_path: Path) -> None:
    methods = [
        "click-graph:epsilon=100:delta=0.01:max-queries-per-user=1",
        "frequent-queries:min-users=2",
    ]
    rows = compare(log, methods, measures=[measure], ledger=str(tmp_path)).rows
    assert [row.value for row in rows] == [None, 0]
    assert rows[0].error


def test_the_same_seed_gives_the_same_and_turns_differ(
    log: qv.QueryLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def peek(
        chosen: qv.Measure, context: object, release: qv.Release, rerun: object
    ) -> qv.MeasureResult:
        seen.append(tuple(sorted(release.mapping["pseudonym"])))
        return chosen.result(0.0)

    monkeypatch.setattr(cells, "compute_measure", peek)
    for seed in (7, 7, None):
        compare(
            log, ["frequent-queries:min-users=2"], measures=["uniqueness"], repeats=2, seed=seed
        )
    assert seen[:2] == seen[2:4]
    assert len(set(seen)) == 4


def test_private_methods_are_noted_and_nothing_is_spent(tmp_path: Path, synthetic: Path) -> None:
    path = Path(shutil.copy(synthetic, tmp_path / "log.tsv"))
    found = compare(qv.read_log(path), [PRIVATE, "frequent-queries:min-users=2"], repeats=2)
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        entries, spent = ledger.entries(), ledger.spent()
    assert [(entry.kind, entry.method, entry.notes) for entry in entries] == [
        ("look", "compare (dp-statistics)", (DATA_ACCESS_NOTE,))
    ]
    assert spent.epsilon == 0
    assert warnings_of(entries, spent, None, None) == []  # no release, and nothing to confirm
    assert DATA_ACCESS_NOTE in found.notes[0]
    assert DATA_ACCESS_NOTE in qv.anonymize(qv.read_log(path), PRIVATE).notes


def test_others_leave_a_note_too(tmp_path: Path, synthetic: Path, measure: str) -> None:
    path = Path(shutil.copy(synthetic, tmp_path / "log.tsv"))
    found = compare(qv.read_log(path), ["frequent-queries:min-users=2"])
    assert DATA_ACCESS_NOTE in found.notes[0]
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        assert [entry.kind for entry in ledger.entries()] == ["look"]


def test_a_private_method_on_a_log_without_a_place_is_refused(log: qv.QueryLog) -> None:
    with pytest.raises(qv.UsageError, match="not read from a file"):
        compare(log, [PRIVATE])


def test_what_is_wrong_is_told_before_anything_is_run(log: qv.QueryLog, measure: str) -> None:
    empty = qv.QueryLog.from_rows([])
    for bad, match in (
        (lambda: compare(log, []), "nothing"),
        (lambda: compare(log, ["frequent-queries"], measures=[]), "nothing"),
        (lambda: compare(log, ["frequent-queries"], measures=["x"]), "unknown measure"),
        (lambda: compare(log, ["frequent-queries"], repeats=0), "repeats must be"),
        (lambda: compare(log, ["frequent-queries"], seed=-1), "negative"),
        (lambda: compare(empty, ["frequent-queries"]), "no rows"),
        (lambda: get_preset("sanchez2017"), "sanchez2018"),
        (lambda: compare(log, ["frequent-queries"], workers=-1), "workers"),
        (
            lambda: compare(log, ["frequent-queries"], measures=[f"{measure}:topics=Cooking"]),
            "Cooking",
        ),
    ):
        with pytest.raises(qv.QueryveilError, match=match):
            bad()


def test_figures_share_runs(log: qv.QueryLog, measure: str) -> None:
    other = f"{measure}:topics=Sports"
    figures = [
        FigureSpec("one", ["frequent-queries"], measure, {"min_users": ["2", "3"]}, "min_users"),
        FigureSpec("two", ["frequent-queries"], other, {"min_users": ["3"]}, "min_users", "log"),
    ]
    found = compare_figures(log, FigureRequest(tuple(figures)))
    assert [(row.params["min_users"], row.measure) for row in found.rows] == [
        (2, measure), (3, measure), (3, other),
    ]  # fmt: skip
    assert [len(figure.runs) for figure in found.figures] == [2, 1]


def test_the_preset_of_the_paper() -> None:
    figures = PRESETS["sanchez2018"]
    assert len(figures) == 6
    assert {figure.measure for figure in figures} == {
        "profile-divergence:topics=sanchez19", "profile-divergence:topics=sanchez4",
    }  # fmt: skip
    for figure in figures:
        assert (figure.x, figure.scale) == ("epsilon", "log")
        letter = figure.title.split()[1][0]
        assert all(f"domain={letter}" in line for line in figure.methods)
        assert len(figure.methods) == (8 if letter == "A" else 9)
        assert qv.parse_measure(figure.measure)


# --- side by side, and from where it stopped -----------------------------------------------------


def _values(found: Comparison) -> list[ComparisonRow]:
    return [replace(row, seconds=None) for row in found.rows]


@pytest.fixture(scope="module")
def part(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first lines of the log, for what is run often."""
    path = tmp_path_factory.mktemp("part") / "log.tsv"
    path.write_text("".join(synthetic.read_text("utf-8").splitlines(keepends=True)[:2001]), "utf-8")
    return path


def test_workers_find_the_same(part: Path) -> None:
    methods, sweep = (
        ["string-microaggregation", "frequent-queries:min-users=3"],
        {"k": [2, 3, 9999]},
    )
    asked = {"sweep": sweep, "measures": ["record-linkage", "query-coverage"], "seed": 5}
    one = compare(qv.read_log(part), methods, **asked)
    two = compare(qv.read_log(part), methods, workers=2, **asked)
    assert _values(one) == _values(two)
    assert sum(row.error is not None for row in one.rows) == 2  # k = 9999


def test_what_is_known_is_not_run_again(
    part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, out, ran = qv.read_log(part), tmp_path / "out", []
    plain = cells.run_task
    monkeypatch.setattr(
        "queryveil.concepts.mapping.options.Mapper", cache(Mapper)
    )  # to make one takes most of a run

    def counted(before: object, task: cells.Task) -> dict:
        ran.append((str(task[0].run.method), [cell.line for cell in task]))
        return plain(before, task)

    monkeypatch.setattr("queryveil.comparison.runner.run_task", counted)

    def go(*measures: str, k: tuple[int, ...], resume: bool = True, **more: object) -> Comparison:
        journal = open_journal(out, resume=resume)
        asked = {"sweep": {"k": k}, "measures": measures, "journal": journal, **more}
        found = compare(log, ["string-microaggregation"], **asked)
        write_comparison(found, out, overwrite=True, journal=journal)
        return found

    first = go("query-coverage", k=(2, 3, 9999))
    assert first.known_before == 0
    assert len(ran) == 3
    again = go("query-coverage", k=(2, 3, 9999))
    assert again.known_before == 2  # what failed is tried again
    assert [row.value for row in again.rows] == [row.value for row in first.rows]
    assert ran[3:] == [("string-microaggregation:k=9999", ["query-coverage"])]
    ran.clear()
    more = go("query-coverage", "uniqueness", k=(3, 4))
    assert more.known_before == 1
    assert ran == [
        ("string-microaggregation:k=3", ["uniqueness"]),
        ("string-microaggregation:k=4", ["query-coverage", "uniqueness"]),
        *((str(run.method), ["query-coverage", "uniqueness"]) for run in REFERENCE_RUNS),
    ]
    ran.clear()
    for other in ({"seed": 1}, {"resume": False}):
        assert go("query-coverage", k=(3,), **other).known_before == 0
    assert len(ran) == 2
    assert not list(tmp_path.glob(".out*"))
    assert (out / "runs.jsonl").stat().st_mode & 0o077 == 0


def test_references_show_what_values_mean(part: Path) -> None:
    """The log as it is keeps all queries, an empty release none; both are no runs."""
    asked = ["query-coverage", "uniqueness"]
    found = compare(qv.read_log(part), ["frequent-queries:min-users=3"], measures=asked, repeats=2)
    values = {(row.label, row.measure): row.value for row in found.references}
    assert values["original log", "query-coverage"] == 1.0
    assert values["empty release", "query-coverage"] == 0.0
    assert {row.label for row in found.rows} == {"frequent-queries:min-users=3"}
    assert len(found.references) == 4  # one turn is enough
    alone = compare(qv.read_log(part), ["frequent-queries:min-users=3"], measures=asked[:1])
    assert alone.references == ()


def test_a_changed_file_is_another_ruler(synthetic: Path, tmp_path: Path, measure: str) -> None:
    log = qv.read_log(synthetic)
    for expected in (0, 1, 0):
        journal = open_journal(tmp_path / "out")
        found = compare(log, ["frequent-queries:min-users=3"], measures=[measure], journal=journal)
        assert found.known_before == expected
        if expected:
            path = Path(measure.partition("taxonomy=")[2])
            path.write_text(path.read_text() + "Top/Sports/Rowing\n")


def test_a_torn_line_is_left_out(synthetic: Path, tmp_path: Path) -> None:
    log, journal = qv.read_log(synthetic), open_journal(tmp_path / "out")
    asked = {"sweep": {"min_users": [2, 3]}, "measures": ["query-coverage"]}
    compare(log, ["frequent-queries"], journal=journal, **asked)
    whole = journal.path.read_text()
    journal.path.write_text(whole[:-20] + "\nnonsense\n[1]\n")
    found = compare(log, ["frequent-queries"], journal=open_journal(tmp_path / "out"), **asked)
    assert found.known_before == 1


def test_other_users_of_the_same_file_are_another_log(synthetic: Path, tmp_path: Path) -> None:
    log, found = qv.read_log(synthetic), []
    users = log.local_frame.select("user").unique(maintain_order=True).collect()
    for some in (users[:20], users[20:40]):
        journal = open_journal(tmp_path / "out")
        part = log.filter_users(some, "not of this half")
        asked = {"measures": ["query-coverage"], "journal": journal}
        found.append(
            compare(part, ["frequent-queries:min-users=1:min-click-users=1"], **asked).known_before
        )
    assert found == [0, 0]


def test_a_worker_tells_what_is_wrong_and_only_workers_are_stopped(
    part: Path, measure: str
) -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(3600,))
    other.start()
    try:
        with pytest.raises(qv.UsageError, match="Cooking"):
            compare(qv.read_log(part), ["frequent-queries"], sweep={"min_users": [2, 3]},
                    workers=2, measures=[f"{measure}:topics=Cooking"])  # fmt: skip
        other.join(0.3)
        assert other.is_alive()
    finally:
        other.terminate()
        other.join()


def test_nobodys_log_is_not_noted(tmp_path: Path, synthetic: Path) -> None:
    path = Path(shutil.copy(synthetic, tmp_path / "log.tsv"))
    asked = request_figures([PRIVATE], ["query-coverage"], {})
    found = compare_figures(qv.read_log(path), asked, RunOptions(synthetic=True))
    assert found.notes == ()
    assert not (tmp_path / "ledger.db").exists()


def test_a_log_without_files_has_no_journal(log: qv.QueryLog, tmp_path: Path) -> None:
    for _ in range(2):
        journal = open_journal(tmp_path / "out")
        how = {"measures": ["query-coverage"], "journal": journal}
        found = compare(log, ["frequent-queries:min-users=2"], **how)
        assert found.known_before == 0
        assert not journal.path.exists()


# --- files ---------------------------------------------------------------------------------------


@pytest.fixture
def found(log: qv.QueryLog, measure: str) -> Comparison:
    sweep = {"min_users": [2, 3, 9]}
    return compare(log, ["frequent-queries", "frequent-queries:min-users=4"], sweep=sweep,
                   measures=[measure], repeats=2, seed=3)  # fmt: skip


def test_the_folder(found: Comparison, tmp_path: Path) -> None:
    out = write_comparison(found, tmp_path / "out")
    assert {path.name for path in out.iterdir()} == {
        "results.csv", "results.parquet", "comparison.json", "report.html",
    }  # fmt: skip
    assert all(path.stat().st_mode & 0o077 == 0 for path in out.iterdir())
    read = pl.read_parquet(out / "results.parquet")
    assert read.equals(found.to_polars())
    assert pl.read_csv(out / "results.csv")["value"].to_list() == read["value"].to_list()
    card = json.loads((out / "comparison.json").read_text("utf-8"))
    assert card == json.loads(json.dumps(found.to_dict()))
    assert card["queryveil"] == qv.__version__
    assert "--sweep min-users=2,3,9" in card["command"]
    assert "--seed 3" in card["command"]


def test_a_folder_is_replaced_only_if_it_is_ours(found: Comparison, tmp_path: Path) -> None:
    out = found.write(tmp_path / "out")
    with pytest.raises(qv.OutputError, match="exists"):
        found.write(out)
    found.write(out, overwrite=True)
    (out / "mine.txt").write_text("mine")
    with pytest.raises(qv.OutputError, match="something else"):
        found.write(out, overwrite=True)


def test_a_stumble_leaves_nothing(
    found: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("queryveil.comparison.writing.render_comparison", stumble)
    with pytest.raises(KeyboardInterrupt):
        found.write(tmp_path / "out")
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]
