"""The second search for sensitive topics: in the output of a method, before it is released.

A method that gets a log without sensitive topics may still release them: parts of queries, names of
concepts that it draws, entries of a public list. As with identifiers, whether a text is left out
depends on that text alone: equal logs stay equal, thresholds hold, and for differential privacy it
is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from ..engine.operations import count_rows
from ..lexicons.sensitive import has_topic
from ..log.sensitive import texts_of_topics, topics_to_drop
from .guarantee import Check, Guarantee
from .release import Release

CHECK = "no-sensitive-topics"
_REASON = "released text is of a sensitive topic"
_EMPTY = "•••"


def add_topic_check(guarantee: Guarantee, setting: str | None) -> Guarantee:
    """Return a guarantee with the check and the limits of dropping sensitive topics."""
    topics = topics_to_drop(setting or "keep")
    if not topics:
        return guarantee
    missed = (
        f"queries about {', '.join(topics)} that our lists of words do not find: rare or "
        "misspelled words, names, hints; about four of ten are missed"
    )
    return replace(
        guarantee,
        not_covered=(*guarantee.not_covered, missed),
        checks=(*guarantee.checks, Check(CHECK, {"topics": list(topics)})),
    )


def without_topics(release: Release, setting: str) -> Release:
    """Return a release without texts of the sensitive topics that the setting drops."""
    topics = topics_to_drop(setting)
    guarantee = add_topic_check(release.guarantee, setting)
    labeled = replace(release, sensitive=setting, guarantee=guarantee)
    if not topics:
        return labeled
    tables = {name: _clean_table(table, topics) for name, table in release.tables.items()}
    lost = sum(table.height for table in release.tables.values())
    lost -= sum(table.height for table in tables.values())
    blanked = _add_counts(release.blanked, {f"row of a table: {_REASON}": lost})
    cleaned = replace(labeled, tables=tables, blanked=blanked)
    return cleaned if release.log is None else _clean_log(cleaned, release.log, topics)


def _clean_log(release: Release, log: pl.LazyFrame, topics: tuple[str, ...]) -> Release:
    queries, urls = (texts_of_topics(log, column, topics) for column in ("query", "url"))
    if queries.height:
        bad = pl.col("query").is_in(queries["query"].implode())
        rows = count_rows(log.filter(bad))
        if any(check.check == "slots" for check in release.guarantee.checks):
            # Here a user's number of rows is part of the guarantee, so no row may be dropped.
            empty = pl.lit(_EMPTY).cast(log.collect_schema()["query"])
            log = log.with_columns(query=pl.when(bad).then(empty).otherwise("query"))
            blanked = _add_counts(release.blanked, {f"query: {_REASON}": rows})
            release = replace(release, blanked=blanked)
        else:
            dropped = _add_counts(release.dropped, {_REASON: rows})
            log, release = log.filter(~bad), replace(release, dropped=dropped)
    if urls.height:
        bad = pl.col("url").is_in(urls["url"].implode()).fill_null(False)
        blanked = _add_counts(release.blanked, {f"URL: {_REASON}": count_rows(log.filter(bad))})
        log = log.with_columns(pl.when(~bad).then(pl.col("rank", "url")))
        release = replace(release, blanked=blanked)
    return replace(release, log=log)


def _clean_table(table: pl.DataFrame, topics: tuple[str, ...]) -> pl.DataFrame:
    """Return a table without the rows in which any text is of one of the topics."""
    texts = [name for name, dtype in table.schema.items() if not dtype.is_numeric()]
    bad = [has_topic(table[name], topics) for name in texts]
    return table.filter(~pl.any_horizontal(bad)) if any(flags.any() for flags in bad) else table


def _add_counts(counts: Mapping[str, int], more: dict[str, int]) -> dict[str, int]:
    return dict(counts) | {reason: number for reason, number in more.items() if number}
