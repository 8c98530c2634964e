"""Small comparisons, made by hand, for the tests of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

from queryveil.comparison.result import (
    Comparison,
    ComparisonRow,
    LogSummary,
    MeasureInfo,
    RunOptions,
)
from queryveil.core.records import Scalar

VOID = {"meta", "circle", "rect", "line", "path", "polyline", "polygon", "br"}
RISK = MeasureInfo(
    title="users found",
    description="how many are found",
    paper="none",
    unit="percent",
    better="lower",
    kind="risk",
    parameters={},
)
USE = replace(RISK, title="queries kept", better="higher", kind="utility", unit="share")


def cells(
    label: str, params: dict[str, Scalar], repeat: int = 1, **values: float | None
) -> list[ComparisonRow]:
    """Return the rows of a run, one for each measure; a value that is None failed."""
    method = ":".join([label, *(f"{name}={value}" for name, value in params.items())])
    return [
        ComparisonRow(
            method=method,
            label=label,
            params=params,
            repeat=repeat,
            measure=name,
            value=value,
            seconds=0.1,
            error=None if value is not None else f"no {name} here",
        )
        for name, value in values.items()
    ]


def compared(rows: Sequence[ComparisonRow], **measures: MeasureInfo) -> Comparison:
    """Return a comparison of these rows."""
    return Comparison(
        queryveil="1",
        options=RunOptions(),
        log=LogSummary(files={}, rows=10, users=3, queries=4),
        notes=(),
        known_before=0,
        command="queryveil compare",
        measures=measures or {"found": RISK, "kept": USE},
        figures=(),
        rows=tuple(rows),
    )


class Balanced(HTMLParser):
    """Fails on a tag that is not closed; gathers elements, texts, and what would be fetched."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.fetched: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self.fetched += [
            str(value) for name, value in attrs if name in ("src", "href", "xlink:href")
        ]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
