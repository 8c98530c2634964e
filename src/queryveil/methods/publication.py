"""New names for people: drawn at random, for this release alone, derived from nothing."""

from __future__ import annotations

import polars as pl

from ..core.randomness import RandomSource


def pseudonymize(
    rows: pl.DataFrame, unit: str, chance: RandomSource
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Replace `user` by a pseudonym, one for each value of the column `unit`.

    With the unit `user` a person's rows stay linked; with `session` only those of a session.
    Gives the rows, and the mapping: user, pseudonym.
    """
    # Users are encoded and sessions numbered, so a pseudonym is looked up by its place.
    units = rows[unit].cast(pl.Categorical) if rows[unit].dtype == pl.String else rows[unit]
    places = units.to_physical()
    known = rows.select("user", place=places).unique("place")
    known = known.with_columns(pl.col("user").cast(pl.String)).sort("user", "place")
    names = pl.Series("pseudonym", chance.tokens(known.height)).cast(pl.String)
    size = 1 + int(known["place"].max() or 0)  # type: ignore[arg-type]
    book = pl.repeat(None, size, dtype=pl.String, eager=True).scatter(known["place"], names)
    mapping = known.select("user", names)
    return rows.with_columns(book.gather(places).alias("user")), mapping


def coarsen_time(step: str) -> pl.Expr:
    """Give the column `time` to the hour, the day, the month, or not at all."""
    return {
        "none": pl.lit(None, dtype=pl.Date),
        "month": pl.col("time").dt.truncate("1mo").dt.date(),
        "day": pl.col("time").dt.date(),
        "hour": pl.col("time").dt.truncate("1h"),
    }[step]


def sort_for_publication(table: pl.DataFrame) -> pl.DataFrame:
    """Sort by what is published, so that the order tells nothing else."""
    texts = [name for name in table.columns if name != "count"]
    named = table.with_columns(pl.col(texts).cast(pl.String))
    return named.sort("count", *texts, descending=[True, *(False for _ in texts)])
