"""A comparison as an object: its JSON document, its tables, and the journal of its rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_comparisons import cells, compared

import queryveil as qv
from queryveil.comparison.journal import Journal, JournalEntry, open_journal
from queryveil.core.schemas import json_schema
from queryveil.errors import InputError

LOG = qv.QueryLog.from_rows([(user, "tennis", None, None, None) for user in "abcd"])


@pytest.fixture(scope="module")
def comparison() -> qv.Comparison:
    methods = ["frequent-queries", "string-microaggregation:k=9999:min-users=2"]
    return qv.compare(LOG, methods, sweep={"min_users": [2, 3]}, measures=["uniqueness"], seed=1)


def test_a_comparison_comes_back_from_its_json_text(comparison: qv.Comparison) -> None:
    document = json.loads(comparison.to_json())
    assert qv.Comparison.from_dict(document) == comparison
    assert (document["schema"], document["repeats"], document["seed"]) == (1, 1, 1)
    assert set(json_schema(qv.Comparison)["properties"]) - set(document) == {
        "detectors",
        "references",
    }


def test_values_and_errors_are_attributes(comparison: qv.Comparison) -> None:
    assert [row.params for row in comparison.rows] == [{"min_users": 2}, {"min_users": 3}, {}]
    assert [row.value for row in comparison.rows] == [0.0, 0.0, None]
    assert "9999" in comparison.rows[2].error
    assert comparison.rows[0].counts["users"] == 4
    assert comparison.measures["uniqueness"].kind == "risk"


def test_reprs_have_no_private_data(comparison: qv.Comparison) -> None:
    assert repr(comparison) == "Comparison(3 rows: 2 methods, 1 measures, repeats=1)"
    assert repr(comparison.rows[0]) == "ComparisonRow(uniqueness of frequent-queries = 0)"
    (row,) = cells("m:taxonomy=/home/owner/x.qvt", {}, loss=None)
    assert repr(row) == "ComparisonRow(loss of m = none)"
    assert repr(comparison.log) == "LogSummary(rows=4, users=4, queries=1)"


def test_tables(comparison: qv.Comparison) -> None:
    polars, pandas = comparison.to_polars(), comparison.to_pandas()
    assert list(pandas.columns) == polars.columns
    assert pandas["measure"].tolist() == polars["measure"].to_list()
    assert pandas["value"].isna().tolist() == [False, False, True]


def test_the_journal_has_rows_with_a_schema(tmp_path: Path) -> None:
    (row,) = compared(cells("m", {"k": 2}, found=1.5)).rows
    Journal(tmp_path / "runs.jsonl").add({"a": row})
    assert Journal(tmp_path / "runs.jsonl").known("a") == row
    document = json.loads((tmp_path / "runs.jsonl").read_text())
    assert document["schema"] == JournalEntry.schema_number == 2
    assert JournalEntry.from_dict(document) == JournalEntry("a", row)


def test_a_journal_of_another_version_is_refused_with_a_hint(tmp_path: Path) -> None:
    old = {"key": "a", "seconds": 0.1, "value": 1.0, "error": None, "told": {}}
    (tmp_path / ".out.runs.jsonl").write_text(json.dumps(old) + "\n")
    with pytest.raises(InputError, match="another version") as refused:
        open_journal(tmp_path / "out")
    assert "`resume=False`" in refused.value.hint
    assert open_journal(tmp_path / "out", resume=False).known("a") is None
