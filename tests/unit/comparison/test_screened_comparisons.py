"""Every method of a comparison is run with the same identifiers, topics and detectors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import queryveil as qv
from queryveil.comparison.comparing import compare_figures
from queryveil.comparison.grid import MethodRun, request_figures
from queryveil.comparison.journal import open_journal
from queryveil.comparison.references import ORIGINAL
from queryveil.comparison.result import RunOptions
from queryveil.comparison.runner import Measurement, run_task
from queryveil.errors import UsageError
from queryveil.log.detectors import DETECTORS, Detector
from queryveil.measures.base import parse_measure
from queryveil.measures.context import MeasureContext
from queryveil.workflows.screened_runs import Screening

GOLF = Detector("golf", "the word golf", "1", lambda texts: texts.str.contains("golf"))
QUERIES = ("weather", "jane@mail.example", "breast cancer", "golf")
METHODS = ["frequent-queries:min-users=3:min-click-users=3", "string-microaggregation:k=3"]
COVERAGE = "query-coverage"
SETTINGS: dict[str, tuple[dict[str, Any], float, str]] = {
    "default": ({}, 0.75, ""),
    "identifiers": ({"identifiers": "keep"}, 1.0, "--identifiers keep"),
    "sensitive": ({"sensitive": "drop: health"}, 0.5, "--sensitive drop:health"),
    "detectors": ({"detectors": "golf"}, 0.5, "--detectors golf"),
    "both": ({"sensitive": "drop", "detectors": ["golf"]}, 0.25, "--sensitive drop --detectors"),
}


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    with DETECTORS.adding("golf", GOLF):
        yield


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    rows = [f"u{user},{query},2006-03-01 10:00:00" for query in QUERIES for user in range(9)]
    path.write_text("\n".join(["user,query,time", *rows]) + "\n")
    return path


@pytest.mark.parametrize(("setting", "value", "typed"), SETTINGS.values(), ids=SETTINGS)
def test_every_method_runs_as_anonymize_would(
    setting: dict[str, Any], value: float, typed: str, path: Path
) -> None:
    log = qv.read_log(path)
    compared = qv.compare(log, METHODS, measures=COVERAGE, seed=1, **setting)
    released = [qv.anonymize(log, method, seed=1, **setting) for method in METHODS]
    measured = [qv.measure(log, release, COVERAGE).value for release in released]
    assert [row.value for row in compared.rows] == measured
    assert measured[0] == value
    assert typed in compared.command
    assert compared.options.sensitive == released[0].sensitive
    assert list(compared.options.detectors) == [use.name for use in released[0].detectors]
    document = json.loads(compared.to_json())
    assert document.get("detectors", []) == list(compared.options.detectors)
    assert qv.Comparison.from_dict(document) == compared


def test_references_are_of_the_whole_log(path: Path) -> None:
    measures = [COVERAGE, "rare-query-exposure"]
    compared = qv.compare(
        qv.read_log(path), METHODS[0], measures=measures, sensitive="drop", detectors="golf"
    )
    values = {row.label: row.value for row in compared.references if row.measure == COVERAGE}
    assert values[ORIGINAL] == 1


def test_a_document_of_before_has_the_defaults(path: Path) -> None:
    document = qv.compare(qv.read_log(path), METHODS[0], measures=COVERAGE).to_dict()
    del document["sensitive"]
    options = qv.Comparison.from_dict(document).options
    assert (options.sensitive, options.detectors) == ("keep", ())


def test_what_is_known_is_known_for_one_setting(path: Path, tmp_path: Path) -> None:
    log, request = qv.read_log(path), request_figures(METHODS[:1], [COVERAGE], {})

    def count_known(**setting: Any) -> int:
        journal = open_journal(tmp_path / "out")
        return compare_figures(log, request, RunOptions(**setting), journal=journal).known_before

    settings = [
        {}, {"identifiers": "keep"}, {"sensitive": "drop"}, {"detectors": ("golf",)},
    ]  # fmt: skip
    assert [count_known(**setting) for setting in settings] == [0, 0, 0, 0]
    assert [count_known(**setting) for setting in settings] == [1, 1, 1, 1]


def test_another_version_of_a_detector_runs_again(path: Path, tmp_path: Path) -> None:
    log, journal = qv.read_log(path), tmp_path / "runs.jsonl"
    for version, known in (("2", 0), ("3", 0), ("2", 1)):
        with DETECTORS.adding("other", replace(GOLF, name="other", version=version)):
            compared = qv.compare(
                log, METHODS[0], measures=COVERAGE, detectors="other", journal=journal
            )
        assert compared.known_before == known


def test_a_run_without_the_detector_has_no_value(path: Path) -> None:
    """As in another process, which knows only the detectors of installed distributions."""
    measure, run = parse_measure(COVERAGE), MethodRun(qv.parse_method(METHODS[0]), METHODS[0], {})
    screening = Screening(detectors=("of a notebook",))
    cell = Measurement(run, COVERAGE, measure, 1, None, screening, "key")
    row = run_task(MeasureContext(qv.read_log(path)), (cell,))["key"]
    assert row.value is None
    assert 'unknown detector "of a notebook"' in row.error


def test_detectors_and_kept_identifiers_are_refused_before_the_log_is_read() -> None:
    with pytest.raises(UsageError, match="`identifiers` is keep"):
        qv.compare("no.csv", METHODS[0], detectors="golf", identifiers="keep")


Run = Callable[..., tuple[int, str, str]]


def test_the_command_takes_them(cli: Run, path: Path) -> None:
    words = ("compare", path, "--methods", METHODS[0], "--measures", COVERAGE, "--json")
    typed = ("--sensitive", "drop:health", "--detectors", "golf", "--out", "out")
    document = json.loads(cli(*words, *typed)[1])
    assert (document["sensitive"], document["detectors"]) == ("drop:health", ["golf"])
    assert [row["value"] for row in document["rows"]] == [0.25]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("--identifiers", "lose"), "drop, mask or keep"),
        (("--sensitive", "drop:helth"), 'did you mean "health"'),
        (("--detectors", "gulf"), 'did you mean "golf"'),
        (("--detectors", "golf", "--identifiers", "keep"), "keep"),
    ],
)
def test_a_wrong_setting_is_refused_before_the_log_is_opened(
    typed: tuple[str, ...], says: str, cli: Run
) -> None:
    code, _, error = cli("compare", "no.csv", "--methods", METHODS[0], "--out", "out", *typed)
    assert code == 2
    assert says in error
    assert "no.csv" not in error
