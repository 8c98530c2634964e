"""How fine times are given: one way for all methods."""

from __future__ import annotations

import polars as pl

__all__ = ["coarsen_time"]


def coarsen_time(step: str) -> pl.Expr:
    """Give the column `time` to the hour, the day, the month, or not at all."""
    return {
        "none": pl.lit(None, dtype=pl.Date),
        "month": pl.col("time").dt.truncate("1mo").dt.date(),
        "day": pl.col("time").dt.date(),
        "hour": pl.col("time").dt.truncate("1h"),
    }[step]
