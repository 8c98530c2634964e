"""A measure as an axis of a scatter chart: its scale, its texts, and the places of the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .chart import AxisView, make_frame, view_x_axis, view_y_axis
from .scales import Axis, Range, make_range_axis

FRAME = make_frame(328, notes=True)
_STRETCH = 2.5  # references widen a linear axis at most by this factor, else they stand at its edge


@dataclass(frozen=True)
class Place:
    """The value of a run on an axis: coordinates of its mean, minimum and maximum, and its text.

    One that is `clamped` stands at the edge of the chart, as its value is beyond it.
    """

    at: float
    low: float
    high: float
    text: str
    clamped: bool = False


@dataclass(frozen=True)
class MeasureAxis:
    """A measure as an axis: better is left, or up. Each run has a place, or lacks the value."""

    name: str
    view: AxisView
    places: tuple[Place | None, ...]


@dataclass(frozen=True)
class MeasureText:
    """The texts of a measure at its axis: its spec, title and unit, and which values are better."""

    name: str
    title: str
    unit: str
    better: str


def make_measure_axis(
    measure: MeasureText,
    ranges: Sequence[Range | None],
    references: Sequence[bool] = (),
    *,
    upright: bool,
) -> MeasureAxis:
    """Build the axis of a measure.

    Args:
        measure: The texts of the axis.
        ranges: The value of each run, at least one.
        references: Which of the runs are references; they do not determine the axis if they are
            far from the others.
        upright: Whether it is the axis on the left, not the one below.
    """
    flags = list(references) or [False] * len(ranges)
    is_reversed = measure.better == ("lower" if upright else "higher")
    axis = _choose_axis(ranges, flags, is_reversed, upright)
    arrow = "\N{UPWARDS ARROW}" if upright else "\N{LEFTWARDS ARROW}"
    scale = ", log scale" if axis.log else ""
    note = f"{measure.unit}{scale}. {arrow} {measure.better} is better"
    view, place = (view_y_axis, FRAME.y) if upright else (view_x_axis, FRAME.x)
    places = [None if value is None else _place(axis, value, place) for value in ranges]
    return MeasureAxis(measure.name, view(FRAME, axis, measure.title, note), tuple(places))


def _choose_axis(
    ranges: Sequence[Range | None], references: Sequence[bool], is_reversed: bool, upright: bool
) -> Axis:
    """Return an axis for all values, or for those of the runs if references are far away.

    A reference alone makes a log scale of an axis below, of risks, but not of one on the left.
    """
    known = [value for value in ranges if value is not None]
    runs = [
        value
        for value, is_reference in zip(ranges, references, strict=True)
        if value is not None and not is_reference
    ]
    everything = make_range_axis(known, is_reversed=is_reversed)
    if not runs:
        return everything
    narrow = make_range_axis(runs, is_reversed=is_reversed)
    if everything.log and (narrow.log or not upright):
        return everything
    fits = everything.high - everything.low <= _STRETCH * (narrow.high - narrow.low)
    return everything if fits and not everything.log else narrow


def _place(axis: Axis, value: Range, place: Callable[[Axis, float], float]) -> Place:
    spots = [value.mean, value.low, value.high]
    if not axis.has_zero:
        spots = [min(max(spot, axis.low), axis.high) for spot in spots]
    mean, low, high = (place(axis, spot) for spot in spots)
    return Place(mean, low, high, str(value), not axis.has_zero and spots[0] != value.mean)
