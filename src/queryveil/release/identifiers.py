"""The second look for identifiers: at what a method would release, and at the written files.

Methods get a log that was searched already. They may still release parts of queries, names of
concepts or entries of a public list that look like an identifier. What becomes of a text depends on
that text alone: so equal logs stay equal, thresholds hold, and for differential privacy it is
post-processing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from ..engine.operations import count_rows
from ..log.identifiers import kinds_of, kinds_of_urls, mask
from ..log.screening import flagged
from .guarantee import Check, Guarantee
from .release import Release

CHECK = "no-identifiers"
_KEPT = (
    "identifiers were let through: queries and URLs may hold e-mail addresses, phone numbers, "
    "numbers of cards and accounts, street addresses or secret web addresses"
)
_MISSED = (
    "identifiers that no pattern finds: names of persons, account names, misspelt or unusual "
    "forms; a clean search is no promise"
)
_REASON = "released text looks like an identifier"


def promised(guarantee: Guarantee, setting: str | None) -> Guarantee:
    """Return a method's promise with what holds of identifiers at this setting."""
    if setting not in ("drop", "mask"):
        return guarantee
    return replace(
        guarantee,
        not_covered=(*guarantee.not_covered, _MISSED),
        checks=(*guarantee.checks, Check(CHECK, {})),
    )


def without_identifiers(release: Release, setting: str) -> Release:
    """Return a release in which no text and no URL looks like an identifier, unless it is kept."""
    told = replace(release, identifiers=setting, guarantee=promised(release.guarantee, setting))
    if setting == "keep":
        return replace(told, not_release_grade=(*release.not_release_grade, _KEPT))
    tables = {name: _clean_table(table) for name, table in release.tables.items()}
    lost = sum(table.height for table in release.tables.values())
    lost -= sum(table.height for table in tables.values())
    told = replace(
        told, tables=tables, blanked=_more(told.blanked, {f"row of a table: {_REASON}": lost})
    )
    return told if release.log is None else _clean_log(told, release.log)


def _clean_log(release: Release, log: pl.LazyFrame) -> Release:
    queries, urls = flagged(log, "query"), flagged(log, "url")
    if queries.height:
        bad = pl.col("query").is_in(queries["query"].implode())
        if any(check.name == "slots" for check in release.guarantee.checks):
            log = _masked(log, queries)  # there a user's number of rows is part of the promise
        else:
            gone = {_REASON: count_rows(log.filter(bad))}
            log, release = log.filter(~bad), replace(release, dropped=_more(release.dropped, gone))
    if urls.height:
        bad = pl.col("url").is_in(urls["url"].implode()).fill_null(False)
        blank = {f"URL: {_REASON}": count_rows(log.filter(bad))}
        log = log.with_columns(pl.when(~bad).then(pl.col("rank", "url")))
        release = replace(release, blanked=_more(release.blanked, blank))
    return replace(release, log=log)


def _masked(log: pl.LazyFrame, queries: pl.DataFrame) -> pl.LazyFrame:
    kind = log.collect_schema()["query"]
    new = [mask(text) for text in queries["query"].cast(pl.String)]
    names = queries.select("query", masked=pl.Series(new, dtype=pl.String).cast(kind)).lazy()
    joined = log.join(names, on="query", how="left", maintain_order="left")
    return joined.with_columns(query=pl.coalesce("masked", "query")).drop("masked")


def _clean_table(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out the rows of a table in which any text looks like an identifier."""
    texts = [name for name, kind in table.schema.items() if not kind.is_numeric()]
    bad = [_looks(table[name]) for name in texts]
    return table.filter(~pl.any_horizontal(bad)) if any(one.any() for one in bad) else table


def _looks(texts: pl.Series) -> pl.Series:
    find = kinds_of_urls if texts.name == "url" else kinds_of
    return find(texts.cast(pl.String)).is_not_null().alias(texts.name)


def _more(counts: Any, more: dict[str, int]) -> dict[str, int]:
    return dict(counts) | {reason: number for reason, number in more.items() if number}
