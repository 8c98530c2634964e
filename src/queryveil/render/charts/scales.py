"""The axes of charts, and how their series differ: by color, dashes and markers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_VALUE_TICKS = 8  # up to so many values are all ticks; beyond, ticks are round numbers


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with the values and labels of its ticks.

    One that is reversed has its low end on the right, or at the top.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    is_reversed: bool = False

    def place(self, value: float) -> float:
        """Return the position of a value: from 0, left or at the bottom, to 1.

        >>> round(Axis(0.1, 10, (), log=True).place(1), 6)
        0.5
        """
        low, high, at = ((math.log(v) if self.log else v) for v in (self.low, self.high, value))
        fraction = (at - low) / (high - low)
        return 1 - fraction if self.is_reversed else fraction


@dataclass(frozen=True)
class Range:
    """The mean, minimum and maximum over repeats."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Format the mean, and the range if it is not a point.

        >>> str(Range(2, 1.5, 2.5)), str(Range(2, 2, 2.00000001))
        ('2 (1.5 to 2.5)', '2')
        """
        return f"{self.mean:.4g} {self.spread}".strip()

    @property
    def spread(self) -> str:
        """The minimum and maximum as text; empty if they look the same."""
        low, high = f"{self.low:.4g}", f"{self.high:.4g}"
        return "" if low == high else f"({low} to {high})"


def is_drawable(value: float | None) -> bool:
    """Return whether a value can be drawn: it is a finite number."""
    return value is not None and math.isfinite(value)


def choose_scale(values: Sequence[object]) -> str:
    """Return the scale for values: log for a wide range, names for values that are not numbers.

    >>> choose_scale([2, 3, 7]), choose_scale([0.1, 1, 10]), choose_scale(["user", "none"])
    ('linear', 'log', 'names')
    """
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) < len(values) or not numbers:
        return "names"
    return "log" if min(numbers) > 0 and max(numbers) >= 20 * min(numbers) else "linear"


def make_value_axis(low: float, high: float, *, is_reversed: bool = False) -> Axis:
    """Return a linear axis between round values that enclose a range."""
    ticks = nice_ticks(low, high)
    labels = tuple((value, f"{value:g}") for value in ticks)
    return Axis(ticks[0], ticks[-1], labels, is_reversed=is_reversed)


def make_axis(values: Sequence[float], scale: str) -> Axis:
    """Return an axis for values, with a margin; if there are few, each of them has a tick."""
    low, high, log = min(values), max(values), scale == "log"
    if math.isclose(low, high):
        low, high = (low / 2, high * 2) if log else (low - 1, high + 1)
    elif log:
        low, high = low / (high / low) ** 0.04, high * (high / low) ** 0.04
    else:
        low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    few = len(set(values)) <= _MAX_VALUE_TICKS
    ticks = sorted(set(values)) if few else _round_ticks(low, high, log)
    return Axis(low, high, tuple((value, f"{value:g}") for value in ticks), log)


def _round_ticks(low: float, high: float, log: bool) -> list[float]:
    if not log:
        return [value for value in nice_ticks(low, high) if low <= value <= high]
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return [10.0**power for power in powers]


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return about so many round values that enclose a range.

    >>> nice_ticks(0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = high - low
    if span <= max(1e-12, 1e-9 * abs(high)):  # too narrow for a chart to show
        span = abs(high) or 1.0
    span = max(span, 1e-12)
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, max(last, first + 1) + 1)]


_COLORS = 10  # of colors.css
_DASHES = ("", "7 4", "2 3")
_SHAPES = ("circle", "square", "diamond", "triangle")


def tint(number: int) -> str:
    """Return the class of a series, which has its color in `colors.css`."""
    return f"tint{number % _COLORS}"


def dash(number: int) -> str:
    """Return the dashes of a series; series of the same color differ by them."""
    return _DASHES[number // _COLORS % len(_DASHES)]


def shape(number: int) -> str:
    """Return the marker of a series; shapes also distinguish series for color-blind readers."""
    return _SHAPES[number % len(_SHAPES)]
