"""What a notebook shows of a result: a small view, from which `render` makes HTML.

A view obeys the rule of reprs: it shows no user, query or URL of a log. A view of exact figures of
a log has a warning, because the output of a notebook is often shared.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

PRIVATE_FIGURES = "Figures of private data: do not share this notebook's output."
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class NotebookTable:
    """A table of a view.

    Attributes:
        title: What the table shows.
        header: The titles of the columns.
        rows: The cells.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class NotebookView:
    """What a notebook shows of a result.

    Attributes:
        title: The class of the result, and what it is of.
        facts: Names and values.
        tables: Further tables.
        notes: Sentences below.
        is_private: Whether there are exact figures of a log.
    """

    title: str
    facts: tuple[tuple[str, Cell], ...] = ()
    tables: tuple[NotebookTable, ...] = ()
    notes: tuple[str, ...] = ()
    is_private: bool = False


class NotebookShown:
    """A result that notebooks show as HTML; a subclass defines `notebook_view`."""

    def notebook_view(self) -> NotebookView | None:
        """Return what a notebook shows; None for the `repr` alone."""
        return None

    def _repr_html_(self) -> str | None:
        view = self.notebook_view()
        if view is None:
            return None
        # Results know nothing of templates: Jinja2 is imported when a notebook shows something.
        html: str = importlib.import_module("queryveil.render.notebook").render_view(view)
        return html
