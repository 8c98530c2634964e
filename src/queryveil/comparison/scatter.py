"""The picture of risk and use: a mark for each run, and the best of them joined."""

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
    """Give the places of the points that none beats, from the least risk to the most.

    A point is (risk, use). Another beats it if it is at least as good in both, and better in one.

    >>> pareto_front([(1, 1), (2, 5), (3, 4), (2, 5), (0, 0)])
    [4, 0, 1, 3]
    """
    found: list[int] = []
    most, last = -math.inf, (math.nan, math.nan)
    for place in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        risk, use = points[place]
        if use > most or (risk, use) == last:
            found.append(place)
            most, last = use, (risk, use)
    return found


THIS = "this release"  # the label of the run that a report is about
FAR = 540  # marks further right have their text on the left
LETTER, TALL = 7, 14  # about as wide as a letter beside a mark, and as high
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
    """The runs of a comparison, those of one method that are joined, and the axes to choose."""

    runs: Sequence[RunSummary]
    groups: Sequence[str]
    strands: Sequence[Sequence[int]]
    across: Sequence[MeasureAxis]
    up: Sequence[MeasureAxis]

    def group(self, run: RunSummary) -> int:
        """Give the number of the method that a run is of."""
        return self.groups.index(run.label)

    def has(self, run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> bool:
        """Tell whether a run has both values."""
        return run.spread(x.line) is not None and run.spread(y.line) is not None

    def says(self, run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> str:
        """Tell of a run in words."""
        return f"{run.name}: {x.line} {run.spread(x.line)}, {y.line} {run.spread(y.line)}"

    def tint(self, label: str) -> str:
        """Give the colour of a method."""
        return "var(--ink)" if label == THIS else color(self.groups.index(label))

    def best(self, x: MeasureAxis, y: MeasureAxis) -> list[int]:
        """List the runs that none beats, from the least risk to the most."""
        shown = [i for i, run in enumerate(self.runs) if self.has(run, x, y)]
        points = [(_worth(self.runs[i], x), _worth(self.runs[i], y)) for i in shown]
        return [shown[place] for place in pareto_front(points)]

    def over(self, number: int, x: MeasureAxis, y: MeasureAxis) -> list[int]:
        """List the runs that beat one, of those that none beats; none if it is one of them."""
        best, own = self.best(x, y), self.runs[number]
        if number in best:
            return []
        risk, use = _worth(own, x), _worth(own, y)
        return [
            i for i in best if _worth(self.runs[i], x) <= risk and _worth(self.runs[i], y) >= use
        ]

    def first(self) -> tuple[MeasureAxis, MeasureAxis]:
        """Choose the first measures that some run has both of."""
        every = [(x, y) for x in self.across for y in self.up]
        both = (pair for pair in every if any(self.has(run, *pair) for run in self.runs))
        return next(both, every[0])


def _worth(run: RunSummary, scale: MeasureAxis) -> float:
    spread = run.spread(scale.line)
    value = spread.mean if spread else 0.0
    return -value if scale.flip else value


def build_scatter(
    found: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> ScatterChart | None:
    """Make the picture of a comparison, if it has a risk and a use."""
    runs = summarize_runs(found, names)
    risks, uses = measures_of_kind(found, runs, "risk"), measures_of_kind(found, runs, "use")
    across = [_scale(line, found, runs, upright=False) for line in risks]
    up = [_scale(line, found, runs, upright=True) for line in uses]
    if not across or not up:
        return None
    groups = list(dict.fromkeys(run.label for run in runs))
    return ScatterChart(runs, groups, _strands(runs), across, up)


def _scale(
    line: str, found: Mapping[str, Any], runs: Sequence[RunSummary], upright: bool
) -> MeasureAxis:
    spreads = [spread for run in runs if (spread := run.spread(line)) is not None]
    return make_measure_axis(line, found["measures"][line], spreads, upright)


def _strands(runs: Sequence[RunSummary]) -> list[list[int]]:
    """Join runs of a method that differ in their first swept value alone."""
    strands: dict[tuple[Any, ...], list[RunSummary]] = {}
    for run in runs:
        rest = tuple(run.swept.items())[1:]
        strands.setdefault((run.label, *rest), []).append(run)
    places = {id(run): i for i, run in enumerate(runs)}
    return [[places[id(run)] for run in sort_runs(strand)] for strand in strands.values()]


def draw_scatter(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis, scales: str) -> str:
    """Draw what stands inside the picture; `scales` are the axes, drawn."""
    best = scatter.best(x, y)
    ends = {i for strand in scatter.strands if len(strand) > 1 for i in (strand[0], strand[-1])}
    texts = {i: text for i, run in enumerate(scatter.runs) if (text := _text(run, i in ends))}
    legible = _legible(scatter, x, y, [i for i in (*best, *texts) if i in texts], texts)
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
    """Write at the ends of a line where it begins and ends, and beside the release what it is."""
    return THIS if run.label == THIS else run.at * end


def _legible(
    scatter: ScatterChart,
    x: MeasureAxis,
    y: MeasureAxis,
    order: Sequence[int],
    texts: Mapping[int, str],
) -> set[int]:
    """Give the texts that stand clear of those before them: two over each other tell nothing."""
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
    """Draw the border of what was reached, from the foot of the first to the right edge."""
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
    says = scatter.says(run, x, y) if shown else ""
    seen = "visible" if legible else "hidden"
    where = f'{_beside(across)} y="-6" visibility="{seen}"'
    label = f'<text class="at" {where}>{escape(text)}</text>' if text else ""
    kind = "run best" if best else "run"
    tint = scatter.tint(run.label)
    return (
        f'<g class="{kind}" style="--c:{tint}" transform="translate({across} {up})"'
        f'{"" if shown else GONE}><path class="reach" d="{_reach(run, x, y)}"/>'
        f'<g class="form">{draw_marker(scatter, run.label)}</g>{label}<title>{escape(says)}</title></g>'
    )


def _beside(across: float) -> str:
    return 'x="-9" text-anchor="end"' if across > FAR else 'x="9" text-anchor="start"'


def draw_marker(scatter: ScatterChart, label: str, x: float = 0, y: float = 0) -> str:
    """Draw the shape of a method."""
    return star_marker(x, y) if label == THIS else marker(scatter.groups.index(label), x, y)


def _reach(run: RunSummary, x: MeasureAxis, y: MeasureAxis) -> str:
    """Draw what repeats gave, as seen from the mark."""
    across, up = run.spread(x.line), run.spread(y.line)
    if not across or not up:
        return ""
    here, there = x.place(across.mean), y.place(up.mean)
    left, right = (round(x.place(one) - here, 1) for one in (across.low, across.high))
    low, high = (round(y.place(one) - there, 1) for one in (up.low, up.high))
    return f"M{left} 0H{right}M0 {low}V{high}"
