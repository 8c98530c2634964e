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
