"""Logs on which the kits try methods: an ordinary one, and small and hostile ones."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

import polars as pl

from ..log.query_log import COLUMNS, QueryLog
from ..synthetic.generator import generate_blocks

# user, query, time (ISO), rank, url
Row = tuple[str, str, str | None, int | None, str | None]
_TIME = "2006-03-01 10:00:00"

EMPTY_ROWS: tuple[Row, ...] = ()
TINY_ROWS: tuple[Row, ...] = (("ann", "weather", _TIME, None, None),)
# Texts that a file format, a spreadsheet, a page or a pattern could take for its own.
HOSTILE_ROWS: tuple[Row, ...] = tuple(
    (f"user {number % 7}", query, _TIME if number % 3 else None, None, None)
    for number, query in enumerate(
        [
            "=cmd|' /c calc'!a0",
            "<script>alert(1)</script>",
            "a\u202eb",
            '"quoted", and; separated|by\\all',
            "{{ template }} {% raw %}",
            "naïve café 東京 🎾",
            "x" * 5_000,
            "-",
            "null",
            "none",
            "tennis",
        ]
        * 7
    )
)


def _rows(*sent: tuple[str, str]) -> tuple[Row, ...]:
    return tuple((user, query, _TIME, 1, "http://a.example") for user, query in sent)


_USERS = [f"person {number}" for number in range(12)]
# Logs on which a method that groups users can break its promise, or must say why it stops.
ODD_ROWS: dict[str, tuple[Row, ...]] = {
    "the same row many times": _rows(*((user, "tennis") for user in _USERS for _ in range(20))),
    "users of one query": _rows(*zip(_USERS, ["tennis", "red shoes"] * 6, strict=True)),
    "users without concepts": _rows(*((user, "qqqq zzzz") for user in _USERS)),
    "one user of very many rows": _rows(
        *((user, query) for user in _USERS for query in ("tennis", "red shoes", "cheap flights")),
        *((_USERS[0], query) for query in ("tennis", "dog", "cat") * 100),
    ),
    "rare queries alone": _rows(*((user, f"house {n}") for n, user in enumerate(_USERS))),
}


@cache
def example_rows(users: int = 150, seed: int = 11) -> tuple[Row, ...]:
    """Return the rows of a synthetic log; no user's name can stand anywhere by chance."""
    table = pl.concat(generate_blocks(users=users, seed=seed, shape="classic"))
    named = table.with_columns(
        pl.col("user").map_elements(_long_name, return_dtype=pl.String),
        pl.col("query", "url").cast(pl.String),
        pl.col("time").dt.strftime("%Y-%m-%d %H:%M:%S"),
    )
    return tuple(named.select(COLUMNS).rows())


def _long_name(user: str) -> str:
    return f"someone-{user.zfill(6)}-{sha256(user.encode()).hexdigest()[:12]}"


def rows_of(log: QueryLog) -> tuple[Row, ...]:
    """Return the rows of a log as texts."""
    texts = (
        pl.col("user", "query", "url").cast(pl.String),
        pl.col("time").dt.strftime("%Y-%m-%d %H:%M:%S"),
    )
    return tuple(log.local_frame.with_columns(*texts).select(COLUMNS).collect().rows())
