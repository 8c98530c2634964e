"""The scatter chart of a comparison: its runs, its measures, and their Pareto fronts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..render.charts.measure_axis import MeasureAxis, MeasureText, make_measure_axis
from ..render.charts.scatter import Front, ScatterChart, ScatterGroup, ScatterRun
from .preferences import preferred_pair
from .result import Comparison, MeasureInfo
from .series import RunSummary, measures_of_kind, sort_runs, summarize_references, summarize_runs

THIS_RELEASE = "this release"  # the label of the run of the reported release
Point = tuple[float, float]


def pareto_front(points: Sequence[Point]) -> list[int]:
    """Return the indices of the points that no other point dominates, by increasing risk.

    A point is (risk, utility). Another point dominates it if it is at least as good in both, and
    better in one.

    >>> pareto_front([(1, 1), (2, 5), (3, 4), (2, 5), (0, 0)])
    [4, 0, 1, 3]
    """
    front: list[int] = []
    best_utility, last = -math.inf, (math.nan, math.nan)
    for index in _by_risk(points):
        risk, utility = points[index]
        if utility > best_utility or (risk, utility) == last:
            front.append(index)
            best_utility, last = utility, (risk, utility)
    return front


def _by_risk(points: Sequence[Point]) -> list[int]:
    return sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))


def dominates(one: Point, other: Point) -> bool:
    """Return whether a point is at least as good as another in both, and better in one.

    >>> dominates((1, 5), (2, 5)), dominates((1, 5), (1, 5)), dominates((1, 5), (0, 4))
    (True, False, False)
    """
    return one != other and one[0] <= other[0] and one[1] >= other[1]


def build_scatter(
    comparison: Comparison, names: Mapping[str, str] | None = None
) -> ScatterChart | None:
    """Build the chart of a comparison, or None if it lacks a risk or a utility."""
    runs = summarize_runs(comparison, names)
    risks = measures_of_kind(comparison, runs, "risk")
    utilities = measures_of_kind(comparison, runs, "utility")
    if not risks or not utilities:
        return None
    runs += summarize_references(comparison)
    groups = _make_groups(runs)
    strands = _make_strands(runs)
    about = comparison.measures
    return ScatterChart(
        groups=tuple(groups.values()),
        runs=tuple(ScatterRun(run.name, groups[run.label], run.at) for run in runs),
        strands=strands,
        across=tuple(_make_axis(name, about[name], runs, upright=False) for name in risks),
        up=tuple(_make_axis(name, about[name], runs, upright=True) for name in utilities),
        fronts={
            (x, y): _make_front(runs, groups, (risk, about[risk]), (utility, about[utility]))
            for x, risk in enumerate(risks)
            for y, utility in enumerate(utilities)
        },
        preferred=preferred_pair(risks, utilities),
    )


def _make_groups(runs: Sequence[RunSummary]) -> dict[str, ScatterGroup]:
    """Return the group of each label; a method has one label."""
    first = {run.label: run for run in reversed(runs)}
    return {
        label: ScatterGroup(first[label].short, number, _role(first[label]))
        for number, label in enumerate(dict.fromkeys(run.label for run in runs))
    }


def _role(run: RunSummary) -> str:
    if run.is_reference:
        return "reference"
    return "own" if run.label == THIS_RELEASE else ""


def _make_strands(runs: Sequence[RunSummary]) -> tuple[tuple[int, ...], ...]:
    """Group the runs of a method that differ in their first swept value only."""
    strands: dict[tuple[object, ...], list[RunSummary]] = {}
    for run in runs:
        rest = tuple(run.swept.items())[1:]
        strands.setdefault((run.label, *rest), []).append(run)
    indices = {id(run): i for i, run in enumerate(runs)}
    return tuple(tuple(indices[id(run)] for run in sort_runs(one)) for one in strands.values())


def _make_axis(
    name: str, about: MeasureInfo, runs: Sequence[RunSummary], *, upright: bool
) -> MeasureAxis:
    ranges = [run.spread(name) for run in runs]
    text = MeasureText(name, about.title, about.unit, about.better)
    flags = [run.is_reference for run in runs]
    return make_measure_axis(text, ranges, flags, upright=upright)


def _make_front(
    runs: Sequence[RunSummary],
    groups: Mapping[str, ScatterGroup],
    risk: tuple[str, MeasureInfo],
    utility: tuple[str, MeasureInfo],
) -> Front:
    points = _points(runs, risk, utility)
    shown = list(points)
    order = tuple(shown[i] for i in _by_risk(list(points.values())))
    own = next((i for i in shown if runs[i].label == THIS_RELEASE), None)
    group_of = {i: groups[runs[i].label].number for i in shown}
    over_own = () if own is None else tuple(i for i in order if dominates(points[i], points[own]))
    return Front(order, _dominating_groups(order, points, group_of), over_own)


def _points(
    runs: Sequence[RunSummary],
    risk: tuple[str, MeasureInfo],
    utility: tuple[str, MeasureInfo],
) -> dict[int, Point]:
    """Return the runs with both values, such that a low risk and a high utility are good."""
    risk_sign = 1 if risk[1].better == "lower" else -1
    utility_sign = 1 if utility[1].better == "higher" else -1
    points = {}
    for i, run in enumerate(runs):
        across, up = run.spread(risk[0]), run.spread(utility[0])
        if across and up and not run.is_reference:
            points[i] = (risk_sign * across.mean, utility_sign * up.mean)
    return points


def _dominating_groups(
    order: Sequence[int], points: Mapping[int, Point], group_of: Mapping[int, int]
) -> tuple[tuple[int, ...], ...]:
    """Return the groups with a run that dominates each run.

    When groups are hidden, the front is made of the runs that only hidden groups dominate. Of each
    group its own front is enough: what another of its runs dominates, the front dominates too.
    """
    fronts: list[tuple[int, list[Point]]] = []
    for group in sorted(set(group_of.values())):
        members = [points[i] for i in order if group_of[i] == group]
        fronts.append((group, [members[i] for i in pareto_front(members)]))
    return tuple(
        tuple(group for group, front in fronts if any(dominates(p, points[i]) for p in front))
        for i in order
    )
