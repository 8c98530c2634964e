"""Labels beside the marks of a chart: each has a free place, or is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .chart import Frame


class Box(NamedTuple):
    """A rectangle of a drawing; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Return whether two rectangles have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


@dataclass(frozen=True)
class LetterSize:
    """The approximate width of a letter, the height of a line, and the radius of a mark."""

    letter: float
    line: float
    mark: float


# The font sizes of labels in chart.css, on a wide screen and on a phone.
WIDE = LetterSize(6.3, 13.0, 6.0)
NARROW = LetterSize(9.4, 19.0, 9.0)


@dataclass(frozen=True)
class LabelRequest:
    """Texts for one label, the best first; each may stand at one of several marks."""

    choices: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class PlacedLabel:
    """A label beside a mark; its coordinates are relative to the mark."""

    mark: int
    text: str
    x: float
    y: float
    anchor: str


def place_labels(
    requests: Iterable[LabelRequest],
    marks: dict[int, tuple[float, float]],
    frame: Frame,
    size: LetterSize,
    path: Sequence[Box] = (),
) -> tuple[PlacedLabel, ...]:
    """Place labels, the first request first; one without a free place is left out.

    Args:
        marks: The coordinates of all marks, which no label covers.
        path: The pieces of a line, which a label covers only if there is no other place.
    """
    taken = [_around(x, y, size.mark) for x, y in marks.values()]
    limits = Box(frame.left + 2, frame.top + 2, frame.width - 2, frame.bottom - 2)
    placed: dict[int, PlacedLabel] = {}
    for request in requests:
        for mark, text in request.choices:
            if mark not in marks or mark in placed:
                continue
            spot = _find_place(mark, text, marks[mark], size, [*taken, *path], limits)
            spot = spot or _find_place(mark, text, marks[mark], size, taken, limits)
            if spot is not None:
                label, box = spot
                placed[mark] = label
                taken.append(box)
                break
    return tuple(placed.values())


def _find_place(
    mark: int,
    text: str,
    at: tuple[float, float],
    size: LetterSize,
    taken: Sequence[Box],
    limits: Box,
) -> tuple[PlacedLabel, Box] | None:
    for label in _candidates(mark, text, size):
        box = _box_of(label, at, size)
        inside = (
            box.left >= limits.left
            and box.right <= limits.right
            and box.top >= limits.top
            and box.bottom <= limits.bottom
        )
        if inside and not any(box.overlaps(other) for other in taken):
            return label, box
    return None


def _candidates(mark: int, text: str, size: LetterSize) -> Iterable[PlacedLabel]:
    """Yield the places around a mark: beside it, above and below, then at its corners."""
    gap, low, high = size.mark + 3, size.mark + size.line - 2, -size.mark - 3
    middle = round(size.line * 0.3, 1)
    for x, y, anchor in (
        (gap, middle, "start"),
        (-gap, middle, "end"),
        (0.0, high, "middle"),
        (0.0, low, "middle"),
        (gap - 3, high, "start"),
        (gap - 3, low, "start"),
        (3 - gap, high, "end"),
        (3 - gap, low, "end"),
    ):
        yield PlacedLabel(mark, text, x, y, anchor)


def _box_of(label: PlacedLabel, at: tuple[float, float], size: LetterSize) -> Box:
    width = size.letter * len(label.text)
    shift = {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
    left, base = at[0] + label.x - shift, at[1] + label.y
    return Box(left, base - size.line * 0.8, left + width, base + size.line * 0.2)


def _around(x: float, y: float, radius: float) -> Box:
    return Box(x - radius, y - radius, x + radius, y + radius)
