"""Remove texts from the output of a method, wherever they occur, before it is released.

Whether a text is removed depends on that text alone: so equal logs stay equal, thresholds hold, and
for differential privacy it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from ..engine.operations import count_rows
from ..log.dropping import FindTexts
from ..log.screening import EMPTY_QUERY
from .release import Release


def remove_texts(release: Release, find: FindTexts, reason: str) -> Release:
    """Return a release without rows with the texts of `find`, and with such URLs blanked."""
    tables = {name: _clean_table(table, find) for name, table in release.tables.items()}
    lost = sum(table.height for table in release.tables.values())
    lost -= sum(table.height for table in tables.values())
    blanked = _add_counts(release.blanked, {f"row of a table: {reason}": lost})
    cleaned = replace(release, tables=tables, blanked=blanked)
    return cleaned if release.log is None else _clean_log(cleaned, release.log, find, reason)


def _clean_log(release: Release, log: pl.LazyFrame, find: FindTexts, reason: str) -> Release:
    queries, urls = find(log, "query"), find(log, "url")
    if queries.height:
        bad = pl.col("query").is_in(queries["query"].implode())
        rows = count_rows(log.filter(bad))
        if any(check.check == "slots" for check in release.guarantee.checks):
            # Here a user's number of rows is part of the guarantee, so no row may be dropped.
            empty = pl.lit(EMPTY_QUERY).cast(log.collect_schema()["query"])
            log = log.with_columns(query=pl.when(bad).then(empty).otherwise("query"))
            blanked = _add_counts(release.blanked, {f"query: {reason}": rows})
            release = replace(release, blanked=blanked)
        else:
            dropped = _add_counts(release.dropped, {reason: rows})
            log, release = log.filter(~bad), replace(release, dropped=dropped)
    if urls.height:
        bad = pl.col("url").is_in(urls["url"].implode()).fill_null(False)
        blanked = _add_counts(release.blanked, {f"URL: {reason}": count_rows(log.filter(bad))})
        log = log.with_columns(pl.when(~bad).then(pl.col("rank", "url")))
        release = replace(release, blanked=blanked)
    return replace(release, log=log)


def _clean_table(table: pl.DataFrame, find: FindTexts) -> pl.DataFrame:
    """Return a table without the rows that have a text of `find` in any column."""
    texts = [name for name, dtype in table.schema.items() if not dtype.is_numeric()]
    matches = {name: find(table.lazy(), name)[name] for name in texts}
    bad = [
        pl.col(name).is_in(values.implode()).fill_null(False)
        for name, values in matches.items()
        if len(values)
    ]
    return table.filter(~pl.any_horizontal(bad)) if bad else table


def _add_counts(counts: Mapping[str, int], more: dict[str, int]) -> dict[str, int]:
    return dict(counts) | {reason: number for reason, number in more.items() if number}
