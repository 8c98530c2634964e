"""What the engine sees of each user: how much it tells of her, and how much service it leaves."""

from __future__ import annotations

import polars as pl

from ...measures.profile_exposure import exposure_levels
from .simulate import SimulationRun


def user_metrics(outcome: SimulationRun) -> pl.DataFrame:
    """Give a row a user: user, friends, selfish, pel, uncertainty, and two divergences.

    `queries` and `words` are the Jensen-Shannon divergence (base 2) of what she searched for and
    what the engine sees under her account: 0 the same, 1 nothing in common. The engine serves her
    by what it sees, so they say how much of her service is lost.
    """
    sent = pl.DataFrame({"user": outcome.people.who, "text": outcome.people.what})
    seen = outcome.submitted.select(user="account", text="text")
    true, told = (_counted(frame) for frame in (sent, seen))
    users = pl.DataFrame(
        {
            "user": range(outcome.people.users),
            "friends": outcome.graph.degrees,
            "selfish": outcome.selfish,
        }
    )
    pel = exposure_levels(true, told).select(
        "user", pel="coupling", uncertainty=100 - pl.col("coupling")
    )
    words = [_words(frame, outcome.people.texts) for frame in (true, told)]
    found = users.join(pel, on="user", how="left")
    found = found.join(_divergence(true, told, "queries"), on="user", how="left")
    return found.join(_divergence(words[0], words[1], "words"), on="user", how="left").sort("user")


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("user", "text").len("count")


def _words(counts: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """Count words in place of texts."""
    parts = pl.DataFrame({"text": range(len(texts)), "word": texts.str.split(" ")})
    parts = parts.explode("word", empty_as_null=False, keep_nulls=False).cast({"text": pl.Int64})
    both = counts.join(parts, on="text").group_by("user", "word").agg(pl.col("count").sum())
    return both.select("user", "count", text="word")


def _divergence(true: pl.DataFrame, told: pl.DataFrame, name: str) -> pl.DataFrame:
    """Give each user's divergence; where nothing is seen of her it is 1."""
    both = _shares(true, "p").join(
        _shares(told, "q"), on=["user", "text"], how="full", coalesce=True
    )
    both = both.with_columns(pl.col("p", "q").fill_null(0.0))
    middle = (pl.col("p") + pl.col("q")) / 2
    parts = [
        pl.when(share > 0).then(share * (share / middle).log(2)).otherwise(0.0)
        for share in (pl.col("p"), pl.col("q"))
    ]
    sums = both.group_by("user").agg(
        value=(parts[0] + parts[1]).sum() / 2, searched=pl.col("p").sum(), seen=pl.col("q").sum()
    )
    value = pl.when(pl.col("seen") > 0).then(pl.col("value").clip(0.0, 1.0)).otherwise(1.0)
    return sums.filter(pl.col("searched") > 0).select("user", value.alias(name))


def _shares(counts: pl.DataFrame, name: str) -> pl.DataFrame:
    share = pl.col("count") / pl.col("count").sum().over("user")
    return counts.select("user", "text", share.alias(name))
