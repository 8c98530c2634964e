"""The axes, colors and markers of charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_VALUE_TICKS = 8  # up to so many values are all ticks; beyond, ticks are round numbers


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with the values and labels of its ticks."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 (low) to 1 (high).

        >>> round(Axis(0.1, 10, (), log=True).place(1), 6)
        0.5
        """
        low, high, at = ((math.log(v) if self.log else v) for v in (self.low, self.high, value))
        return (at - low) / (high - low)


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


_COLORS = 10
_LIGHT = ("#0067a5", "#d1495b", "#2e8b57", "#b8720a", "#7a4fb5",
          "#0b8f9c", "#b5398c", "#6b6b00", "#5c6670", "#8c4a2f")  # fmt: skip
_DARK = ("#5fb2ec", "#f58a97", "#66cf98", "#f0b457", "#b99af0",
         "#55d0dc", "#ee86c9", "#cfcf55", "#aab6c1", "#d99a7c")  # fmt: skip
_DASHES = ("", "7 4", "2 3")


def _declare_colors(colors: Sequence[str]) -> str:
    return "".join(f"--line{i}:{value};" for i, value in enumerate(colors))


PALETTE = f"""
:root {{ {_declare_colors(_LIGHT)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_declare_colors(_DARK)} }} }}
"""


def color(number: int) -> str:
    """Return the color of a line, as a CSS variable that `PALETTE` declares."""
    return f"var(--line{number % _COLORS})"


def dash(number: int) -> str:
    """Return the dash attribute of a line; lines of the same color differ by it."""
    pattern = _DASHES[number // _COLORS % len(_DASHES)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def marker(number: int, x: float, y: float) -> str:
    """Return the marker of a line; shapes also distinguish lines for color-blind readers."""
    if number % 4 == 0:
        return f'<circle class="mark" cx="{x}" cy="{y}" r="4.5"/>'
    turns = {1: 0, 2: 45}
    if number % 4 in turns:
        turn = turns[number % 4]
        return (
            f'<rect class="mark" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" '
            f'transform="rotate({turn} {x} {y})"/>'
        )
    return f'<path class="mark" d="M{x} {y - 5.5:.1f}l5.5 9.5h-11z"/>'


def star_marker(x: float, y: float) -> str:
    """Return the marker of the run that a chart is about."""
    return (
        f'<path class="mark" d="M{x} {y - 9:.1f}l2.6 6 6.4 .6-4.8 4.3 1.4 6.3-5.6-3.3'
        '-5.6 3.3 1.4-6.3-4.8-4.3 6.4-.6z"/>'
    )
