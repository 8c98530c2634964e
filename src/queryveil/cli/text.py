"""Lay out plain text: paragraphs, and names with their meanings in two columns.

Names of options and methods are never cut nor broken at a hyphen.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_COLUMN = 28  # a longer name has a line of its own


def wrap_text(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph.

    >>> wrap_text("--max-queries-per-user", 10)
    ['--max-queries-per-user']
    """
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def format_rows(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return names and their meanings in two columns.

    >>> format_rows([("--k N", "group size"), ("--exact", "slower")], 40)
    ['  --k N    group size', '  --exact  slower']
    """
    column = min(_COLUMN, max(len(name) for name, _ in rows)) + 4
    lines = []
    for name, meaning in rows:
        wrapped = wrap_text(meaning, max(width - column, 20))
        is_long = len(name) > column - 4
        first = "" if is_long or not wrapped else wrapped.pop(0)
        lines.append(f"  {name:<{column - 2}}{first}".rstrip())
        lines += [f"{'':{column}}{line}" for line in wrapped]
    return lines
