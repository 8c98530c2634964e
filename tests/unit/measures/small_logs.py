"""Logs and releases of a few lines, and a small taxonomy, for the measures of use."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.log.query_log import QueryLog
from queryveil.measures.context import MeasureContext
from queryveil.release.guarantee import Guarantee
from queryveil.release.release import Release

Sent = dict[str, list[str]]

PATHS = """Top/Sports/Tennis
Top/Sports/Swimming
Top/Arts/Music
Top/Arts/Theatre
Top/Health/Asthma
"""


def write_ruler(folder: Path) -> str:
    path = folder / "paths.txt"
    path.write_text(PATHS)
    return str(path)


@cache
def _mapper(ruler: str) -> Mapper:
    return Mapper(open_taxonomy(ruler))


def original_of(log: QueryLog, ruler: str) -> MeasureContext:
    """Give a log to measure against; what maps it is made once for all tests of a ruler."""
    before = MeasureContext(log)
    before.cached(("mapper", ruler), lambda: _mapper(ruler))
    before.cached(("taxonomy", ruler), lambda: _mapper(ruler).taxonomy)
    return before


def log_of(sent: Sent) -> QueryLog:
    return QueryLog.from_rows(
        [(user, query, None, None, None) for user, queries in sent.items() for query in queries]
    )


def release_of(source: QueryLog, sent: Sent, k: int | None = None, **more: object) -> Release:
    """Give a release whose pseudonyms are the users' names with a sign."""
    names = [f"p-{user}" for user in sent]
    given = {
        "method": "test",
        "parameters": {},
        "log": log_of({f"p-{user}": queries for user, queries in sent.items()}).local_frame,
        "mapping": pl.DataFrame(
            {"user": list(sent), "pseudonym": names},
            schema={"user": pl.String, "pseudonym": pl.String},
        ),
    } | more
    promise = Guarantee(model="none" if k is None else "k-anonymity", statement="", k=k)
    return Release(guarantee=promise, source=source, **given)


def table_of(source: QueryLog, counts: dict[str, int]) -> Release:
    """Give a release of a table of queries alone."""
    table = pl.DataFrame({"query": list(counts), "count": list(counts.values())})
    return release_of(source, {}, log=None, mapping=None, tables={"queries": table})
