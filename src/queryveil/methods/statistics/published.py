"""How tables are published: as texts, in an order that tells nothing else."""

from __future__ import annotations

import polars as pl

__all__ = ["sort_for_publication"]


def sort_for_publication(table: pl.DataFrame) -> pl.DataFrame:
    """Sort by what is published, so that the order tells nothing else."""
    texts = [name for name in table.columns if name != "count"]
    named = table.with_columns(pl.col(texts).cast(pl.String))
    return named.sort("count", *texts, descending=[True, *(False for _ in texts)])
