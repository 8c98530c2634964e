"""Small comparisons, made by hand, for the tests of pages."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "circle", "rect", "line", "path", "polyline", "polygon", "br"}
RISK = {
    "title": "users found",
    "description": "how many are found",
    "paper": "none",
    "unit": "percent",
    "better": "lower",
    "kind": "risk",
    "parameters": {},
}
USE = RISK | {"title": "queries kept", "better": "higher", "kind": "utility", "unit": "share"}


def cells(label: str, swept: dict[str, Any], repeat: int = 1, **values: float | None) -> list[Any]:
    """Give the rows of a run, one a measure; a value that is none failed."""
    method = ":".join([label, *(f"{name}={one}" for name, one in swept.items())])
    about = {"label": label, "method": method, "swept": swept, "repeat": repeat, "seconds": 0.1}
    return [
        about
        | {
            "measure": name,
            "value": value,
            "told": {},
            "error": None if value is not None else f"no {name} here",
        }
        for name, value in values.items()
    ]


def compared(rows: list[dict[str, Any]], **measures: dict[str, Any]) -> dict[str, Any]:
    """Give what a comparison found."""
    return {
        "queryveil": "1",
        "repeat": 1,
        "seed": None,
        "notes": [],
        "figures": [],
        "rows": rows,
        "log": {"files": {}, "rows": 10, "users": 3, "queries": 4},
        "command": "queryveil compare",
        "measures": measures or {"found": RISK, "kept": USE},
    }


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
