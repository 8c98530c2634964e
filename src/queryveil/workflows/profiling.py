"""Profile a log for its data owner: its size, its topics and its disclosure risks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.options import MappingOptions
from ..concepts.similarity.topics import default_topics
from ..concepts.taxonomy.graph import Taxonomy
from ..core.arguments import guided_with
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.operations import (
    aggregate,
    aggregate_remote,
    count_users_and_rows,
    count_users_by_flags,
    map_partitions,
)
from ..engine.table import Table
from ..log.detectors import Detector, check_local, open_detectors
from ..log.identifiers import mask_identifiers
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from .budget import note_look
from .identifier_counts import (
    ALONE,
    RARE,
    count_flagged_users,
    count_identifiers,
    flag_queries,
    select_flags,
)
from .log_profile import (
    ConceptFrequency,
    IdentifierCount,
    LogProfile,
    LogSize,
    RiskSummary,
    RowsPerUser,
    TopicSummary,
)
from .profile_language import choose_mapping, find_language
from .sensitive_profile import count_sensitive

_MAX_CONCEPTS, _MAX_TOPIC_EXAMPLES = 10, 8  # shown


def profile_topics(sizes: Table, mapper: Mapper, progress: Progress) -> TopicSummary:
    """Return the topics of a log, its coverage by concepts, and frequent queries without one.

    `sizes` has one row per distinct query, with its numbers of users and rows.
    """
    with progress.stage("map queries"):
        phrases = map_partitions(sizes, partial(_map_phrases, mapper=mapper), RandomSource())
    with progress.stage("topics"):
        counts = aggregate(phrases, _count_coverage, ["all"]).row(0, named=True)
        rows_per_concept = _rows_per_concept(
            aggregate(phrases, _count_concepts, ["concept"]), mapper.taxonomy
        )
        return TopicSummary(
            taxonomy=mapper.taxonomy.title,
            queries_with_concept_fraction=_fraction(counts["mapped"], counts["queries"]),
            rows_with_concept_fraction=_fraction(counts["mapped_lines"], counts["lines"]),
            phrases_with_concept_fraction=_fraction(counts["known"], counts["phrases"]),
            fractions=_compute_topic_fractions(rows_per_concept, mapper.taxonomy),
            frequent_concepts=_list_frequent_concepts(rows_per_concept, mapper.taxonomy),
            frequent_queries_without_concept=_list_unmapped_queries(phrases),
        )


def _map_phrases(sizes: pl.LazyFrame, _: RandomSource, *, mapper: Mapper) -> pl.DataFrame:
    """Return one row per phrase: its query with users and rows, its concept or -1, and flags.

    A query without any phrase has one row too. `first` flags one row of each query,
    `has_concept` that the query has a concept, and `real` that the row has a phrase.
    """
    table = sizes.collect().sort("query")
    mapping = mapper.map(table["query"])
    phrases = mapping.phrases.select("query", "concept", real=pl.lit(True))
    flagged = table.with_columns(has_concept=pl.Series(mapping.has_concept, dtype=pl.Boolean))
    numbered = flagged.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    rows = numbered.join(
        phrases.rename({"query": "number"}), on="number", how="left", maintain_order="left"
    )
    return rows.select(
        pl.col("query").cast(pl.String),
        pl.col("users", "lines").cast(pl.Int64),
        pl.col("concept").fill_null(-1).cast(pl.Int64),
        pl.col("real").fill_null(False),
        "has_concept",
        first=pl.col("number").is_first_distinct(),
    )


def _count_coverage(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    first, mapped = pl.col("first"), pl.col("first") & pl.col("has_concept")
    counts = frame.select(
        queries=first.sum(),
        mapped=mapped.sum(),
        lines=pl.col("lines").filter(first).sum(),
        mapped_lines=pl.col("lines").filter(mapped).sum(),
        phrases=pl.col("real").sum(),
        known=(pl.col("concept") >= 0).sum(),
    )
    return counts.cast(pl.Int64).collect().with_columns(all=pl.lit(0))


def _count_concepts(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    known = frame.filter(pl.col("concept") >= 0)
    return known.group_by("concept").agg(pl.col("lines").sum()).collect()


def _rows_per_concept(concept_rows: pl.DataFrame, taxonomy: Taxonomy) -> NDArray[np.float64]:
    counts = np.zeros(len(taxonomy))
    counts[concept_rows["concept"].to_numpy()] = concept_rows["lines"].to_numpy()
    return counts


def _compute_topic_fractions(
    rows_per_concept: NDArray[np.float64], taxonomy: Taxonomy
) -> dict[str, float]:
    """Return the fraction of each topic among the phrases of all rows, the largest first."""
    topics, total = default_topics(taxonomy), rows_per_concept.sum()
    by_topic = np.bincount(topics.topic_of + 1, rows_per_concept, minlength=len(topics) + 1)
    named = zip(["other", *topics.names], by_topic.tolist(), strict=True)
    ordered = sorted(named, key=lambda pair: -pair[1])
    return {name: _fraction(count, total) for name, count in ordered if count}


def _list_frequent_concepts(
    rows_per_concept: NDArray[np.float64], taxonomy: Taxonomy
) -> tuple[ConceptFrequency, ...]:
    total = rows_per_concept.sum()
    order = np.argsort(-rows_per_concept, kind="stable")[:_MAX_CONCEPTS].tolist()
    return tuple(
        ConceptFrequency(
            taxonomy.name(concept),
            taxonomy.label(concept),
            _fraction(rows_per_concept[concept], total),
        )
        for concept in order
        if rows_per_concept[concept]
    )


def _list_unmapped_queries(phrases: Table) -> tuple[str, ...]:
    unmapped = aggregate(phrases, _select_unmapped, ["query", "users", "lines"])
    return tuple(mask_identifiers(query) for query in _select_frequent(unmapped)["query"])


def _select_unmapped(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    unmapped = frame.filter(pl.col("first") & ~pl.col("has_concept"))
    return _select_frequent(unmapped.select("query", "users", "lines").collect())


def _select_frequent(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("users", "lines", "query", descending=[True, True, False]).head(
        _MAX_TOPIC_EXAMPLES
    )


def _fraction(part: float, whole: float) -> float:
    """Return part / whole with four decimals; 0 if there is no whole."""
    return round(float(part) / float(whole), 4) if whole else 0.0


@guided_with(READING_OPTIONS)
def profile(
    log: LogLike,
    *,
    taxonomy: str | Path | Taxonomy | Mapper | None = None,
    language: str | None = None,
    terms: str | Path | None = None,
    detectors: str | Sequence[str] = (),
    ledger: str | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> LogProfile:
    """Return the size, topics and disclosure risks of a log.

    Before the data is read, the ledger of the population records the data access. Later private
    releases state it on their cards.

    Identifiers are detected by rules, which miss rare names and much else: that none is reported
    does not guarantee that there is none.

    Args:
        log: A log, or what `read_log` reads: files, or a frame of pandas, Polars or PyArrow.
        taxonomy: Its concepts are the topics; or a mapper (see `make_mapper`). Without it there
            are no topics.
        language: The language of the queries, as "de", or "auto"; else that of the taxonomy.
        terms: File of custom terms, one term, tab and concept per line.
        detectors: Names of detectors, as for `anonymize`; what they flag is counted.
        ledger: Name or folder of the ledger that records the data access; else it is beside the
            log.
        progress: Receives the stages of the work.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        Exact figures of the log, for the data owner only.

    Raises:
        InputError: The log cannot be read.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": ["ann", "bob"], "query": ["weather", "my own street"]})
    >>> profile(frame).risks.unique_queries
    2
    """
    shown = progress or NoProgress()
    options = None if taxonomy is None else choose_mapping(taxonomy, language, terms)
    chosen = open_detectors(detectors)
    opened = open_log(log, reading, progress=shown)
    if chosen:
        check_local(opened)
    notes = note_look(opened, ledger, "profile")
    return _compute_profile(opened, options, chosen, notes, shown)


def _compute_profile(
    log: QueryLog,
    mapping: Mapper | MappingOptions | None,
    detectors: Sequence[Detector],
    notes: Sequence[str],
    shown: Progress,
) -> LogProfile:
    with shown.stage("count"):
        span, rows_per_user = _find_span(log), _describe_rows_per_user(log)
    with shown.stage("who sent what"):
        sizes = aggregate_remote(
            log.table, partial(count_users_and_rows, keys=["query"]), ["query"]
        )
        totals = aggregate(sizes, _count_queries, ["all"]).row(0, named=True)
        size = _compute_size(log, span, totals, rows_per_user)
    with shown.stage("identifiers"):
        language = find_language(sizes, mapping)
        flags = flag_queries(sizes, detectors)
        users = count_users_by_flags(log.table, "query", flags, select_flags)
        identifiers = count_identifiers(flags, users, detectors)
    return LogProfile(
        accounting=log.accounting.counts(),
        size=size,
        topics=None if (m := language.mapper) is None else profile_topics(sizes, m, shown),
        language=language.summary,
        risks=_compute_risks(totals, users, size, identifiers),
        sensitive=count_sensitive(log.table, sizes, shown),
        columns={source.path: dict(source.columns) for source in log.sources},
        formats=tuple(sorted({source.format for source in log.sources})),
        notes=(*notes, *language.notes),
    )


def _compute_size(
    log: QueryLog,
    span: tuple[str | None, str | None],
    totals: Mapping[str, int],
    rows_per_user: RowsPerUser,
) -> LogSize:
    rows, queries = log.accounting.kept, log.count_distinct("query")
    return LogSize(
        kept_rows=rows,
        events=log.count("event"),
        clicks=log.count("click"),
        users=log.count_distinct("user"),
        queries=queries,
        urls=log.count_distinct("url"),
        first=span[0],
        last=span[1],
        distinct_fraction=_fraction(queries, rows),
        several_words_fraction=_fraction(totals["several"], totals["queries"]),
        rows_per_user=rows_per_user,
    )


def _find_span(log: QueryLog) -> tuple[str | None, str | None]:
    """Return the times of the first and the last row."""
    span = aggregate(log.table, _find_time_span, ["all"], tops=["last", "before"]).row(
        0, named=True
    )
    times = pl.Series([span["before"] and -span["before"], span["last"]], dtype=pl.Int64)
    first, last = times.cast(pl.Datetime("us")).cast(pl.String)
    return first, last


def _find_time_span(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    """Return the last time, and the negated first time.

    Partial results are merged by their maximum, and max(-t) = -min(t).
    """
    time = pl.col("time").to_physical()
    span = frame.select(last=time.max(), before=-time.min()).collect(engine="streaming")
    return span.with_columns(all=pl.lit(0))


def _describe_rows_per_user(log: QueryLog) -> RowsPerUser:
    """Return median, mean and maximum of the rows per user.

    They are computed from a histogram: how many users have how many rows.
    """
    table = aggregate(log.table, _count_users_by_rows, ["lines"]).sort("lines")
    lines, users = (table[name].to_numpy().astype(np.int64) for name in ("lines", "users"))
    n_users = int(users.sum())
    if not n_users:
        return RowsPerUser(0.0, 0.0, 0.0)
    ends = np.cumsum(users)
    middle = lines[np.searchsorted(ends, [(n_users - 1) // 2, n_users // 2], side="right")]
    mean = float(lines @ users) / n_users
    maximum = round(float(lines[-1]), 1)
    return RowsPerUser(round(float(middle.mean()), 1), round(mean, 1), maximum)


def _count_users_by_rows(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    logs = frame.group_by("user").agg(lines=pl.len().cast(pl.Int64))
    return logs.group_by("lines").agg(users=pl.len().cast(pl.Int64)).collect(engine="streaming")


def _count_queries(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    """Count queries: all, those of several words, and those of one user with their rows."""
    alone = pl.col("users") == 1
    several = pl.col("query").cast(pl.String).str.contains(" ", literal=True)
    totals = sizes.select(
        queries=pl.len(),
        several=several.sum(),
        alone=alone.sum(),
        lines=pl.col("lines").filter(alone).sum(),
    )
    return totals.cast(pl.Int64).collect(engine="streaming").with_columns(all=pl.lit(0))


def _compute_risks(
    totals: Mapping[str, int],
    users: pl.DataFrame,
    size: LogSize,
    identifiers: Mapping[str, IdentifierCount],
) -> RiskSummary:
    """Return how many queries only one user sent, and how many users have such a query."""
    alone, rare = count_flagged_users(users, ALONE), count_flagged_users(users, RARE)
    return RiskSummary(
        unique_queries=totals["alone"],
        unique_queries_fraction=_fraction(totals["alone"], totals["queries"]),
        rows_with_unique_query_fraction=_fraction(totals["lines"], size.kept_rows),
        users_with_unique_query=alone,
        users_with_unique_query_fraction=_fraction(alone, size.users),
        users_with_rare_query_fraction=_fraction(rare, size.users),
        identifiers=identifiers,
    )
