"""The axes of charts, and how their series differ: by color, dashes and markers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_VALUE_TICKS = 8  # up to so many values are all ticks; beyond, ticks are round numbers
_ZERO_GAP = 0.09  # of a log axis with a 0: the part between the 0 and its low end
_LOG_FACTOR, _MAX_DECADES = 50, 6  # a log axis pays from this factor; it shows so many decades


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with the values and labels of its ticks.

    One that is reversed has its low end on the right, or at the top. A log axis with `has_zero`
    has a place for 0 before its low end; what is below the low end stands there too.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    is_reversed: bool = False
    has_zero: bool = False

    def place(self, value: float) -> float:
        """Return the position of a value: from 0, left or at the bottom, to 1.

        >>> round(Axis(0.1, 10, (), log=True).place(1), 6)
        0.5
        >>> Axis(0.1, 10, (), log=True, has_zero=True).place(0)
        0.0
        """
        fraction = self._fraction(value)
        return 1 - fraction if self.is_reversed else fraction

    def _fraction(self, value: float) -> float:
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        if self.has_zero and value < self.low * (1 - 1e-9):
            return 0.0
        fraction = math.log(value / self.low) / math.log(self.high / self.low)
        return _ZERO_GAP + (1 - _ZERO_GAP) * fraction if self.has_zero else fraction


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
        return f"{format_number(self.mean)} {self.spread}".strip()

    @property
    def spread(self) -> str:
        """The minimum and maximum as text; empty if they look the same."""
        low, high = format_number(self.low), format_number(self.high)
        return "" if low == high else f"({low} to {high})"


def summarize(values: Sequence[float]) -> Range:
    """Return the mean and range of values over repeats."""
    return Range(sum(values) / len(values), min(values), max(values))


def format_number(value: float) -> str:
    """Return a measured value as text, with four digits: the one format of charts and tables.

    >>> format_number(0.123456), format_number(12345678.0), format_number(0.0000214)
    ('0.1235', '12,345,678', '2.14e-05')
    """
    if math.isfinite(value) and abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def format_tick(value: float) -> str:
    """Return the label of a tick.

    >>> format_tick(0.25), format_tick(20000.0), format_tick(1e-05)
    ('0.25', '20,000', '1e-05')
    """
    return f"{value:,.0f}" if 10_000 <= abs(value) < 1e9 else f"{value:g}"


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
    return Axis(ticks[0], ticks[-1], _label_ticks(ticks), is_reversed=is_reversed)


def make_range_axis(ranges: Sequence[Range], *, is_reversed: bool = False) -> Axis:
    """Return an axis for measured values: from near their lowest to near their highest.

    It has a log scale if positive values span decades, with a place for 0 if there is a 0. A
    linear one starts at 0 if the values are near 0.

    >>> make_range_axis([Range(0, 0, 0), Range(0.1, 0.1, 0.1), Range(20, 20, 20)]).has_zero
    True
    >>> make_range_axis([Range(0.7, 0.7, 0.7), Range(0.9, 0.9, 0.9)]).low
    0.7
    """
    low, high = min(value.low for value in ranges), max(value.high for value in ranges)
    means = [value.mean for value in ranges]
    positive = [value for value in means if value > high / 10**_MAX_DECADES]
    if low >= 0 and positive and max(positive) >= _LOG_FACTOR * min(positive):
        lowest = min([value.low for value in ranges if value.low >= min(positive) / 2] + positive)
        return _make_log_axis(lowest, high, low < lowest, is_reversed)
    return make_value_axis(0.0 if 0 < low <= high / 2 else low, high, is_reversed=is_reversed)


def _make_log_axis(low: float, high: float, has_zero: bool, is_reversed: bool) -> Axis:
    low, high = low / (high / low) ** 0.03, high * (high / low) ** 0.03
    ticks = [*([0.0] if has_zero else []), *_log_ticks(low, high)]
    return Axis(low, high, _label_ticks(ticks), True, is_reversed, has_zero)


def _label_ticks(ticks: Sequence[float]) -> tuple[tuple[float, str], ...]:
    return tuple((value, format_tick(value)) for value in ticks)


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
    return Axis(low, high, _label_ticks(ticks), log)


def _round_ticks(low: float, high: float, log: bool) -> list[float]:
    if log:
        return _log_ticks(low, high)
    return [value for value in nice_ticks(low, high) if low <= value <= high]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return the powers of ten in a range, with what is between them if there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 200 * low else (1,)
    values = (float(f"{step}e{power}") for power in powers for step in steps)
    return [value for value in values if low <= value <= high]


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
_SHAPES = ("circle", "square", "diamond", "triangle")  # _charts.html.j2 draws them


def tint(number: int) -> str:
    """Return the class of a series, which has its color in `colors.css`."""
    return f"tint{number % _COLORS}"


def dash(number: int) -> str:
    """Return the dashes of a series; series of the same color differ by them."""
    return _DASHES[number // _COLORS % len(_DASHES)]


def shape(number: int) -> str:
    """Return the marker of a series; shapes also distinguish series for color-blind readers."""
    return _SHAPES[number % len(_SHAPES)]
