"""What is in a log, and what is risky in it: for its owner's eyes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ..concepts.mapping.mapper import Mapper
from ..concepts.similarity.topics import default_topics
from ..concepts.taxonomy.graph import Taxonomy
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
from ..log.identifiers import IDENTIFIER_KINDS, flag_identifiers, mask_identifiers
from ..log.query_log import QueryLog
from .budget import note_look

_CONCEPTS, _TOPIC_EXAMPLES = 10, 8


def profile_topics(sizes: Table, mapper: Mapper, progress: Progress) -> dict[str, Any]:
    """Tell the topics of a log, the share of it with a concept, and what found none.

    `sizes` has each distinct query, how many users sent it and on how many lines.
    """
    with progress.stage("map queries"):
        phrases = map_partitions(sizes, partial(_phrases, mapper=mapper), RandomSource())
    with progress.stage("topics"):
        told = aggregate(phrases, _coverage, ["all"]).row(0, named=True)
        return {
            "taxonomy": mapper.taxonomy.title,
            "queries_with_a_concept_share": _topic_fraction(told["mapped"], told["queries"]),
            "lines_with_a_concept_share": _topic_fraction(told["mapped_lines"], told["lines"]),
            "phrases_with_a_concept_share": _topic_fraction(told["known"], told["phrases"]),
            **_shares(aggregate(phrases, _concepts, ["concept"]), mapper.taxonomy),
            "frequent_queries_without_a_concept": _topic_examples(phrases),
        }


def _phrases(sizes: pl.LazyFrame, _: RandomSource, *, mapper: Mapper) -> pl.DataFrame:
    """Give a row a phrase: its query with users and lines, its concept or -1, and marks.

    A query without any phrase has one row all the same. `first` marks one row of each query,
    `found` whether the query has a concept, and `real` that there is a phrase.
    """
    table = sizes.collect().sort("query")
    found = mapper.map(table["query"])
    phrases = found.phrases.select("query", "concept", real=pl.lit(True))
    marked = table.with_columns(found=pl.Series(found.has_concept, dtype=pl.Boolean))
    numbered = marked.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    rows = numbered.join(
        phrases.rename({"query": "number"}), on="number", how="left", maintain_order="left"
    )
    return rows.select(
        pl.col("query").cast(pl.String),
        pl.col("users", "lines").cast(pl.Int64),
        pl.col("concept").fill_null(-1).cast(pl.Int64),
        pl.col("real").fill_null(False),
        "found",
        first=pl.col("number").is_first_distinct(),
    )


def _coverage(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    first, mapped = pl.col("first"), pl.col("first") & pl.col("found")
    found = frame.select(
        queries=first.sum(),
        mapped=mapped.sum(),
        lines=pl.col("lines").filter(first).sum(),
        mapped_lines=pl.col("lines").filter(mapped).sum(),
        phrases=pl.col("real").sum(),
        known=(pl.col("concept") >= 0).sum(),
    )
    return found.cast(pl.Int64).collect().with_columns(all=pl.lit(0))


def _concepts(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    known = frame.filter(pl.col("concept") >= 0)
    return known.group_by("concept").agg(pl.col("lines").sum()).collect()


def _shares(lines: pl.DataFrame, taxonomy: Taxonomy) -> dict[str, Any]:
    """Give the share of each topic in the phrases of all lines, and the most frequent concepts."""
    counts = np.zeros(len(taxonomy))
    counts[lines["concept"].to_numpy()] = lines["lines"].to_numpy()
    topics, total = default_topics(taxonomy), counts.sum()
    by_topic = np.bincount(topics.topic_of + 1, counts, minlength=len(topics) + 1)
    named = zip(["other", *topics.names], by_topic.tolist(), strict=True)
    order = np.argsort(-counts, kind="stable")[:_CONCEPTS]
    return {
        "shares": {
            name: _topic_fraction(count, total)
            for name, count in sorted(named, key=lambda pair: -pair[1])
            if count
        },
        "frequent_concepts": [
            {
                "concept": taxonomy.name(int(concept)),
                "label": taxonomy.label(int(concept)),
                "share": _topic_fraction(counts[concept], total),
            }
            for concept in order
            if counts[concept]
        ],
    }


def _topic_examples(phrases: Table) -> list[str]:
    missed = aggregate(phrases, _missed, ["query", "users", "lines"])
    return [mask_identifiers(query) for query in _most_frequent(missed)["query"]]


def _missed(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    missed = frame.filter(pl.col("first") & ~pl.col("found"))
    return _most_frequent(missed.select("query", "users", "lines").collect())


def _most_frequent(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("users", "lines", "query", descending=[True, True, False]).head(
        _TOPIC_EXAMPLES
    )


def _topic_fraction(part: float, whole: float) -> float:
    return round(float(part) / float(whole), 4) if whole else 0.0


_EXAMPLES = 3
_FEW = 5
_ALONE, _RARE = 1, 2  # marks of a query; those of identifiers are the next bits


def profile(
    log: QueryLog,
    *,
    mapper: Mapper | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Describe a log, what it is about and its risks as one object of named figures.

    What it is about is told where a `mapper` is given (see `make_mapper`).

    The ledger of the population notes that the data was looked at, before it is; `dataset` says
    which ledger. Later private releases tell it on their cards.

    The identifiers are found by patterns, which miss names and much else: a clean result is
    not a promise.
    """
    shown = progress or NoProgress()
    notes = note_look(log, dataset, "profile")
    with shown.stage("count"):
        size = _size(log)
    with shown.stage("who sent what"):
        sizes = aggregate_remote(
            log.table, partial(count_users_and_rows, keys=["query"]), ["query"]
        )
        facts = aggregate(sizes, _facts, ["all"]).row(0, named=True)
    with shown.stage("identifiers"):
        users = count_users_by_flags(log.table, "query", sizes, _marks)
        found = _identifiers(sizes, users)
    about = {} if mapper is None else {"topics": profile_topics(sizes, mapper, shown)}
    tally = log.accounting
    return {
        "rows": tally.rows,
        "dropped": dict(tally.dropped),
        "rejected": dict(tally.rejected),
        "normalised": dict(tally.normalized),
        **size,
        "several_words_share": _share(facts["several"], facts["queries"]),
        "lines_per_user": _lines_per_user(log),
        **about,
        "risks": {**_singled_out(facts, users, size), "identifiers": found},
        "columns": {source.path: dict(source.columns) for source in log.sources},
        "formats": sorted({source.format for source in log.sources}),
        "notes": notes,
    }


