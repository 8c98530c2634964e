"""The axes of the picture of risk and use: better is always to the left, and up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..render.charts.scales import Axis, nice_ticks
from .runs import Range

__all__ = ["BOTTOM", "HEIGHT", "LEFT", "RIGHT", "TOP", "WIDTH", "MeasureAxis", "make_measure_axis"]

WIDTH, HEIGHT = 640, 474
LEFT, RIGHT, TOP, BOTTOM = 66, 616, 64, 392


@dataclass(frozen=True)
class MeasureAxis:
    """The axis of a measure; `flip` if it has to run backwards for better to be on its side."""

    line: str
    title: str
    better: str
    upright: bool
    axis: Axis

    @property
    def flip(self) -> bool:
        """Whether it runs backwards: risk should be low on the left, use high at the top."""
        return self.better == ("lower" if self.upright else "higher")

    def place(self, value: float) -> float:
        """Tell where a value stands in the picture."""
        share = self.axis.place(value)
        share = 1 - share if self.flip else share
        here = BOTTOM - share * (BOTTOM - TOP) if self.upright else LEFT + share * (RIGHT - LEFT)
        return round(here, 1)

    def drawn(self) -> str:
        """Draw ticks and titles."""
        ticks = "".join(self._tick(value, text) for value, text in self.axis.ticks)
        arrow = "\N{UPWARDS ARROW}" if self.upright else "\N{LEFTWARDS ARROW}"
        below = f"{arrow} {self.better} is better"
        if self.upright:
            return f"{ticks}{_text(0, 20, self.title, '', 'name')}{_text(0, 43, below)}"
        ends = _text(RIGHT, HEIGHT - 30, self.title, "end", "name")
        return f"{ticks}{ends}{_text(RIGHT, HEIGHT - 7, below, 'end')}"

    def _tick(self, value: float, text: str) -> str:
        here = self.place(value)
        if self.upright:
            line = f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{here}" y2="{here}"/>'
            return line + _text(LEFT - 8, here + 4.5, text, "end")
        line = f'<line class="grid" x1="{here}" x2="{here}" y1="{TOP}" y2="{BOTTOM}"/>'
        return line + _text(here, BOTTOM + 23, text, "middle")


def _text(x: float, y: float, text: str, anchor: str = "", kind: str = "") -> str:
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{more}>{escape(text)}</text>'


def make_measure_axis(
    line: str, about: Mapping[str, Any], spreads: Sequence[Range], upright: bool
) -> MeasureAxis:
    """Make the axis of a measure from all that it gave; from 0 where that is not far away."""
    low, high = min(one.low for one in spreads), max(one.high for one in spreads)
    ticks = nice_ticks(0.0 if 0 < low <= high / 2 else low, high)
    axis = Axis(ticks[0], ticks[-1], tuple((value, f"{value:g}") for value in ticks))
    return MeasureAxis(line, about["title"], about["better"], upright, axis)
