"""Charts of a comparison: the right measures, and help with wrong names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_comparisons import RISK, USE, cells, compared

from queryveil.comparison.result import Comparison, Figure
from queryveil.errors import UsageError

ROWS = [
    *cells("a", {"k": 2}, found=1.0, kept=0.2), *cells("a", {"k": 5}, found=0.5, kept=0.1),
    *cells("b", {"epsilon": 1.0}, found=0.1, kept=0.3),
    *cells("b", {"epsilon": 10.0}, found=0.2, kept=0.4), *cells("c", {}, found=0.3, kept=0.2),
]  # fmt: skip


@pytest.fixture
def comparison() -> Comparison:
    runs = tuple(dict.fromkeys((row.label, row.method) for row in ROWS))
    figures = tuple(Figure(name, name, "k", "auto", runs) for name in ("found", "kept"))
    return replace(compared(ROWS, found=RISK, kept=USE), figures=figures)


def test_a_scatter_chart_of_the_named_measures(comparison: Comparison) -> None:
    chart = comparison.plot("found", "kept")
    assert repr(chart) == "Chart('users found and queries kept')"
    assert chart.svg == comparison.plot().svg
    assert "queries kept" in chart.svg


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ({"x": "fuond"}, 'no risk measure "fuond"', 'did you mean "found"?'),
        ({"x": "kept"}, 'no risk measure "kept"', "known are: found"),
        ({"y": "kep"}, 'no utility measure "kep"', 'did you mean "kept"?'),
    ],
)
def test_a_wrong_measure(
    comparison: Comparison, asked: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        comparison.plot(**asked)
    assert raised.value.hint == hint


def test_lines_have_a_chart_for_each_swept_parameter(comparison: Comparison) -> None:
    chart = comparison.plot_lines("kept")
    assert [panel.x_axis.title for panel in chart.panels] == ["k", "epsilon"]
    assert [len(panel.lines) for panel in chart.panels] == [2, 2]  # `c` is a level line in both
    first, second = ([entry.label for entry in panel.legend] for panel in chart.panels)
    assert sorted(first) == ["a", "c"]
    assert sorted(second) == ["b", "c"]
    looks = {entry.label: (entry.tint, entry.dashes) for p in chart.panels for entry in p.legend}
    assert len(set(looks.values())) == 3  # one legend for both


def test_lines_over_one_parameter(comparison: Comparison) -> None:
    (panel,) = comparison.plot_lines("kept", x="epsilon").panels
    assert panel.x_axis.title == "epsilon"
    assert comparison.plot_lines().panels[0].title == "found over k"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [(("keptt",), 'did you mean "kept"?'), (("kept", "epsilom"), "did you mean `epsilon`?")],
)
def test_a_wrong_line(comparison: Comparison, asked: tuple[str, ...], hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        comparison.plot_lines(*asked)
    assert raised.value.hint == hint


def test_without_risk_or_utility_there_is_nothing_to_scatter() -> None:
    rows = cells("a", {}, kept=1.0)
    with pytest.raises(UsageError, match="no risk and utility") as raised:
        compared(rows, kept=USE).plot()
    assert "plot_lines" in raised.value.hint
