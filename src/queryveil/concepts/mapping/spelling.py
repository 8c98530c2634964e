"""Correct words with one wrong, missing, additional or exchanged letter."""

from __future__ import annotations

import polars as pl

_MIN_LETTERS, _MIN_REPLACED, _MAX_LETTERS = 5, 7, 24
# How a word can differ from the right one; the first is the most frequent slip.
_ADDED, _MISSING, _EXCHANGED, _REPLACED = range(4)


class Speller:
    """Find the known word that an unknown one probably means.

    A word and a correction have the same rest when one letter is taken away from each (symmetric
    deletion), so no pair of words is compared. The first letter is assumed to be right. If several
    words fit equally, none is chosen.

    >>> speller = Speller(pl.Series(["google", "restaurant", "separation"]))
    >>> speller.correct(pl.Series(["gogle", "googel", "seperation", "gugel"])).to_list()
    ['google', 'google', 'separation', None]
    """

    def __init__(self, words: pl.Series) -> None:
        known = words.filter(words.str.contains(r"^[a-z]+$") & (words.str.len_bytes() >= 5))
        self._words = pl.DataFrame({"right": known.unique(maintain_order=True)})
        self._rests = _take_letters_away(self._words["right"].alias("right"))

    def correct(self, words: pl.Series) -> pl.Series:
        """Return the correction of each word, or null."""
        fits = words.str.contains(rf"^[a-z]{{{_MIN_LETTERS},{_MAX_LETTERS}}}$").fill_null(False)
        asked = words.alias("word").filter(fits).unique(maintain_order=True)
        rests = _take_letters_away(asked)
        entire = pl.DataFrame({"word": asked})
        pairs = pl.concat(
            [
                _pairs(rests.join(self._words, left_on="rest", right_on="right", how="inner",
                                  coalesce=False), _ADDED),
                _pairs(entire.join(self._rests, left_on="word", right_on="rest", how="inner"),
                       _MISSING),
                _same_rests(rests, self._rests),
            ]
        )  # fmt: skip
        best = pairs.unique().filter(pl.col("slip") == pl.col("slip").min().over("word"))
        single = best.filter(pl.len().over("word") == 1)
        table = pl.DataFrame({"word": words}).join(
            single, on="word", how="left", maintain_order="left"
        )
        return table["right"].alias(words.name)


def _pairs(table: pl.DataFrame, slip: int) -> pl.DataFrame:
    return table.select("word", "right", slip=pl.lit(slip, pl.Int8))


def _same_rests(rests: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that differ in one letter, or in the order of two neighbors."""
    both = rests.join(known, on="rest", how="inner", suffix="_right")
    apart = (pl.col("place") - pl.col("place_right")).abs()
    is_replaced = (apart == 0) & (pl.col("word").str.len_bytes() >= _MIN_REPLACED)
    is_exchanged = (apart == 1) & (pl.col("letter") == pl.col("letter_right"))
    slip = pl.when(is_exchanged).then(_EXCHANGED).when(is_replaced).then(_REPLACED)
    return both.select("word", "right", slip=slip.cast(pl.Int8)).drop_nulls("slip")


def _take_letters_away(words: pl.Series) -> pl.DataFrame:
    """Return each word without one of its letters after the first, the letter and its place."""
    name = words.name
    table = pl.DataFrame({name: words}).with_columns(
        place=pl.int_ranges(1, pl.col(name).str.len_bytes().cast(pl.Int64))
    )
    rows = table.explode("place", empty_as_null=False)
    start = pl.col(name).str.slice(0, pl.col("place"))
    return rows.with_columns(
        letter=pl.col(name).str.slice(pl.col("place"), 1),
        rest=start + pl.col(name).str.slice(pl.col("place") + 1),
    )
