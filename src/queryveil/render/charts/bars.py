"""A chart of horizontal bars: a row for each value, with its interval and its baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .chart import WIDTH, AxisView, Frame, LegendEntry, Tick
from .scales import make_value_axis

_ROW, _BAR = 30, 14  # height of a row, and of its bar
_LEFT, _RIGHT, _TOP, _BELOW = 236, 540, 14, 62
_MAX_LABEL = 28  # on a phone, letters are 8 pixels wide


@dataclass(frozen=True)
class Reference:
    """A baseline of a bar: a value with its name."""

    label: str
    value: float


@dataclass(frozen=True)
class Bar:
    """A value with its label.

    Attributes:
        text: The value as text, beside the bar.
        interval: The lowest and highest value that is plausible, if that is known.
        maximum: The end of the scale, if the bar has a scale of its own.
        references: Baselines, drawn as strokes across the bar.
        detail: More about the value, in its tooltip.
    """

    label: str
    value: float
    text: str
    interval: tuple[float, float] | None = None
    maximum: float | None = None
    references: tuple[Reference, ...] = ()
    tint: str = "tint0"
    detail: str = ""


@dataclass(frozen=True)
class PlacedBar:
    """A bar with its coordinates."""

    tint: str
    label: str
    y: float
    top: float
    width: float
    reach: tuple[float, float] | None
    references: tuple[float, ...]
    text: str
    text_x: float
    tooltip: str


@dataclass(frozen=True)
class BarChart:
    """A chart as it is drawn; without ticks, each bar has a scale of its own."""

    title: str
    frame: Frame
    x_axis: AxisView
    bars: tuple[PlacedBar, ...]
    bar_height: int
    legend: tuple[LegendEntry, ...]
    kind: ClassVar[str] = "bars"


def bar_chart(
    bars: Sequence[Bar], *, title: str, x_title: str, legend: Sequence[LegendEntry] = ()
) -> BarChart | None:
    """Return a chart of bars from the top, or None without any.

    All bars have one axis, unless each has a `maximum` of its own.
    """
    if not bars:
        return None
    bottom = _TOP + _ROW * len(bars)
    own = all(bar.maximum is not None for bar in bars)
    frame = Frame(WIDTH, bottom + (_BELOW if not own else 40), _LEFT, _RIGHT, _TOP, bottom)
    high = max(_highest(bar) for bar in bars)
    axis = make_value_axis(0.0, high if high > 0 else 1.0)
    ticks = () if own else tuple(Tick(frame.x(axis, at), text) for at, text in axis.ticks)
    placed = [
        _place_bar(bar, number, frame, bar.maximum if own and bar.maximum else axis.high)
        for number, bar in enumerate(bars)
    ]
    return BarChart(title, frame, AxisView(x_title, ticks), tuple(placed), _BAR, tuple(legend))


def _highest(bar: Bar) -> float:
    return max(
        bar.value, *(bar.interval or (0.0,)), *(baseline.value for baseline in bar.references), 0.0
    )


def _place_bar(bar: Bar, number: int, frame: Frame, maximum: float) -> PlacedBar:
    def x(value: float) -> float:
        fraction = min(max(value / maximum, 0.0), 1.0)
        return round(frame.left + fraction * (frame.right - frame.left), 1)

    middle = frame.top + _ROW * number + _ROW / 2
    reach = None if bar.interval is None else (x(bar.interval[0]), x(bar.interval[1]))
    references = tuple(x(baseline.value) for baseline in bar.references)
    others = "".join(f"; {baseline.label} {baseline.value:.4g}" for baseline in bar.references)
    end = max(x(bar.value), reach[1] if reach else 0.0, *references, 0.0)
    return PlacedBar(
        tint=bar.tint,
        label=shorten(bar.label),
        y=middle,
        top=middle - _BAR / 2,
        width=round(x(bar.value) - frame.left, 1),
        reach=reach,
        references=references,
        text=bar.text,
        text_x=end + 8,
        tooltip=f"{bar.label}: {bar.text}{others}" + f" ({bar.detail})" * bool(bar.detail),
    )


def shorten(text: str, maximum: int = _MAX_LABEL) -> str:
    """Return a text of at most so many letters.

    >>> shorten("cheap flights to rome", 12)
    'cheap fligh…'
    """
    return text if len(text) <= maximum else f"{text[: maximum - 1]}\N{HORIZONTAL ELLIPSIS}"
