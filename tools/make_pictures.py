"""Draw pictures of the docs: the steps from a log to a release, what
`profile`, `taxonomy map` and the demo show, and groups of users.

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
from queryveil.cli.profile_tables import print_profile
from queryveil.cli.taxonomy import print_mapping
from queryveil.concepts.mapping.explanation import explain_query
from queryveil.render.charts.style import picture_style

IMG = Path(__file__).parents[1] / "docs" / "img"

STEPS = (  # name, two lines of text, and whether queryveil does it
    ("Your log", "CSV, JSON, Parquet,", "AOL, access logs, ...", False),
    ("Read", "clean, reject bad rows,", "find identifiers", True),
    ("Anonymize", "k-anonymity or", "differential privacy", True),
    ("Verify", "check the guarantee", "on the written files", True),
    ("Release", "public/: log and card", "private/: never publish", False),
)


def way() -> str:
    """Draw the steps from a log to a release."""
    width, gap, top, left = 172, 30, 56, 20
    parts = []
    for number, (name, first, second, ours) in enumerate(STEPS):
        x, middle = left + number * (width + gap), left + number * (width + gap) + width / 2
        kind = "tint0" if ours else "tint-soft"
        parts.append(
            f'<g class="{kind}"><rect class="hollow" x="{x}" y="{top}" width="{width}" '
            f'height="92" rx="10"/></g>'
        )
        parts.append(_text(middle, top + 29, name, "head"))
        parts.append(_text(middle, top + 55, first) + _text(middle, top + 74, second))
        if number:
            arrow = f"M{x - gap + 5} {top + 46}h{gap - 12}m-6 -6l6 6l-6 6"
            parts.append(f'<g class="tint-soft"><path class="path" d="{arrow}"/></g>')
    total = 2 * left + len(STEPS) * width + (len(STEPS) - 1) * gap
    note = "Every row is released, dropped or rejected, and counted with a reason."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qv-chart" viewBox="0 0 {total} 196" '
        'role="img" aria-label="From a log to a release: read, anonymize, verify">'
        f"<title>From a log to a release</title><style>{picture_style()}</style>"
        f'<rect class="back" x=".5" y=".5" width="{total - 1}" height="195" rx="8"/>'
        f"{_text(left, 34, 'From a log to a release', 'head', 'start')}"
        f"{_text(left, 176, note, 'entry', 'start')}{''.join(parts)}</svg>\n"
    )


def _text(x: float, y: float, text: str, kind: str = "entry", anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


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


def demo() -> str:
    """Return the frontier that the demo draws."""
    with tempfile.TemporaryDirectory() as folder:
        shown = qv.demo(Path(folder) / "demo")
        return (Path(shown.folder) / "frontier.svg").read_text("utf-8")


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
    (IMG / "demo.svg").write_text(demo())
    (IMG / "partition.svg").write_text(partition())
