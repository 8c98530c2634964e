"""The page of a demo: before and after, the noise, the picture, and links to everything."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from .._version import __version__
from ..render.html import render_page
from .records import Demonstration, DemoRelease


@dataclass(frozen=True)
class ReleaseView:
    """A release, with its links relative to the page."""

    method: str
    link: str
    meaning: str
    verdict: str
    good: bool
    command: str


def render_demonstration(demo: Demonstration, picture: str) -> str:
    """Return the page; `picture` is the text of an SVG file, which the page shows as an image."""
    return render_page(
        "demonstration.html.j2",
        demo=demo,
        version=__version__,
        example=list(_align(demo.example.before, demo.example.grouped)),
        replaced=list(_align(demo.example.before, demo.example.replaced)),
        micro=_view(demo.microaggregation),
        statistics=_view(demo.statistics),
        replacement=_view(demo.replacement),
        picture=f"data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}",
    )


def verdict_of(release: DemoRelease) -> str:
    """Return the outcome of `verify` in one line."""
    report = release.verify
    passed = len(report.messages(True))
    if report.holds:
        return f"verified: all {passed} checks hold"
    return f"not verified: {len(report.messages(False))} of {len(report.findings)} checks fail"


def _view(release: DemoRelease) -> ReleaseView:
    return ReleaseView(
        method=release.card.method,
        link=Path(release.folder).name,
        meaning=release.meaning,
        verdict=verdict_of(release),
        good=release.verify.holds is True,
        command=release.command,
    )


def _align(left: tuple[str, ...], right: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return two lists side by side; the shorter one ends with empty cells."""
    length = max(len(left), len(right))
    sides = [[*texts, *[""] * (length - len(texts))] for texts in (left, right)]
    return list(zip(*sides, strict=True))