def _size(log: QueryLog) -> dict[str, Any]:
    span = aggregate(log.table, _span, ["all"], tops=["last", "before"]).row(0, named=True)
    times = pl.Series([span["before"] and -span["before"], span["last"]], dtype=pl.Int64)
    first, last = times.cast(pl.Datetime("us")).cast(pl.String)
    lines, queries = log.accounting.kept, log.count_distinct("query")
    return {
        "lines": lines,
        "events": log.count("event"),
        "clicks": log.count("click"),
        "users": log.count_distinct("user"),
        "queries": queries,
        "urls": log.count_distinct("url"),
        "first": first,
        "last": last,
        "distinct_share": _share(queries, lines),
    }


def _span(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    """Give the last time, and the first one below zero: of both the greatest is taken."""
    time = pl.col("time").to_physical()
    span = frame.select(last=time.max(), before=-time.min()).collect(engine="streaming")
    return span.with_columns(all=pl.lit(0))


def _lines_per_user(log: QueryLog) -> dict[str, float]:
    """Give median, mean and most from how many users have how many lines."""
    table = aggregate(log.table, _long_logs, ["lines"]).sort("lines")
    lines, users = (table[name].to_numpy().astype(np.int64) for name in ("lines", "users"))
    everybody = int(users.sum())
    if not everybody:
        return {"median": 0, "mean": 0, "most": 0}
    ends = np.cumsum(users)
    middle = lines[np.searchsorted(ends, [(everybody - 1) // 2, everybody // 2], side="right")]
    mean = float(lines @ users) / everybody
    most = round(float(lines[-1]), 1)
    return {"median": round(float(middle.mean()), 1), "mean": round(mean, 1), "most": most}


def _long_logs(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    logs = frame.group_by("user").agg(lines=pl.len().cast(pl.Int64))
    return logs.group_by("lines").agg(users=pl.len().cast(pl.Int64)).collect(engine="streaming")


def _facts(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    """Count queries: all, those of several words, and those of one user, with their lines."""
    alone = pl.col("users") == 1
    several = pl.col("query").cast(pl.String).str.contains(" ", literal=True)
    found = sizes.select(
        queries=pl.len(),
        several=several.sum(),
        alone=alone.sum(),
        lines=pl.col("lines").filter(alone).sum(),
    )
    return found.cast(pl.Int64).collect(engine="streaming").with_columns(all=pl.lit(0))


def _marks(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    """Give each query its marks: whether few users sent it, and what identifiers it seems to hold.

    Each distinct query is looked at once.
    """
    found = _with_kinds(sizes)
    bits = [(pl.col(kind.name).cast(pl.Int64) * _bit(n)) for n, kind in enumerate(IDENTIFIER_KINDS)]
    rare = (pl.col("users") == 1).cast(pl.Int64) * _ALONE
    rare += (pl.col("users") < _FEW).cast(pl.Int64) * _RARE
    return found.select("query", marks=pl.sum_horizontal(rare, *bits))


def _with_kinds(sizes: pl.LazyFrame) -> pl.DataFrame:
    texts = sizes.select("query", "users", text=pl.col("query").cast(pl.String)).collect()
    return texts.with_columns(flag_identifiers(pl.col("text")))


def _bit(kind: int) -> int:
    return _RARE << (1 + kind)


def _having(users: pl.DataFrame, bit: int) -> int:
    return int(users.filter(pl.col("marks") & bit != 0)["count"].sum())


def _singled_out(
    facts: dict[str, int], users: pl.DataFrame, size: dict[str, Any]
) -> dict[str, Any]:
    """Tell how many queries only one user sent, and how many users have such a query."""
    one, few = _having(users, _ALONE), _having(users, _RARE)
    return {
        "queries_of_one_user": facts["alone"],
        "queries_of_one_user_share": _share(facts["alone"], facts["queries"]),
        "lines_of_such_queries_share": _share(facts["lines"], size["lines"]),
        "users_singled_out_by_rarest_query": one,
        "users_singled_out_by_rarest_query_share": _share(one, size["users"]),
        "users_whose_rarest_query_has_fewer_than_5_users_share": _share(few, size["users"]),
    }


def _identifiers(sizes: Table, users: pl.DataFrame) -> dict[str, Any]:
    """Count queries and users by kind of identifier."""
    queries = dict(aggregate(sizes, _kinds, ["kind"]).select("kind", "queries").rows())
    examples = aggregate(sizes, _examples, ["kind", "text"]).sort("text")
    return {
        kind.name: {
            "title": kind.title,
            "queries": queries.get(number, 0),
            "users": _having(users, _bit(number)),
            "examples": [
                mask_identifiers(text)
                for text in examples.filter(pl.col("kind") == number)["text"].head(_EXAMPLES)
            ],
        }
        for number, kind in enumerate(IDENTIFIER_KINDS)
    }


def _kinds(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    found = _with_kinds(sizes)
    hits = [int(found[kind.name].sum()) for kind in IDENTIFIER_KINDS]
    return pl.DataFrame({"kind": range(len(IDENTIFIER_KINDS)), "queries": hits}, schema=_COUNTS)


def _examples(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    found = _with_kinds(sizes)
    some = [
        found.filter(pl.col(kind.name)).select("text", kind=pl.lit(number, pl.Int64)).sort("text")
        for number, kind in enumerate(IDENTIFIER_KINDS)
    ]
    return pl.concat(table.head(_EXAMPLES) for table in some)


_COUNTS = {"kind": pl.Int64, "queries": pl.Int64}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
