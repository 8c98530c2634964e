"""What was measured of a written release stands in its owner's report, and nowhere else."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.comparison.release_measurement import ReleaseMeasurement, measure_folder

FAST = ("record-linkage", "query-coverage")


@pytest.fixture
def folder(synthetic: Path, tmp_path: Path) -> Path:
    qv.anonymize(qv.read_log(synthetic), qv.FrequentQueries(min_users=4)).write(tmp_path / "out")
    return tmp_path / "out"


def test_the_private_report_has_the_figures(synthetic: Path, folder: Path) -> None:
    public = {path.name: path.read_bytes() for path in (folder / "public").iterdir()}
    found = measure_folder(qv.read_log(synthetic), folder, FAST)
    private = folder / "private"
    assert found.report == str(private / "report.html")
    page = (private / "report.html").read_text()
    for result in found.results.values():
        assert result.title in page
    assert {path.name: path.read_bytes() for path in (folder / "public").iterdir()} == public
    assert all(path.stat().st_mode & 0o077 == 0 for path in private.iterdir())
    assert qv.verify(folder).holds


def test_what_was_measured_before_stays(synthetic: Path, folder: Path) -> None:
    log = qv.read_log(synthetic)
    measure_folder(log, folder, ["record-linkage"])
    measure_folder(log, folder, ["query-coverage"])
    kept = json.loads((folder / "private" / "measures.json").read_text())
    assert set(kept["measures"]) == set(FAST)


def test_the_frontier_has_this_release_in_it(synthetic: Path, folder: Path) -> None:
    log = qv.read_log(synthetic)
    found = measure_folder(
        log, folder, FAST, sweep={"min_users": [3, 4]}, methods=["frequent-queries:min-users=9"]
    )
    rows = found.comparison.rows
    labels = {(row.label, tuple(row.params.items())) for row in rows}
    assert labels == {
        ("this release", ()), ("frequent-queries", (("min_users", 3),)), ("frequent-queries:"
                                                                  "min-users=9", ()),
    }  # fmt: skip
    own = {row.measure: row.value for row in rows if row.label == "this release"}
    assert own == {spec: result.value for spec, result in found.results.items()}
    assert "this release" in (folder / "private" / "report.html").read_text()
    measure_folder(log, folder, ["uniqueness"])  # the frontier stays
    assert "comparison" in json.loads((folder / "private" / "measures.json").read_text())


def test_a_public_copy_is_measured_without_a_report(synthetic: Path, folder: Path) -> None:
    shutil.rmtree(folder / "private")
    found = measure_folder(qv.read_log(synthetic), folder, ["query-coverage"])
    assert found.report is None
    assert not (folder / "private").exists()


def test_another_log_is_refused(synthetic: Path, folder: Path, tmp_path: Path) -> None:
    """Its figures would say that nobody can be found."""
    qv.write_synthetic_log(tmp_path / "other.tsv", users=30, seed=99)
    before = (folder / "private" / "report.html").read_bytes()
    with pytest.raises(qv.UsageError, match="another log"):
        measure_folder(qv.read_log(tmp_path / "other.tsv"), folder, FAST)
    assert (folder / "private" / "report.html").read_bytes() == before
    packed = tmp_path / "same.tsv.gz"
    packed.write_bytes(gzip.compress(synthetic.read_bytes()))
    assert measure_folder(qv.read_log(packed), folder, FAST).report


def test_a_sweep_of_nothing_is_told_before_anything_is_measured(
    synthetic: Path, folder: Path
) -> None:
    with pytest.raises(qv.UsageError, match='none of the methods has the parameter "zz"'):
        measure_folder(qv.read_log(synthetic), folder, FAST, sweep={"zz": [1, 2]})
    assert not (folder / "private" / "measures.json").exists()


def test_a_method_with_files_is_run_again_with_them(synthetic: Path, tmp_path: Path) -> None:
    """The public card has the name of the file alone; the owner's has its path."""
    (tmp_path / "own").mkdir()
    tree = tmp_path / "own" / "tree.txt"
    tree.write_text("Top/Sports/Tennis\nTop/Arts/Music\n")
    method = qv.CategoryMicroaggregation(k=2, taxonomy=str(tree), min_coverage=0)
    qv.anonymize(qv.read_log(synthetic), method).write(tmp_path / "out")
    assert str(tree) not in (tmp_path / "out" / "public" / "release.json").read_text()
    found = measure_folder(
        qv.read_log(synthetic), tmp_path / "out", ["uniqueness"], sweep={"k": [3]}
    )
    assert [row.error for row in found.comparison.rows] == [None, None]


def test_earlier_measurements_that_cannot_be_read_are_replaced_with_a_note(
    synthetic: Path, folder: Path
) -> None:
    path = folder / "private" / "measures.json"
    for text in ('{"method": "m", "measures": {"record-linkage": {"words": "w"}}}', "nonsense"):
        path.write_text(text)
        found = measure_folder(qv.read_log(synthetic), folder, ["query-coverage"])
        assert "they are replaced" in found.results.notes[-1]
        kept = ReleaseMeasurement.from_dict(json.loads(path.read_text()))
        assert set(kept.results) == {"query-coverage"}
