"""Draw the pictures of the README: the way of the data, what
`profile` and `taxonomy map` show, and a partition.

Usage: python tools/make_pictures.py
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path

from rich.console import Console

import queryveil as qv
from draw_partition import partition
from queryveil.cli.tables import print_profile
from queryveil.cli.taxonomy import print_mapping
from queryveil.concepts.mapping.explanation import explain_query

IMG = Path(__file__).parents[1] / "docs" / "img"

ROOMS = (
    ("log file", "AOL, CSV, JSON,\nParquet, UBI, …", False),
    ("log", "read, clean,\naccount for rows", True),
    ("concepts", "what queries\nmean", True),
    ("methods", "protect", True),
    ("release", "write whole,\nverify", True),
    ("public/", "log and card:\nwhat readers get", False),
)


def way() -> str:
    """Draw the rooms that a log goes through."""
    width, gap, top = 150, 32, 46
    parts = []
    for i, (name, says, ours) in enumerate(ROOMS):
        x = 14 + i * (width + gap)
        fill = "#1b7f5c" if ours else "#eef2f4"
        ink, soft = ("#fff", "#d7efe5") if ours else ("#1c2733", "#5b6b7b")
        parts.append(f'<rect x="{x}" y="{top}" width="{width}" height="92" rx="10" fill="{fill}"/>')
        parts.append(_text(x + width / 2, top + 28, name, ink, 17, "600"))
        for row, line in enumerate(says.split("\n")):
            parts.append(_text(x + width / 2, top + 54 + 19 * row, line, soft, 14))
        if i:
            parts.append(
                f'<path d="M{x - gap + 5} {top + 46} h{gap - 16} m-6 -6 l6 6 l-6 6" '
                'stroke="#5b6b7b" stroke-width="2.4" fill="none"/>'
            )
    right = 14 + 5 * (width + gap) + width / 2
    parts.append(_text(right, top + 122, "private/: mapping, internal card,", "#a15c00", 13))
    parts.append(_text(right, top + 139, "rejected rows: never publish", "#a15c00", 13))
    parts.append(
        _text(470, 26, "Every row is released, dropped or rejected, and counted", "#5b6b7b", 14)
    )
    total = 14 * 2 + len(ROOMS) * width + (len(ROOMS) - 1) * gap
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total + 44} 200" role="img" '
        'aria-label="A log file is read and cleaned, protected by a method, written and verified">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, text: str, colour: str, size: int, weight: str = "400") -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="middle" font-family="system-ui, sans-serif">{escape(text)}</text>'
    )


def profile() -> str:
    """Draw what `queryveil profile` shows of a synthetic log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        qv.write_synthetic_log(path, users=2000)
        found = qv.profile(qv.read_log(path), taxonomy=qv.make_mapper())
    return _screen("queryveil profile log.tsv", "profile", lambda c: print_profile(c, found))


def mapping() -> str:
    """Draw how a query becomes concepts."""
    query = "diving in the mediterranean"
    told = explain_query(qv.make_mapper(), query)
    return _screen(f'queryveil taxonomy map "{query}"', "map", lambda c: print_mapping(c, told))


def _screen(title: str, name: str, draw: Callable[[Console], None]) -> str:
    console = Console(record=True, width=100, file=io.StringIO(), highlight=False)
    draw(console)
    svg = console.export_svg(title=title, unique_id=name)
    # Rich names a web font; the pictures must load nothing.
    before, _, rest = svg.partition("@font-face")
    return before + rest[rest.rindex(f"}}\n\n    .{name}-matrix") + 1 :] if rest else svg


if __name__ == "__main__":
    IMG.mkdir(exist_ok=True)
    (IMG / "way.svg").write_text(way())
    (IMG / "profile.svg").write_text(profile())
    (IMG / "map.svg").write_text(mapping())
    (IMG / "partition.svg").write_text(partition())
