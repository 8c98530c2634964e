"""The second search for identifiers: in the output of a method, before it is released.

Methods get a log that was searched already. They may still release parts of queries, names of
concepts or entries of a public list that look like an identifier. Whether a text is changed depends
on that text alone: so equal logs stay equal, thresholds hold, and for differential privacy it is
post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from ..engine.operations import count_rows
from ..log.identifiers import kinds_of, kinds_of_urls, mask
from ..log.screening import EMPTY_QUERY, flagged
from .guarantee import Check, Guarantee
from .release import Release

CHECK = "no-identifiers"
_KEPT = (
    "identifiers were let through: queries and URLs may hold names of people, e-mail addresses, "
    "phone numbers, numbers of cards and accounts, street addresses or secret web addresses"
)
_MISSED = (
    "identifiers that no rule finds: rare or misspelt names of people, account names, unusual "
    "forms; a clean search is no promise"
)
_REASON = "released text looks like an identifier"


def promised(guarantee: Guarantee, setting: str | None) -> Guarantee:
    """Return a method's guarantee with the check and the limits of the search for identifiers."""
    if setting not in ("drop", "mask"):
        return guarantee
    return replace(
        guarantee,
        not_covered=(*guarantee.not_covered, _MISSED),
        checks=(*guarantee.checks, Check(CHECK, {})),
    )


def without_identifiers(release: Release, setting: str) -> Release:
    """Return a release without texts that look like identifiers, unless the setting is `keep`."""
    marked = replace(release, identifiers=setting, guarantee=promised(release.guarantee, setting))
    if setting == "keep":
        return replace(
            marked, not_release_grade_because=(*release.not_release_grade_because, _KEPT)
        )
    tables = {name: _clean_table(table) for name, table in release.tables.items()}
    lost = sum(table.height for table in release.tables.values())
    lost -= sum(table.height for table in tables.values())
    blanked = _add_counts(marked.blanked, {f"row of a table: {_REASON}": lost})
    cleaned = replace(marked, tables=tables, blanked=blanked)
    return cleaned if release.log is None else _clean_log(cleaned, release.log)


def _clean_log(release: Release, log: pl.LazyFrame) -> Release:
    queries, urls = flagged(log, "query"), flagged(log, "url")
    if queries.height:
        bad = pl.col("query").is_in(queries["query"].implode())
        if any(check.check == "slots" for check in release.guarantee.checks):
            # Here a user's number of rows is part of the guarantee, so no row may be dropped.
            log = _mask_queries(log, queries)
        else:
            dropped = _add_counts(release.dropped, {_REASON: count_rows(log.filter(bad))})
            log, release = log.filter(~bad), replace(release, dropped=dropped)
    if urls.height:
        bad = pl.col("url").is_in(urls["url"].implode()).fill_null(False)
        blanked = _add_counts(release.blanked, {f"URL: {_REASON}": count_rows(log.filter(bad))})
        log = log.with_columns(pl.when(~bad).then(pl.col("rank", "url")))
        release = replace(release, blanked=blanked)
    return replace(release, log=log)


def _mask_queries(log: pl.LazyFrame, queries: pl.DataFrame) -> pl.LazyFrame:
    dtype = log.collect_schema()["query"]
    texts = mask(queries["query"].cast(pl.String)).alias("text")
    is_clean = kinds_of(texts).is_null()  # else masking left an identifier
    clean = pl.select(pl.when(is_clean).then(texts).otherwise(pl.lit(EMPTY_QUERY))).to_series()
    masked = queries.select("query", masked=clean.cast(dtype)).lazy()
    joined = log.join(masked, on="query", how="left", maintain_order="left")
    return joined.with_columns(query=pl.coalesce("masked", "query")).drop("masked")


def _clean_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table without the rows in which any text looks like an identifier."""
    texts = [name for name, dtype in table.schema.items() if not dtype.is_numeric()]
    bad = [_flag_identifiers(table[name]) for name in texts]
    return table.filter(~pl.any_horizontal(bad)) if any(flags.any() for flags in bad) else table


def _flag_identifiers(texts: pl.Series) -> pl.Series:
    find = kinds_of_urls if texts.name == "url" else kinds_of
    return find(texts.cast(pl.String)).is_not_null().alias(texts.name)


def _add_counts(counts: Mapping[str, int], more: dict[str, int]) -> dict[str, int]:
    return dict(counts) | {reason: number for reason, number in more.items() if number}
