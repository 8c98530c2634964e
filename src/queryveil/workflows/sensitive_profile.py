"""Count the rows, distinct queries and users of each sensitive topic of a log."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.operations import aggregate, count_users_by_flags
from ..engine.table import Table
from ..lexicons.sensitive import topic_bits
from ..lexicons.sensitive_terms import TOPICS
from .log_profile import SensitiveCount

_COUNTS = {"topic": pl.Int64, "queries": pl.Int64, "rows": pl.Int64}


def count_sensitive(log: Table, sizes: Table, progress: Progress) -> Mapping[str, SensitiveCount]:
    """Return the counts by topic, that of the most users first; topics without rows too.

    Args:
        log: The rows of the log.
        sizes: One row per distinct query, with its numbers of users and rows (`lines`).
        progress: Receives the stage of the work.
    """
    with progress.stage("sensitive topics"):
        counts = aggregate(sizes, _count_topics, ["topic"]).select(*_COUNTS)
        by_topic = {topic: (queries, rows) for topic, queries, rows in counts.rows()}
        users = count_users_by_flags(log, "query", sizes, _flag_queries)
    by_name = {
        name: SensitiveCount(
            rows=by_topic.get(number, (0, 0))[1],
            queries=by_topic.get(number, (0, 0))[0],
            users=int(users.filter(pl.col("marks") & (1 << number) != 0)["count"].sum()),
        )
        for number, name in enumerate(TOPICS)
    }
    order = sorted(by_name.items(), key=lambda item: (-item[1].users, -item[1].rows))
    return dict(order)


def _flag_queries(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    texts = sizes.select("query", "lines").collect()
    return texts.with_columns(marks=topic_bits(texts["query"].cast(pl.String)).cast(pl.Int64))


def _count_topics(sizes: pl.LazyFrame, random: RandomSource) -> pl.DataFrame:
    flagged = _flag_queries(sizes, random)
    counts = []
    for number in range(len(TOPICS)):
        of_topic = flagged.filter(pl.col("marks") & (1 << number) != 0)
        counts.append((number, of_topic.height, int(of_topic["lines"].sum())))
    return pl.DataFrame(counts, _COUNTS, orient="row")
