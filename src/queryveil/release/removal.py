"""Remove texts from the output of a method, wherever they occur, before it is released.

Whether a text is removed depends on that text alone: so equal logs stay equal, thresholds hold, and
for differential privacy it is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from ..engine.operations import count_rows
from ..log.dropping import FindTexts
from ..log.screening import EMPTY_QUERY
from .release import Release

Mask = Callable[[pl.Series], pl.Series]


def remove_texts(
    release: Release, find: FindTexts, reason: str, mask: Mask | None = None
) -> Release:
    """Return a release without rows with the texts of `find`, and with such URLs blanked.

    Args:
        mask: Returns what stands for queries where no row may be dropped; otherwise they are
            blanked, and counted.
    """
    tables = {name: _clean_table(table, find) for name, table in release.tables.items()}
    lost = sum(table.height for table in release.tables.values())
    lost -= sum(table.height for table in tables.values())
    blanked = _add_counts(release.blanked, {f"row of a table: {reason}": lost})
    cleaned = replace(release, tables=tables, blanked=blanked)
    return cleaned if release.log is None else _clean_log(cleaned, release.log, find, reason, mask)


def _clean_log(
    release: Release, log: pl.LazyFrame, find: FindTexts, reason: str, mask: Mask | None
) -> Release:
    queries, urls = find(log, "query"), find(log, "url")
    if queries.height:
        bad = pl.col("query").is_in(queries["query"].implode())
        # With slots a user's number of rows is part of the guarantee, so no row may be dropped.
        has_slots = any(check.check == "slots" for check in release.guarantee.checks)
        if has_slots and mask is not None:
            log = _replace_queries(log, queries, mask)
        elif has_slots:
            empty = pl.lit(EMPTY_QUERY).cast(log.collect_schema()["query"])
            blanked = _add_counts(
                release.blanked, {f"query: {reason}": count_rows(log.filter(bad))}
            )
            log = log.with_columns(query=pl.when(bad).then(empty).otherwise("query"))
            release = replace(release, blanked=blanked)
        else:
            dropped = _add_counts(release.dropped, {reason: count_rows(log.filter(bad))})
            log, release = log.filter(~bad), replace(release, dropped=dropped)
    if urls.height:
        bad = pl.col("url").is_in(urls["url"].implode()).fill_null(False)
        blanked = _add_counts(release.blanked, {f"URL: {reason}": count_rows(log.filter(bad))})
        log = log.with_columns(pl.when(~bad).then(pl.col("rank", "url")))
        release = replace(release, blanked=blanked)
    return replace(release, log=log)


def _replace_queries(log: pl.LazyFrame, queries: pl.DataFrame, mask: Mask) -> pl.LazyFrame:
    masked = mask(queries["query"].cast(pl.String)).cast(log.collect_schema()["query"])
    table = queries.select("query", masked=masked).lazy()
    joined = log.join(table, on="query", how="left", maintain_order="left")
    return joined.with_columns(query=pl.coalesce("masked", "query")).drop("masked")


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
