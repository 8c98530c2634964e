"""What all charts consist of: a frame, two axes, and a legend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .scales import Axis

WIDTH = 640
_LEFT, _MARGIN_RIGHT, _TOP = 62, 20, 44
_BELOW = 60  # for the labels of ticks and the title of the axis
_NOTE = 21  # for a second line of a title
# Of the legend of a picture: width of a symbol with and without a line, of a letter on a phone,
# and between two entries; height of a row.
_SYMBOL, _MARK, _LETTER, _BETWEEN, _ROW = 42, 20, 8.0, 18, 24


@dataclass(frozen=True)
class Frame:
    """The area of a chart inside its drawing; y grows downwards."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def x(self, axis: Axis, value: float) -> float:
        """Return the x coordinate of a value."""
        return round(self.left + axis.place(value) * (self.right - self.left), 1)

    def y(self, axis: Axis, value: float) -> float:
        """Return the y coordinate of a value."""
        return round(self.bottom - axis.place(value) * (self.bottom - self.top), 1)


def make_frame(
    plot_height: int = 296, *, width: int = WIDTH, left: int = _LEFT, notes: bool = False
) -> Frame:
    """Return a frame around an area of this height; `notes` leaves room below axis titles."""
    top = _TOP + _NOTE * notes
    bottom = top + plot_height
    return Frame(width, bottom + _BELOW + _NOTE * notes, left, width - _MARGIN_RIGHT, top, bottom)


@dataclass(frozen=True)
class Tick:
    """The coordinate of a tick, and its label."""

    at: float
    text: str


@dataclass(frozen=True)
class AxisView:
    """An axis as it is drawn; the note stands below its title."""

    title: str
    ticks: tuple[Tick, ...]
    note: str = ""


def view_x_axis(frame: Frame, axis: Axis, title: str, note: str = "") -> AxisView:
    """Return the axis below a chart."""
    ticks = tuple(Tick(frame.x(axis, value), text) for value, text in axis.ticks)
    return AxisView(title, ticks, note)


def view_y_axis(frame: Frame, axis: Axis, title: str, note: str = "") -> AxisView:
    """Return the axis on the left of a chart."""
    ticks = tuple(Tick(frame.y(axis, value), text) for value, text in axis.ticks)
    return AxisView(title, ticks, note)


@dataclass(frozen=True)
class LegendEntry:
    """A series in a legend: its line, if it has one, and its marker, if it has one."""

    label: str
    tint: str
    shape: str = ""
    has_line: bool = False
    dashes: str = ""


@dataclass(frozen=True)
class PlacedEntry:
    """An entry of the legend of a picture that stands alone, with its coordinates."""

    entry: LegendEntry
    x: float
    y: float


@dataclass(frozen=True)
class PlacedLegend:
    """The legend below a picture that stands alone."""

    entries: tuple[PlacedEntry, ...]
    height: float


def place_legend(
    entries: Iterable[LegendEntry], *, left: float, top: float, width: float
) -> PlacedLegend:
    """Return a legend that is filled row by row, each entry as wide as its text."""
    placed: list[PlacedEntry] = []
    x, y = left, top
    for entry in entries:
        needed = (_SYMBOL if entry.has_line else _MARK) + _LETTER * len(entry.label) + _BETWEEN
        if x > left and x + needed > left + width:
            x, y = left, y + _ROW
        placed.append(PlacedEntry(entry, round(x, 1), y))
        x += needed
    return PlacedLegend(tuple(placed), y - top + _ROW if placed else 0.0)


def join_points(points: Iterable[tuple[float, float]]) -> str:
    """Return coordinates as an attribute of SVG.

    >>> join_points([(1.0, 2.5), (3.0, 4.0)])
    '1.0,2.5 3.0,4.0'
    """
    return " ".join(f"{x},{y}" for x, y in points)
