"""Prepare columns for publication: pseudonyms, coarse times and the order of rows.

Pseudonyms are drawn at random for each release. They are not derived from user names.
"""

from __future__ import annotations

import polars as pl

from ..core.randomness import RandomSource


def pseudonymize(
    rows: pl.DataFrame, unit: str, rng: RandomSource
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Replace `user` by a pseudonym, one for each value of the column `unit`.

    With the unit `user` the rows of a user stay linked; with `session` only those of a session.

    Returns:
        The rows, and the mapping with the columns `user` and `pseudonym`.
    """
    # Users are dictionary-encoded and sessions numbered, so pseudonyms are gathered by code.
    units = rows[unit].cast(pl.Categorical) if rows[unit].dtype == pl.String else rows[unit]
    codes = units.to_physical()
    known = rows.select("user", code=codes).unique("code")
    known = known.with_columns(pl.col("user").cast(pl.String)).sort("user", "code")
    names = pl.Series("pseudonym", rng.tokens(known.height)).cast(pl.String)
    size = 1 + int(known["code"].max() or 0)  # type: ignore[arg-type]
    by_code = pl.repeat(None, size, dtype=pl.String, eager=True).scatter(known["code"], names)
    mapping = known.select("user", names)
    return rows.with_columns(by_code.gather(codes).alias("user")), mapping


def coarsen_time(step: str) -> pl.Expr:
    """Return an expression for `time` coarsened to the hour, day or month, or removed."""
    return {
        "none": pl.lit(None, dtype=pl.Date),
        "month": pl.col("time").dt.truncate("1mo").dt.date(),
        "day": pl.col("time").dt.date(),
        "hour": pl.col("time").dt.truncate("1h"),
    }[step]


def sort_for_publication(table: pl.DataFrame) -> pl.DataFrame:
    """Sort a table by its published columns, so that the order reveals nothing else."""
    texts = [name for name in table.columns if name != "count"]
    named = table.with_columns(pl.col(texts).cast(pl.String))
    return named.sort("count", *texts, descending=[True, *(False for _ in texts)])
