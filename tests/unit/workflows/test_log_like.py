"""Every function that needs a log takes files and frames too, with the options for reading them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import polars as pl
import pytest

import queryveil as qv
from queryveil.log.keywords import READING_OPTIONS

COLUMNS = "user=customer,query=search"
FRAME = pl.DataFrame(
    {"customer": [1, 2, 3, 4], "search": ["Red Shoes", "red  shoes", "boots", "red shoes"]}
)


@pytest.fixture(params=["pandas", "polars", "csv", "read"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, dict[str, Any]]:
    """Give the same log in several forms, with the options to read it."""
    if request.param == "pandas":
        return pandas.DataFrame(FRAME.to_dict(as_series=False)), {"columns": COLUMNS}
    FRAME.write_csv(tmp_path / "log.csv")
    if request.param == "csv":
        return str(tmp_path / "log.csv"), {"columns": {"user": "customer", "query": "search"}}
    if request.param == "read":
        return qv.read_log(FRAME, columns=COLUMNS), {}
    return FRAME, {"columns": COLUMNS}


def test_all_workflows_take_it(source: tuple[Any, dict[str, Any]], tmp_path: Path) -> None:
    log, reading = source
    method = qv.FrequentQueries(min_users=2)
    release = qv.anonymize(log, method, **reading)
    assert release.to_polars()["query"].to_list() == ["red shoes"] * 3
    assert qv.profile(log, **reading).size.users == 4
    planned = qv.plan(log, method, **reading)
    assert planned.preview is not None
    assert planned.preview.output.rows == 3
    assert qv.measure(log, release, qv.QueryCoverage(), **reading).value == 0.5
    compared = qv.compare(log, method, measures=qv.QueryCoverage, **reading)
    assert [row.value for row in compared.rows] == [0.5]
    assert qv.map_log(log, **reading).coverage() == 1.0
    release.write(tmp_path / "out")
    assert qv.read_release(tmp_path / "out", log, **reading).method == "frequent-queries"


def test_a_method_is_an_object_a_spec_or_a_name_with_parameters() -> None:
    releases = [
        qv.anonymize(FRAME, qv.FrequentQueries(min_users=2), columns=COLUMNS),
        qv.anonymize(FRAME, "frequent-queries:min-users=2", columns=COLUMNS),
        qv.anonymize(FRAME, "frequent-queries", min_users=2, columns=COLUMNS),
        qv.anonymize(FRAME, qv.FrequentQueries, min_users=2, columns=COLUMNS),
    ]
    assert len({release.method_spec for release in releases}) == 1
    assert qv.plan("nowhere.csv", "dp-statistics", epsilon=2).guarantee.epsilon == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: qv.anonymize(FRAME, qv.FrequentQueries(), epsilonn=1), "no argument \"epsilonn\""),
        (lambda: qv.anonymize(FRAME, qv.FrequentQueries(), ledgr="a"), "did you mean `ledger`"),
        (lambda: qv.anonymize(FRAME, qv.FrequentQueries(), min_users=3),
         r"`min_users` is a parameter of the method.*FrequentQueries\(min_users=\.\.\.\)"),
        (lambda: qv.anonymize(FRAME, "dp-statistics", epsilonn=1), "did you mean `epsilon`"),
        (lambda: qv.anonymize(FRAME, "frequent-queries:min-users=2", min_users=3), "too"),
        (lambda: qv.anonymize(FRAME, "frequent-query"), 'did you mean "frequent-queries"'),
        (lambda: qv.anonymize(FRAME, 7), "a value of type int is not a method"),
        (lambda: qv.plan(FRAME, "frequent-queries", colums="a"), "did you mean `columns`"),
        (lambda: qv.measure(FRAME, "out", measurs="a"), "did you mean `measures`"),
        (lambda: qv.measure(FRAME, "out", 7), "type int is not a measure"),
        (lambda: qv.compare(FRAME, "frequent-queries", measurs="a"), "did you mean `measures`"),
        (lambda: qv.profile(FRAME, taxonmy="a"), "did you mean `taxonomy`"),
        (lambda: qv.verify("out", signr="a"), "did you mean `signer`"),
        (lambda: qv.anonymize(qv.read_log(FRAME, columns=COLUMNS), "frequent-queries", columns="a"),
         r"has been read already, so `columns` has no effect.*read_log\(columns="),
    ],
)  # fmt: skip
def test_mistakes_are_answered(call: Any, message: str) -> None:
    with pytest.raises((qv.UsageError, TypeError), match=message):
        call()


def test_a_text_is_one_measure_and_never_iterated() -> None:
    log = qv.read_log(FRAME, columns=COLUMNS)
    release = qv.anonymize(log, "frequent-queries", min_users=2)
    alone = qv.measure(log, release, "query-coverage")
    assert isinstance(alone, qv.MeasureResult)
    several = qv.measure(log, release, (name for name in ["query-coverage", "uniqueness"]))
    assert isinstance(several, qv.MeasureResults)
    assert several["query-coverage"] == alone
    assert qv.measure(log, release, [qv.QueryCoverage]) == qv.measure(log, release, [alone.measure])


def test_no_parameter_of_a_method_is_an_option_for_reading() -> None:
    for kind in qv.METHODS.values():
        assert not {declared.name for declared in kind.parameters()} & set(READING_OPTIONS)


def test_a_private_release_of_a_frame_needs_the_name_of_a_ledger(tmp_path: Path) -> None:
    method = qv.DpStatistics(epsilon=1)
    with pytest.raises(qv.UsageError, match=r'not read from a file.*`ledger="NAME"`'):
        qv.anonymize(FRAME, method, columns=COLUMNS)
    release = qv.anonymize(FRAME, method, columns=COLUMNS, ledger=str(tmp_path))
    with qv.open_ledger(str(tmp_path)) as ledger:
        assert [entry.kind for entry in ledger.entries()] == ["dp"]
    # Rows that cannot be read stop no private release, as on the command line.
    assert not any("limit on rows that cannot be read" in note for note in release.notes)
    bad = FRAME.with_columns(customer=pl.lit(None, pl.String))
    qv.anonymize(bad, method, columns=COLUMNS, ledger=str(tmp_path))
    with pytest.raises(qv.TooManyRejectedError):
        qv.anonymize(bad, qv.FrequentQueries(), columns=COLUMNS)


def test_a_look_at_a_frame_says_that_no_ledger_recorded_it(tmp_path: Path) -> None:
    assert "not recorded" in qv.profile(FRAME, columns=COLUMNS).notes[0]
    noted = qv.profile(FRAME, columns=COLUMNS, ledger=str(tmp_path)).notes
    assert noted[0].startswith("Recorded in the ledger")
    assert qv.profile(qv.make_log(3, lines=20)).notes == ()


def test_a_journal_can_be_named_by_its_path(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "log.csv")
    arguments: dict[str, Any] = {"columns": COLUMNS, "measures": "query-coverage"}
    for known in (0, 1):
        journal = tmp_path / "runs.jsonl"
        compared = qv.compare(
            tmp_path / "log.csv", "frequent-queries:min-users=2", journal=journal, **arguments
        )
        assert compared.known_before == known
