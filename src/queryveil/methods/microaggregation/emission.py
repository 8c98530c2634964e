"""Prototypes as rows of a log: a text each, with a click and a coarse time.

Clicks are drawn from all lines with the same query, times from the lines of the group, once for
all its members. A click that fewer than `min_users` users made is left empty.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.taxonomy import Ints
from ...engine import Chance, keys_with_users
from ..times import coarse

__all__ = ["draw_clicks", "draw_times", "given_to_all"]


def draw_times(lines: pl.DataFrame, group: Ints, step: str, chance: Chance) -> pl.Series:
    """Draw a time for each row of the prototypes, from the lines of its group.

    `lines` has a row for each line of the log: the group of its user, and its time.
    """
    table = lines.select("group", time=coarse(step)).sort("group", maintain_order=True)
    numbers = table["group"].to_numpy()
    first = np.searchsorted(numbers, group)
    count = np.searchsorted(numbers, group, side="right") - first
    drawn = chance.numbers(len(group)) % np.maximum(count, 1).astype(np.uint64)
    return table["time"].gather(first + drawn.astype(np.int64))


def draw_clicks(
    frame: pl.LazyFrame, texts: pl.Series, min_users: int, chance: Chance
) -> pl.DataFrame:
    """Draw rank and URL for each text, from all lines with that query; often there is none."""
    pairs = keys_with_users(frame, ["query", "url"], min_users).select("query", "url")
    allowed = pairs.lazy().with_columns(known=pl.lit(True))
    lines = frame.select("query", "rank", "url").join(allowed, on=["query", "url"], how="left")
    click = [pl.when("known").then(pl.col(name)).alias(name) for name in ("rank", "url")]
    wanted = texts.unique().to_frame("query")
    table = (
        lines.select(pl.col("query").cast(pl.String), *click)
        .join(wanted.lazy(), on="query", how="semi")
        .sort("query", "rank", "url")
        .collect(engine="streaming")
    )
    spans = (
        table.with_row_index("first").group_by("query").agg(pl.col("first").min(), count=pl.len())
    )
    asked = texts.to_frame("query").join(spans, on="query", how="left", maintain_order="left")
    count = asked["count"].fill_null(0).to_numpy()
    drawn = chance.numbers(len(texts)) % np.maximum(count, 1).astype(np.uint64)
    place = pl.Series(asked["first"].cast(pl.Int64) + pl.Series(drawn.astype(np.int64)))
    return table.select("rank", pl.col("url").cast(pl.String))[place.fill_null(0)].with_columns(
        pl.when(pl.Series(count > 0)).then(pl.col(name)).alias(name) for name in ("rank", "url")
    )


def given_to_all(prototypes: pl.DataFrame, users: pl.DataFrame) -> pl.DataFrame:
    """Give every user the rows of her group's prototype."""
    # In a fixed order: what follows is shuffled, and a seed must give the same again.
    return users.join(prototypes, on="group", maintain_order="left_right")
