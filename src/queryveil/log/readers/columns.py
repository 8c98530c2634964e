"""Which column of the owner's file is which: `--columns user=uid,query=q`, or by usual names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...errors import ColumnError, UsageError, did_you_mean

__all__ = ["USUAL", "match_columns", "names_columns", "parse_columns"]

_USUAL = {
    "user": ("user", "anonid", "user_id", "userid", "uid", "client_id", "visitor_id", "cookie"),
    "query": ("query", "q", "user_query", "search_term", "searchterm", "keywords", "search"),
    "time": ("time", "querytime", "query_time", "timestamp", "datetime", "date", "@timestamp"),
    "rank": ("rank", "itemrank", "item_rank", "position", "click_rank"),
    "url": ("url", "clickurl", "click_url", "clicked_url", "link"),
}
USUAL = sorted({word for words in _USUAL.values() for word in words})
_NEEDED = ("user", "query")


def parse_columns(text: str, known: Iterable[str] = _USUAL) -> dict[str, str]:
    """Read the owner's mapping of known columns to those of a file.

    >>> parse_columns("user=uid, query=q")
    {'user': 'uid', 'query': 'q'}
    """
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column:
            raise UsageError(f'"{part}" in --columns', hint="write it as user=uid,query=q")
        if name not in known:
            raise UsageError(f'"{name}" in --columns', hint=did_you_mean(name, known))
        mapping[name] = column
    return mapping


def names_columns(cells: Iterable[str]) -> bool:
    """Tell a header from a row: it has at least two of the usual names."""
    return sum(cell.strip().lower() in USUAL for cell in cells) > 1


def match_columns(found: Iterable[str], wanted: dict[str, str], where: Path) -> dict[str, str]:
    """Find the file's column for each of ours: the owner's word first, then the usual names."""
    there = list(found)
    for name, column in wanted.items():
        if column not in there:
            raise ColumnError(
                f'there is no column "{column}" for {name}',
                where=where,
                hint=f"{did_you_mean(column, there)} (columns here: {', '.join(there)})",
            )
    by_lower = {column.strip().lower(): column for column in reversed(there)}
    taken = set(wanted.values())
    usual = {
        name: by_lower[word]
        for name, words in _USUAL.items()
        for word in reversed(words)
        if word in by_lower and by_lower[word] not in taken
    }
    mapping = usual | wanted
    for name in _NEEDED:
        if name not in mapping:
            raise ColumnError(
                f"no column is known as the {name}",
                where=where,
                hint=f"say which it is: --columns {name}=... (columns here: {', '.join(there)}); "
                "without a header, by number: --columns user=1,query=2",
            )
    return mapping
