"""The scatter chart of risk and utility: a mark for each run, and the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..render.charts.scales import color, marker, star_marker
from .series import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    MeasureAxis,
    RunSummary,
    make_measure_axis,
    measures_of_kind,
    sort_runs,
    summarize_runs,
)


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points that no other point dominates, by increasing risk.

    A point is (risk, utility). Another point dominates it if it is at least as good in both, and
    better in one.

    >>> pareto_front([(1, 1), (2, 5), (3, 4), (2, 5), (0, 0)])
    [4, 0, 1, 3]
    """
    front: list[int] = []
    best_use, last = -math.inf, (math.nan, math.nan)
    for index in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        risk, use = points[index]
        if use > best_use or (risk, use) == last:
            front.append(index)
            best_use, last = use, (risk, use)
    return front


THIS = "this release"  # the label of the run of the reported release
FAR = 540  # marks further right have their text on the left
LETTER, TALL = 7, 14  # approximate width and height of a letter beside a mark
GONE = ' display="none"'

STYLE = """
.scatter { overflow: visible; } .scatter .frame { fill: none; stroke: var(--soft); }
.scatter .name { fill: var(--ink); font-weight: 600; }
.scatter .join { fill: none; stroke: var(--c); stroke-width: 1.2; opacity: .55; }
.scatter .step { fill: none; stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: 2 3; }
.scatter .run { --c: var(--soft); outline: none; } .scatter .reach { fill: none; }
.scatter .run .mark { opacity: .75; }
.scatter .run.best .mark { opacity: 1; stroke: var(--ink); stroke-width: 2; }
.scatter .at { font-size: 11.5px; fill: var(--ink); paint-order: stroke; stroke: var(--card);
  stroke-width: 3px; stroke-linejoin: round; }
.scatter .run:focus-visible .mark { stroke: var(--ink); stroke-width: 4; }
@media (max-width: 34rem) { .scatter .at { font-size: 17px; }
  .scatter .form { transform: scale(1.5); } }
"""


