"""Measured values as bars, beside what other values mean."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UsageError
from ...render.charts.bars import Bar, Reference, bar_chart
from ...render.charts.picture import Chart
from ...render.charts.scales import format_number, is_drawable
from ..result import MeasureResult, baseline_title, sort_baselines

_TINTS = {"risk": "tint1", "utility": "tint0"}
_ARROWS = {"lower": "\N{DOWNWARDS ARROW}", "higher": "\N{UPWARDS ARROW}"}


def results_chart(method: str, results: Mapping[str, MeasureResult]) -> Chart:
    """Return a chart of measured values, the risks first; each has a scale of its own."""
    order = sorted(results.values(), key=lambda result: result.kind != "risk")
    bars = [_bar(result) for result in order if is_drawable(result.value)]
    note = "red: risk, blue: utility; strokes: baselines; arrows: what is better; scales differ"
    title = f"Measured risk and utility of {method}"
    panel = bar_chart(bars, title=title, x_title=note)
    if panel is None:
        raise UsageError("no measure has a value to draw")
    return Chart(title, (panel,))


def _bar(result: MeasureResult) -> Bar:
    value = result.value or 0.0
    baselines = tuple(
        Reference(baseline_title(name), result.baselines[name])
        for name in sort_baselines(result.baselines)
        if is_drawable(result.baselines[name])
    )
    known = result.interval
    interval = None if known is None else (known.low, known.high)
    highest = max(value, *(interval or ()), *(baseline.value for baseline in baselines), 0.0)
    natural = 1.0 if "0 to 1" in result.unit else 100.0 if "percent" in result.unit else 0.0
    unit = result.unit.partition(",")[0]
    return Bar(
        label=result.measure.partition(":")[0],
        value=value,
        text=f"{format_number(value)} {_ARROWS[result.better]}",
        interval=interval,
        maximum=max(highest, natural) or 1.0,
        references=baselines,
        tint=_TINTS[result.kind],
        detail=f"{result.title}, {unit}; {result.better} is better",
    )
