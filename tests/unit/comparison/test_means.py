"""Means over repeats, their confidence intervals, and the figure of utility."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_comparisons import RISK, USE, cells, compared

import queryveil as qv
from queryveil.comparison.means import average
from queryveil.comparison.page import render_comparison
from queryveil.comparison.references import EMPTY, ORIGINAL
from queryveil.comparison.result import Comparison, ComparisonRow
from queryveil.comparison.utility import add_means
from queryveil.core.schemas import json_schema

LOSS = replace(USE, better="lower")


def with_references(
    rows: list[ComparisonRow], original: dict[str, float | None], empty: dict[str, float | None]
) -> Comparison:
    references = [*cells(ORIGINAL, {}, **original), *cells(EMPTY, {}, **empty)]
    comparison = compared(rows, found=RISK, kept=USE, loss=LOSS)
    return add_means(replace(comparison, references=tuple(references)))


def test_an_interval_by_hand() -> None:
    # Four values: mean 5, standard deviation 2.582, t is 3.182 at 3 degrees of freedom.
    value = average([2.0, 4.0, 6.0, 8.0])
    assert (value.runs, value.mean) == (4, 5)
    assert value.interval.low == pytest.approx(5 - 3.182446 * 2.581989 / 2, abs=1e-5)
    assert value.interval.high == pytest.approx(5 + 3.182446 * 2.581989 / 2, abs=1e-5)
    same = average([3.0, 3.0])
    assert (same.interval.low, same.interval.high) == (3, 3)
    assert average([3.0]).interval is None


def test_the_figure_of_utility_by_hand() -> None:
    rows = [
        *cells("m", {"k": 2}, 1, found=9.0, kept=0.5, loss=30.0),
        *cells("m", {"k": 2}, 2, found=9.0, kept=0.7, loss=50.0),
    ]
    found = with_references(rows, {"kept": 1.0, "loss": 0.0}, {"kept": 0.0, "loss": 100.0})
    (run,) = found.means
    # The scores are 0.5 and 0.7 in the first repeat, 0.7 and 0.5 in the second.
    assert run.utility.mean == pytest.approx(0.6)
    assert run.utility.interval.low == pytest.approx(run.utility.interval.high)
    assert run.scores == {"kept": pytest.approx(0.6), "loss": pytest.approx(0.6)}
    assert run.measures["loss"].mean == 40
    assert run.measures["loss"].interval.high == pytest.approx(40 + 12.7062 * 10, abs=1e-2)
    assert run.no_utility_because is None


def test_guessing_and_the_unprotected_log_are_references_too() -> None:
    (row,) = cells("m", {}, loss=40.0)
    row = replace(row, details={"baselines": {"chance": 80.0, "original": 20.0}})
    rows = [*cells("m", {}, kept=2.0), row]
    found = with_references(rows, {"kept": 1.0, "loss": 0.0}, {"kept": 0.0, "loss": 100.0})
    assert found.means[0].scores == {"kept": 1.0, "loss": pytest.approx(40 / 60)}


@pytest.mark.parametrize(
    ("values", "original", "reason"),
    [
        ({"kept": 0.5}, {"kept": 1.0, "loss": 0.0}, "loss was not measured for this run"),
        ({"kept": 0.5, "loss": None}, {"kept": 1.0, "loss": 0.0}, "no value for m: no loss here"),
        ({"kept": 0.5, "loss": 1.0}, {"kept": 1.0}, "original log and an empty release"),
        ({"kept": 0.5, "loss": 1.0}, {"kept": 1.0, "loss": None}, "no value for original log"),
        ({"kept": 0.5, "loss": 1.0}, {"kept": 0.0, "loss": 0.0}, "kept is not better for"),
        ({"kept": 0.5, "loss": float("nan")}, {"kept": 1.0, "loss": 0.0}, "its value is nan"),
    ],
)
def test_no_figure_without_every_score(values: dict, original: dict, reason: str) -> None:
    found = with_references(cells("m", {}, **values), original, {"kept": 0.0, "loss": 9.0})
    (run,) = found.means
    assert run.utility is None
    assert run.scores == {}
    assert reason in run.no_utility_because


def test_risks_alone_have_no_utility() -> None:
    (run,) = add_means(compared(cells("m", {}, found=1.0), found=RISK)).means
    assert (run.utility, run.no_utility_because) == (None, "no utility was measured")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    path = tmp_path_factory.mktemp("means") / "log.tsv"
    qv.write_synthetic_log(path, users=60, seed=4)
    return qv.compare(
        path,
        ["frequent-queries:min-users=3", "string-microaggregation"],
        sweep={"k": [3, 4]},
        repeats=3,
        seed=1,
        measures=["uniqueness", "query-coverage", "query-frequency-error", "word-frequency-error"],
    )


def test_every_run_has_means_limits_and_a_utility(comparison: Comparison) -> None:
    assert len(comparison.means) == 3
    for run in comparison.means:
        assert 0 <= run.utility.mean <= 1
        assert run.utility.runs == 3
        coverage = run.measures["query-coverage"]
        assert coverage.interval is not None
        assert coverage.mean <= coverage.best_with_threshold
        errors = run.measures["word-frequency-error"]
        assert errors.mean >= errors.best_with_threshold
        assert run.measures["uniqueness"].best_with_threshold is None
    assert Comparison.from_dict(comparison.to_dict()) == comparison
    assert set(json_schema(Comparison)["properties"]) - {"detectors"} == set(comparison.to_dict())


def test_the_means_are_a_table(comparison: Comparison) -> None:
    table = comparison.means_table()
    assert table.columns == [
        "method", "label", "k", "measure", "runs", "mean", "low", "high", "best_with_threshold",
    ]  # fmt: skip
    assert table.height == 3 * 5
    assert table["measure"].to_list()[4] == "utility"
    assert (table["low"] <= table["mean"]).all()


def test_the_page_has_them(comparison: Comparison) -> None:
    page = render_comparison(comparison)
    for text in (
        "at best ",
        "utility: the mean of the scores",
        "95%: ",
        "best with this threshold",
    ):
        assert text in page
    plain = render_comparison(replace(comparison, means=()))
    assert "utility: the mean" not in plain


def test_written(comparison: Comparison, tmp_path: Path) -> None:
    comparison.write(tmp_path / "out")
    text = (tmp_path / "out" / "comparison.json").read_text()
    assert '"best_with_threshold"' in text
    assert '"utility"' in text
