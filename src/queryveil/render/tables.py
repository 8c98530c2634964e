"""Tables that a click on a column head sorts, as plain values for a template."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column head; `kind` is `number`, `text` (long) or empty."""

    title: str
    kind: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        sort_key: What the cell sorts by; None for its text, empty for always last.
        note: A smaller text after the first one, of the class `note_kind`.
        tooltip: A text that is shown when the pointer is over the cell.
        percent: The length of a bar in the cell.
    """

    text: str
    kind: str = ""
    sort_key: str | None = None
    note: str = ""
    note_kind: str = "soft"
    tooltip: str = ""
    strong: bool = False
    percent: float | None = None


@dataclass(frozen=True)
class SortableTable:
    """Columns and rows; one that folds has five columns, and on a phone the last goes below."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    folds: bool = False


def number_cell(text: str, value: float | None, *, note: str = "", tooltip: str = "") -> Cell:
    """Return a cell that sorts by a number, None always last."""
    key = "" if value is None else repr(float(value))
    return Cell(text, "number", key, note, tooltip=tooltip)
