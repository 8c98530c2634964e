"""What is in a log, and what is risky in it: for its owner's eyes."""

from __future__ import annotations

from typing import Any

import polars as pl

from ..concepts import Mapper
from ..engine import Progress, Silent
from ..log import KINDS, QueryLog, mark, redact
from .topics import log_topics

__all__ = ["profile"]

_EXAMPLES = 3


def profile(
    log: QueryLog, *, mapper: Mapper | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Describe a log, what it is about and its risks as one object of named figures.

    What it is about is told where a `mapper` is given (see `make_mapper`).

    The identifiers are found by patterns, which miss names and much else: a clean result is
    not a promise.
    """
    shown = progress or Silent()
    with shown.stage("count"):
        size = _size(log)
    with shown.stage("who sent what"):
        pairs = log.frame.select("user", "query").unique().collect(engine="streaming")
        users = pairs.lazy().group_by("query").agg(users=pl.len()).collect(engine="streaming")
        singled = _singled_out(log, pairs, users)
    with shown.stage("identifiers"):
        found = _identifiers(pairs, users)
    about = {} if mapper is None else {"topics": log_topics(log, users, mapper, shown)}
    tally = log.tally
    return {
        "rows": tally.rows,
        "dropped": dict(tally.dropped),
        "rejected": dict(tally.rejected),
        "normalised": dict(tally.changed),
        **size,
        **about,
        "risks": {**singled, "identifiers": found},
        "columns": {source.path: dict(source.columns) for source in log.sources},
        "formats": sorted({source.format for source in log.sources}),
    }


def _size(log: QueryLog) -> dict[str, Any]:
    query = pl.col("query").cast(pl.String)
    distinct = log.frame.select("query").unique().select(words=query.str.contains(" "))
    per_user = (
        log.frame.group_by("user")
        .len()
        .select(median=pl.col("len").median(), mean=pl.col("len").mean(), most=pl.col("len").max())
    )
    span = log.frame.select(
        users=pl.col("user").n_unique(),
        queries=pl.col("query").n_unique(),
        urls=pl.col("url").drop_nulls().n_unique(),
        first=pl.col("time").min().cast(pl.String),
        last=pl.col("time").max().cast(pl.String),
    )
    lines = log.tally.kept
    figures = span.collect(engine="streaming").row(0, named=True)
    spread = per_user.collect(engine="streaming").row(0, named=True)
    return {
        "lines": lines,
        "events": log.count("event"),
        "clicks": log.count("click"),
        **figures,
        "distinct_share": _share(figures["queries"], lines),
        "several_words_share": round(distinct.mean().collect(engine="streaming").item() or 0, 4),
        "lines_per_user": {name: round(value or 0, 1) for name, value in spread.items()},
    }


def _singled_out(log: QueryLog, pairs: pl.DataFrame, users: pl.DataFrame) -> dict[str, Any]:
    """Tell how many queries only one user sent, and how many users have such a query."""
    rarest = pairs.lazy().join(users.lazy(), on="query").group_by("user").agg(pl.col("users").min())
    counts = rarest.select(
        everyone=pl.len(), one=(pl.col("users") == 1).sum(), few=(pl.col("users") < 5).sum()
    ).collect(engine="streaming")
    everyone, one, few = counts.row(0)
    alone = users.filter(pl.col("users") == 1)
    lines = log.frame.join(alone.lazy().select("query"), on="query", how="semi")
    of_one = int(lines.select(pl.len()).collect(engine="streaming").item())
    return {
        "queries_of_one_user": alone.height,
        "queries_of_one_user_share": _share(alone.height, users.height),
        "lines_of_such_queries_share": _share(of_one, log.tally.kept),
        "users_singled_out_by_rarest_query": one,
        "users_singled_out_by_rarest_query_share": _share(one, everyone),
        "users_whose_rarest_query_has_fewer_than_5_users_share": _share(few, everyone),
    }


def _identifiers(pairs: pl.DataFrame, users: pl.DataFrame) -> dict[str, Any]:
    """Count queries and users by kind of identifier; each distinct query is looked at once."""
    texts = users.select("query", text=pl.col("query").cast(pl.String))
    marked = texts.with_columns(mark(pl.col("text")))
    found: dict[str, Any] = {}
    for kind in KINDS:
        hits = marked.filter(pl.col(kind.name))
        people = pairs.lazy().join(hits.lazy().select("query"), on="query", how="semi")
        examples = hits["text"].sort().head(_EXAMPLES).to_list()
        found[kind.name] = {
            "title": kind.title,
            "queries": hits.height,
            "users": int(people.select(pl.col("user").n_unique()).collect().item()),
            "examples": [redact(text) for text in examples],
        }
    return found


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
