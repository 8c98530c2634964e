"""Planning, verifying, synthesizing, as workflows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.core.randomness import RandomSource
from queryveil.workflows.anonymization import check_release_output

LINES = [(f"u{n}", "weather", "2006-03-01 10:00:00", 1, "http://w.example") for n in range(12)]
LINES += [(f"u{n}", "red shoes", "2006-03-01 11:00:00", None, None) for n in range(6)]
LINES += [("u1", "only mine", "2006-03-01 12:00:00", None, None)]


# --- plan ----------------------------------------------------------------------------------------


def test_a_plan_says_what_other_values_would_keep() -> None:
    plan = qv.plan(qv.QueryLog.from_rows(LINES), qv.FrequentQueries(min_users=7))
    card = plan.preview
    assert card is not None
    assert card.output.to_dict() == {"rows": 12, "ids": 12, "queries": 1, "urls": 1}
    assert card.dropped == {"query of fewer than 7 users": 7}
    assert [(step.value, step.rows) for step in plan.alternatives] == [
        (2, 18), (5, 18), (7, 12), (10, 12), (20, 0), (30, 0), (50, 0), (100, 0),
    ]  # fmt: skip
    assert card.public.files == {}
    assert type(plan).from_dict(json.loads(plan.to_json())) == plan


def test_a_plan_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    qv.plan(qv.QueryLog.from_rows(LINES), qv.FrequentQueries(min_users=2))
    assert list(tmp_path.iterdir()) == []


def test_a_plan_that_keeps_nothing_says_what_would() -> None:
    with pytest.raises(qv.InputError, match="has 12 users: use no larger `min_users`"):
        qv.plan(qv.QueryLog.from_rows(LINES), qv.FrequentQueries(min_users=13))


# --- verify --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / "out"
    qv.anonymize(qv.QueryLog.from_rows(LINES), qv.FrequentQueries(min_users=5)).write(
        target, format="tsv"
    )
    return target


def test_verify_says_what_it_found(folder: Path) -> None:
    found = qv.verify(folder)
    assert found.holds is True
    assert (found.method, found.model, found.release_grade) == (
        "frequent-queries", "none", True,
    )  # fmt: skip
    says = " | ".join(finding.message for finding in found.findings)
    assert "each of 2 distinct values of query has 5 or more users" in says
    assert "times are given to the day only" in says
    assert "files are as written" in says


@pytest.mark.parametrize(
    ("name", "says"), [("nowhere", "there is no such folder"), ("log.tsv", "this is a file")]
)
def test_no_folder_is_told(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "log.tsv").write_text("x")
    with pytest.raises(qv.InputError, match=says):
        qv.verify(tmp_path / name)


def test_no_release_is_told(tmp_path: Path) -> None:
    with pytest.raises(qv.InputError, match="there is no release here"):
        qv.verify(tmp_path)


def test_a_damaged_card_of_the_owner_is_found(folder: Path) -> None:
    for text in ("no json", "[]", "\xff"):
        (folder / "private" / "card.json").write_text(text, "latin-1")
        found = qv.verify(folder)
        assert [f.check for f in found.findings if not f.holds] == ["card"]


def test_a_dangling_link_among_the_private_files_is_found(folder: Path) -> None:
    (folder / "private" / "link").symlink_to("nowhere")
    found = qv.verify(folder)
    assert [f.check for f in found.findings if not f.holds] == ["private"]


def test_the_private_folder_may_be_gone(folder: Path) -> None:
    for path in (folder / "private").iterdir():
        path.unlink()
    (folder / "private").rmdir()
    assert qv.verify(folder).holds


# --- the check before the work -------------------------------------------------------------------


def test_targets_are_refused_before_any_work(folder: Path, tmp_path: Path) -> None:
    check_release_output(tmp_path / "new", "tsv", False)
    check_release_output(folder, "tsv", True)
    with pytest.raises(qv.OutputError, match="exists already"):
        check_release_output(folder, "tsv", False)
    with pytest.raises(qv.UsageError, match="unknown output format"):
        check_release_output(tmp_path / "new", "doc", False)


# --- synth ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".tsv.zst", ".csv", ".jsonl", ".parquet"])
def test_a_synthetic_log_reads_back_in_every_form(tmp_path: Path, ending: str) -> None:
    made = qv.write_synthetic_log(tmp_path / f"log{ending}", users=20, lines=800, seed=3)
    assert (made.users, made.rows, made.seed) == (20, 800, 3)
    assert made.bytes == (tmp_path / f"log{ending}").stat().st_size
    plain = tmp_path / "plain.tsv"
    qv.write_synthetic_log(plain, users=20, lines=800, seed=3)
    found, expected = (qv.read_log(path) for path in (tmp_path / f"log{ending}", plain))
    assert found.accounting.rows == 800
    texts = pl.col("user", "query", "url").cast(pl.String)
    rows = [log.local_frame.with_columns(texts).collect() for log in (found, expected)]
    assert rows[0].equals(rows[1])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        qv.write_synthetic_log(tmp_path / f"{name}.tsv.gz", users=5, seed=8)
    one, two = ((tmp_path / f"{name}.tsv.gz").read_bytes() for name in ("one", "two"))
    assert one == two
    assert gzip.decompress(one).startswith(b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n1\t")


def test_synth_does_not_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    path.write_text("mine")
    with pytest.raises(qv.OutputError, match="exists already"):
        qv.write_synthetic_log(path, users=2)
    assert path.read_text() == "mine"
    qv.write_synthetic_log(path, users=2, overwrite=True)
    assert path.read_text() != "mine"


@pytest.mark.parametrize("name", ["log", "log.doc", "log.gz", ".zip"])
def test_synth_needs_a_known_ending(tmp_path: Path, name: str) -> None:
    with pytest.raises(qv.UsageError, match="does not say in what form"):
        qv.write_synthetic_log(tmp_path / name, users=2)


@pytest.mark.parametrize(
    "where", ["file/log.tsv", "missing/log.tsv", "/proc/log.tsv.gz", "missing/log.parquet"]
)
def test_synth_where_nothing_can_be_written(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(qv.OutputError, match=r"cannot be written \((?!None)"):
        qv.write_synthetic_log(tmp_path / where, users=2)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "numbers", [{"users": 0}, {"users": -1}, {"lines": 0}, {"seed": -1}, {"users": 5, "lines": 2}]
)
def test_synth_refuses_impossible_numbers(tmp_path: Path, numbers: dict[str, int]) -> None:
    with pytest.raises(qv.UsageError):
        qv.write_synthetic_log(tmp_path / "log.tsv", **numbers)
    assert list(tmp_path.iterdir()) == []


# --- samples ------------------------------------------------------------------------------------


def test_a_sample_that_can_be_drawn_again_is_not_for_publication(synthetic) -> None:
    log = qv.read_log(synthetic, sample_users=0.9, rng=RandomSource(seed=3))
    assert log.seeded
    assert qv.anonymize(log, qv.FrequentQueries(min_users=5)).not_release_grade_because
    secret = qv.read_log(synthetic, sample_users=0.9)
    assert not qv.anonymize(secret, qv.FrequentQueries(min_users=5)).not_release_grade_because
