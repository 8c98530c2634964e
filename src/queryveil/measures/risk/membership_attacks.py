"""What an attacker works out of a release to tell whether a person was in the log.

She knows the person's log, and how common each text is: how many users of the whole log sent it,
and how often. Of the release she sees what is published, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...release.release import Release
from .._shared.counts import released_frequencies
from .._shared.queries import best_matches
from .texts import UserQueryCounts, released_counts

__all__ = ["ATTACKS", "TargetKnowledge", "attack_scores", "gather_knowledge"]

ATTACKS = {
    "shown": "the share of her texts that the release shows",
    "rarest": "the share of her rarest texts that the release shows",
    "closest": "how much of her log the released log that is nearest to it has",
    "fits": "how much of what the release could show of her log one released log has",
    "counts": "how far the counts of her texts are above what others would give",
}

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TargetKnowledge:
    """What is known of the persons on trial, and of all texts.

    `rows` has the columns owner (a place in the persons), text, count, rarest, and volume: how
    often all users sent the text.
    """

    sent: UserQueryCounts
    persons: int
    rows: pl.DataFrame


def gather_knowledge(sent: UserQueryCounts, persons: pl.Series) -> TargetKnowledge:
    """Gather what is known of persons, given as places in `sent.owners`."""
    texts = sent.rows.group_by("text").agg(senders=pl.len(), volume=pl.col("count").sum())
    numbers = pl.DataFrame({"owner": persons.cast(pl.UInt32)}).with_row_index("place")
    rows = sent.rows.join(numbers, on="owner").join(texts, on="text")
    rarest = pl.col("senders") == pl.col("senders").min().over("place")
    chosen = rows.select("text", "count", "volume", rarest=rarest, owner="place")
    return TargetKnowledge(sent, len(persons), chosen.sort("owner", "text"))


def attack_scores(known: TargetKnowledge, release: Release) -> dict[str, Floats]:
    """Give every person's score under every attack that the release allows."""
    shown = _counts(known.sent, release)
    total, grand = int(shown["released"].sum()), int(known.sent.rows["count"].sum())
    rows = known.rows.join(shown, on="text", how="left").with_columns(
        pl.col("released").fill_null(0)
    )
    there, expected = pl.col("released") > 0, pl.col("volume") * (total / max(grand, 1))
    found = rows.group_by("owner").agg(
        shown=there.mean(),
        rarest=there.filter(pl.col("rarest")).mean(),
        counts=((pl.col("released") + 1) / (expected + 1)).log().sum(),
    )
    table = {name: _placed(found, name, known.persons) for name in ("shown", "rarest", "counts")}
    if release.log is not None:
        whole = rows.group_by("owner").agg(
            closest=pl.col("count").sum(), fits=pl.col("count").filter(there).sum()
        )
        best = _best(known, release)
        for name in ("closest", "fits"):
            table[name] = best / np.maximum(_placed(whole, name, known.persons), 1)
    return table


def _counts(sent: UserQueryCounts, release: Release) -> pl.DataFrame:
    """Give how often the release has each text that somebody had sent: text, released."""
    counts, _ = released_frequencies(release)
    names = pl.DataFrame({"name": sent.queries}).with_row_index("place")
    both = counts.rename({"text": "name"}).join(names, on="name")
    return both.select(pl.col("place").cast(pl.UInt32).alias("text"), released="count")


def _best(known: TargetKnowledge, release: Release) -> Floats:
    """Give how many rows of each person the released log has that has most of them."""
    logs = released_counts(known.sent, release)
    if not len(logs.users):
        return np.zeros(known.persons)
    asked = known.rows.select("text", "count", ask="owner")
    anybody = pl.DataFrame({"ask": np.arange(known.persons)}).with_columns(owner=pl.lit(0))
    found = best_matches(asked, logs.rows, len(logs.users), anybody)
    return found.sort("ask")["best"].to_numpy().astype(np.float64)


def _placed(found: pl.DataFrame, name: str, persons: int) -> Floats:
    """Give a value for each person in order, 0 for who has none."""
    values = np.zeros(persons)
    values[found["owner"].to_numpy()] = found[name].to_numpy()
    return values
