"""Logs of many alike users, and methods that are functions, for the measures over folds."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from queryveil.log.query_log import QueryLog
from queryveil.release.guarantee import Guarantee
from queryveil.release.release import Release

Row = tuple[str, str, str | None, int | None, str | None]

NO_ROWS: list[Row] = []


def at(minute: int) -> str:
    return f"2006-03-01 10:{minute:02}:00"


def release(source: QueryLog, **more: object) -> Release:
    given = {"method": "test", "parameters": {}, "guarantee": Guarantee(model="none", statement="")}
    return Release(source=source, **(given | more))


def unchanged(log: QueryLog, turn: int = 0) -> Release:
    """Release a log as it is, in another order."""
    rows = log.local_frame.collect().reverse()
    return release(log, log=rows.lazy())


def always(made: Callable[[QueryLog], Release]) -> Callable[[QueryLog, int], Release]:
    return lambda log, turn: made(log)


def table(texts: list[str], rows: list[tuple[str | int, ...]]) -> pl.DataFrame:
    kinds = dict.fromkeys(texts, pl.String) | {"count": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")
