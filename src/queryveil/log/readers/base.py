"""Which column of the owner's file is which: `--columns user=uid,query=q`, or by usual names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ...errors import ColumnError, UsageError, did_you_mean

_USUAL = {
    "user": ("user", "anonid", "user_id", "userid", "uid", "client_id", "visitor_id", "cookie"),
    "query": ("query", "q", "user_query", "search_term", "searchterm", "keywords", "search"),
    "time": ("time", "querytime", "query_time", "timestamp", "datetime", "date", "@timestamp"),
    "rank": ("rank", "itemrank", "item_rank", "position", "click_rank"),
    "url": ("url", "clickurl", "click_url", "clicked_url", "link"),
}
_WORDS = {word for words in _USUAL.values() for word in words}
_AS_AOL = {
    "anonid": "AnonID",
    "query": "Query",
    "querytime": "QueryTime",
    "itemrank": "ItemRank",
    "clickurl": "ClickURL",
}
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


def is_header(cells: Iterable[str]) -> bool:
    """Tell a header from a row: it has at least two of the usual names."""
    return sum(cell.strip().lower() in _WORDS for cell in cells) > 1


def match_columns(
    found: Iterable[str], wanted: dict[str, str], where: Path, *, shown: bool = False
) -> dict[str, str]:
    """Find the file's column for each of ours: the owner's word first, then the usual names.

    Names stand in an error only if they are `shown`, as those of a schema are: the first line of a
    text file may be no header, but a row of somebody.
    """
    there = list(found)
    for name, column in wanted.items():
        if column not in there:
            near = f"{did_you_mean(column, there)} " if shown else ""
            raise ColumnError(
                f'there is no column "{column}" for {name}',
                where=where,
                hint=f"{near}({_listed(there, shown)})",
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
                hint="say which is which: --columns user=...,query=...,time=... "
                f"({_listed(there, shown)}); without a header, by number: "
                "--columns user=1,query=2,time=3",
            )
    return mapping


def _listed(there: list[str], shown: bool) -> str:
    """Return what may be said of the columns of a file: of a first line only the usual names."""
    if shown:
        return f"columns here: {', '.join(there)}"
    known = [cell.strip().lower() for cell in there if cell.strip().lower() in _WORDS]
    usual = f", of the usual names {', '.join(known)}" if len(known) > 1 else ""
    return f"the first line has {len(there):,} columns{usual}"


def match_keys(wanted: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of an object that may hold each of our columns, the first one first.

    Lines of JSON have no header, and what a row holds must not decide how others are read: so
    the owner's word counts, and for what was not named the same fixed list in every object.

    >>> match_keys({"user": "visitor.id", "query": "q"})["user"]
    ('visitor.id',)
    """
    used = {path.split(".")[0] for path in wanted.values()}
    keys = {
        name: tuple(key for word in words for key in _spellings(word) if key not in used)
        for name, words in _USUAL.items()
    }
    return keys | {name: (path,) for name, path in wanted.items()}


def _spellings(word: str) -> list[str]:
    """Return a usual name as it is, as AOL writes it, and in camel case.

    >>> _spellings("user_id"), _spellings("querytime")
    (['user_id', 'userId'], ['querytime', 'QueryTime'])
    """
    camel = re.sub("_([a-z])", lambda found: found[1].upper(), word)
    return list(dict.fromkeys((word, camel, _AS_AOL.get(word, word))))