@dataclass(frozen=True)
class ScatterChart:
    """The runs of a comparison, the joined runs of each method, and the available axes."""

    runs: Sequence[RunSummary]
    groups: Sequence[str]
    strands: Sequence[Sequence[int]]
    across: Sequence[MeasureAxis]
    up: Sequence[MeasureAxis]

    def group(self, run: RunSummary) -> int:
        """Return the index of the method of a run."""
        return self.groups.index(run.label)

    def has(self, run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> bool:
        """Return whether a run has both values."""
        return run.spread(x.line) is not None and run.spread(y.line) is not None

    def describe(self, run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> str:
        """Return a text with the name and both values of a run."""
        return f"{run.name}: {x.line} {run.spread(x.line)}, {y.line} {run.spread(y.line)}"

    def tint(self, label: str) -> str:
        """Return the color of a method."""
        return "var(--ink)" if label == THIS else color(self.groups.index(label))

    def best(self, x: MeasureAxis, y: MeasureAxis) -> list[int]:
        """Return the runs that no other run dominates, by increasing risk."""
        shown = [i for i, run in enumerate(self.runs) if self.has(run, x, y)]
        points = [
            (_oriented_value(self.runs[i], x), _oriented_value(self.runs[i], y)) for i in shown
        ]
        return [shown[index] for index in pareto_front(points)]

    def dominating(self, number: int, x: MeasureAxis, y: MeasureAxis) -> list[int]:
        """Return the runs of the Pareto front that dominate a run; none if it is on the front."""
        best, own = self.best(x, y), self.runs[number]
        if number in best:
            return []
        risk, use = _oriented_value(own, x), _oriented_value(own, y)
        return [
            i
            for i in best
            if _oriented_value(self.runs[i], x) <= risk and _oriented_value(self.runs[i], y) >= use
        ]

    def first(self) -> tuple[MeasureAxis, MeasureAxis]:
        """Return the first pair of measures for which a run has both values."""
        every = [(x, y) for x in self.across for y in self.up]
        both = (pair for pair in every if any(self.has(run, *pair) for run in self.runs))
        return next(both, every[0])


def _oriented_value(run: RunSummary, scale: MeasureAxis) -> float:
    spread = run.spread(scale.line)
    value = spread.mean if spread else 0.0
    return -value if scale.flip else value


def build_scatter(
    comparison: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> ScatterChart | None:
    """Build the chart of a comparison, or None if it lacks a risk or a utility."""
    runs = summarize_runs(comparison, names)
    risks, uses = (
        measures_of_kind(comparison, runs, "risk"),
        measures_of_kind(comparison, runs, "utility"),
    )
    across = [_scale(line, comparison, runs, upright=False) for line in risks]
    up = [_scale(line, comparison, runs, upright=True) for line in uses]
    if not across or not up:
        return None
    groups = list(dict.fromkeys(run.label for run in runs))
    return ScatterChart(runs, groups, _strands(runs), across, up)


def _scale(
    line: str, comparison: Mapping[str, Any], runs: Sequence[RunSummary], upright: bool
) -> MeasureAxis:
    spreads = [spread for run in runs if (spread := run.spread(line)) is not None]
    return make_measure_axis(line, comparison["measures"][line], spreads, upright)


def _strands(runs: Sequence[RunSummary]) -> list[list[int]]:
    """Group the runs of a method that differ in their first swept value only."""
    strands: dict[tuple[Any, ...], list[RunSummary]] = {}
    for run in runs:
        rest = tuple(run.swept.items())[1:]
        strands.setdefault((run.label, *rest), []).append(run)
    indices = {id(run): i for i, run in enumerate(runs)}
    return [[indices[id(run)] for run in sort_runs(strand)] for strand in strands.values()]


def draw_scatter(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis, scales: str) -> str:
    """Render the content of the chart; `scales` are the rendered axes."""
    best = scatter.best(x, y)
    ends = {i for strand in scatter.strands if len(strand) > 1 for i in (strand[0], strand[-1])}
    texts = {i: text for i, run in enumerate(scatter.runs) if (text := _text(run, i in ends))}
    legible = _find_legible(scatter, x, y, [i for i in (*best, *texts) if i in texts], texts)
    runs = "".join(
        _run(scatter, i, x, y, i in best, texts.get(i, ""), i in legible)
        for i in range(len(scatter.runs))
    )
    frame = f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" '
    return (
        f'{scales}{frame}height="{BOTTOM - TOP}"/>{_joins(scatter, x, y)}'
        f'<path class="step" d="{_step([_place(scatter.runs[i], x, y) for i in best])}"/>{runs}'
    )


def _text(run: RunSummary, end: bool) -> str:
    """Return the text beside a mark: swept values at the ends of a line, or "this release"."""
    return THIS if run.label == THIS else run.at * end


def _find_legible(
    scatter: ScatterChart,
    x: MeasureAxis,
    y: MeasureAxis,
    order: Sequence[int],
    texts: Mapping[int, str],
) -> set[int]:
    """Return the texts that do not overlap with earlier ones; overlapping texts are illegible."""
    boxes: dict[int, tuple[float, float, float]] = {}
    for i in order:
        if i in boxes or not scatter.has(scatter.runs[i], x, y):
            continue
        (across, up), width = _place(scatter.runs[i], x, y), LETTER * len(texts[i])
        left = across - 9 - width if across > FAR else across + 9
        clear = all(
            left + width < other or other + wide < left or abs(up - high) >= TALL
            for other, wide, high in boxes.values()
        )
        if clear:
            boxes[i] = (left, width, up)
    return set(boxes)


def _joins(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    lines = []
    for strand in scatter.strands:
        runs = [scatter.runs[i] for i in strand]
        places = [_place(run, x, y) for run in runs if scatter.has(run, x, y)]
        points = " ".join(f"{across},{up}" for across, up in places)
        tint = scatter.tint(runs[0].label)
        lines.append(f'<polyline class="join" style="--c:{tint}" points="{points}"/>')
    return "".join(lines)


def _step(places: Sequence[tuple[float, float]]) -> str:
    """Return the path of the Pareto front, from below the first point to the right edge."""
    if not places:
        return ""
    turns = "".join(f"H{x}V{y}" for x, y in places[1:])
    return f"M{places[0][0]} {BOTTOM}V{places[0][1]}{turns}H{RIGHT}"


def _place(run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> tuple[float, float]:
    across, up = run.spread(x.line), run.spread(y.line)
    return (x.place(across.mean), y.place(up.mean)) if across and up else (0.0, 0.0)


def _run(
    scatter: ScatterChart,
    number: int,
    x: MeasureAxis,
    y: MeasureAxis,
    best: bool,
    text: str,
    legible: bool,
) -> str:
    run = scatter.runs[number]
    shown = scatter.has(run, x, y)
    across, up = _place(run, x, y)
    description = scatter.describe(run, x, y) if shown else ""
    seen = "visible" if legible else "hidden"
    where = f'{_beside(across)} y="-6" visibility="{seen}"'
    label = f'<text class="at" {where}>{escape(text)}</text>' if text else ""
    css_class = "run best" if best else "run"
    tint = scatter.tint(run.label)
    return (
        f'<g class="{css_class}" style="--c:{tint}" transform="translate({across} {up})"'
        f'{"" if shown else GONE}><path class="reach" d="{_reach(run, x, y)}"/>'
        f'<g class="form">{draw_marker(scatter, run.label)}</g>{label}'
        f"<title>{escape(description)}</title></g>"
    )


def _beside(across: float) -> str:
    return 'x="-9" text-anchor="end"' if across > FAR else 'x="9" text-anchor="start"'


def draw_marker(scatter: ScatterChart, label: str, x: float = 0, y: float = 0) -> str:
    """Render the marker of a method."""
    return star_marker(x, y) if label == THIS else marker(scatter.groups.index(label), x, y)


def _reach(run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> str:
    """Return the path of the ranges over repeats, relative to the mark."""
    across, up = run.spread(x.line), run.spread(y.line)
    if not across or not up:
        return ""
    here, there = x.place(across.mean), y.place(up.mean)
    left, right = (round(x.place(value) - here, 1) for value in (across.low, across.high))
    low, high = (round(y.place(value) - there, 1) for value in (up.low, up.high))
    return f"M{left} 0H{right}M0 {low}V{high}"
