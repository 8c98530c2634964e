"""What is in a log, and what is risky in it: for its owner's eyes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ..concepts.mapping.mapper import Mapper
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.operations import (
    aggregate,
    aggregate_remote,
    count_users_and_rows,
    count_users_by_flags,
)
from ..engine.table import Table
from ..jobs.peeking import note_look
from ..jobs.topics import profile_topics
from ..log.identifiers import IDENTIFIER_KINDS, flag_identifiers, mask_identifiers
from ..log.query_log import QueryLog

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
