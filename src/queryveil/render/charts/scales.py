"""Axes of a chart: where a value stands, and which values are written beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_FEW = 8  # values that are written one by one; of more, round ones between them


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with the places and texts that stand beside it."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Tell where a value stands, from 0 (low) to 1 (high).

        >>> round(Axis(0.1, 10, (), log=True).place(1), 6)
        0.5
        """
        low, high, here = ((math.log(v) if self.log else v) for v in (self.low, self.high, value))
        return (here - low) / (high - low)


def is_drawable(value: float | None) -> bool:
    """Tell whether a value can be drawn: an infinite one cannot."""
    return value is not None and math.isfinite(value)


def choose_scale(values: Sequence[object]) -> str:
    """Choose the scale of values: log where they span much, names where they are no numbers.

    >>> choose_scale([2, 3, 7]), choose_scale([0.1, 1, 10]), choose_scale(["user", "none"])
    ('linear', 'log', 'names')
    """
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) < len(values) or not numbers:
        return "names"
    return "log" if min(numbers) > 0 and max(numbers) >= 20 * min(numbers) else "linear"


def make_axis(values: Sequence[float], scale: str) -> Axis:
    """Make the axis of values that were chosen by hand: a few of them are all written."""
    low, high, log = min(values), max(values), scale == "log"
    if math.isclose(low, high):
        low, high = (low / 2, high * 2) if log else (low - 1, high + 1)
    elif log:
        low, high = low / (high / low) ** 0.04, high * (high / low) ** 0.04
    else:
        low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    shown = sorted(set(values)) if len(set(values)) <= _FEW else _between(low, high, log)
    return Axis(low, high, tuple((value, f"{value:g}") for value in shown), log)


def _between(low: float, high: float, log: bool) -> list[float]:
    if not log:
        return [value for value in nice_ticks(low, high) if low <= value <= high]
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return [10.0**power for power in powers]


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Give round values that enclose a range, about so many.

    >>> nice_ticks(0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = high - low
    if span <= max(1e-12, 1e-9 * abs(high)):  # nothing that a chart could show
        span = abs(high) or 1.0
    span = max(span, 1e-12)
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, max(last, first + 1) + 1)]


_MANY = 10
_LIGHT = ("#0067a5", "#d1495b", "#2e8b57", "#b8720a", "#7a4fb5",
          "#0b8f9c", "#b5398c", "#6b6b00", "#5c6670", "#8c4a2f")  # fmt: skip
_DARK = ("#5fb2ec", "#f58a97", "#66cf98", "#f0b457", "#b99af0",
         "#55d0dc", "#ee86c9", "#cfcf55", "#aab6c1", "#d99a7c")  # fmt: skip
_DASHES = ("", "7 4", "2 3")


def _variables(colours: Sequence[str]) -> str:
    return "".join(f"--line{i}:{value};" for i, value in enumerate(colours))


PALETTE = f"""
:root {{ {_variables(_LIGHT)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(_DARK)} }} }}
"""


def color(number: int) -> str:
    """Give the colour of a line, as a variable of the style `COLOURS`."""
    return f"var(--line{number % _MANY})"


def dash(number: int) -> str:
    """Give the attribute by which lines of the same colour differ."""
    pattern = _DASHES[number // _MANY % len(_DASHES)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def marker(number: int, x: float, y: float) -> str:
    """Give each line a shape of its own: colours alone are not seen by all."""
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
    """Give the shape of the one run that a chart is about."""
    return (
        f'<path class="mark" d="M{x} {y - 9:.1f}l2.6 6 6.4 .6-4.8 4.3 1.4 6.3-5.6-3.3'
        '-5.6 3.3 1.4-6.3-4.8-4.3 6.4-.6z"/>'
    )
