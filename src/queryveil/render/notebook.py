"""Show results in notebooks as small pieces of HTML, in light and dark themes alike.

The style stands in the elements themselves and uses the notebook's own colors: a style sheet would
change the rest of the page, and a notebook in dark mode has other colors than the system.
"""

from __future__ import annotations

from ..core.notebook import PRIVATE_FIGURES, Cell, NotebookView
from .html import environment

_PACKAGE = "queryveil.render"


def render_view(view: NotebookView) -> str:
    """Return the HTML of a view; every value in it is escaped.

    >>> "&lt;b&gt;" in render_view(NotebookView("<b>", (("k", 5),)))
    True
    """
    template = environment(_PACKAGE).get_template("notebook/result.html.j2")
    return template.render(view=view, cell=format_cell, warning=PRIVATE_FIGURES)


def format_cell(value: Cell) -> str:
    """Return a value as text: numbers with at most four digits after the point.

    >>> format_cell(0.123456), format_cell(12345), format_cell(True), format_cell(None)
    ('0.1235', '12,345', 'yes', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
