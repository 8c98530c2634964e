"""Guess the language of queries by their letters, and count the words that a language has.

For each language the frequencies of three letters in sequence are known (made by
`tools/make_ngrams.py`), and for English and each installed language a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from ..taxonomy.arrays import StringArray
from ..taxonomy.storage import read_arrays
from .language import LANGUAGE_CODES, get_language
from .language_data import has_language_data, is_installed, load_language_data
from .stop_words import LISTS
from .tagging import english_lexicon
from .tokens import tokenize

CODES = ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da")
MIN_KNOWN = 0.6  # a log with fewer words of its language may be in another one
_FILE = Path(__file__).parents[1] / "data" / "languages.ngrams"
_UNSEEN = 13.5  # bits of a sequence that a profile does not have
_STOP_WORD = 8.0  # bits that a stop word of a language saves
_MIN_WORDS = 30  # distinct ones; fewer tell nothing
_MAX_QUERIES = 100_000
_UNIT = 1000


@dataclass(frozen=True)
class GuessedLanguage:
    """The language of a log.

    Attributes:
        code: The most probable language.
        words: The number of distinct words with letters.
        known: The fraction of words, by language, that its dictionary has; if there is one.
    """

    code: str
    words: int
    known: dict[str, float]

    @property
    def name(self) -> str:
        """The English name of the language."""
        return LANGUAGE_CODES[self.code].title()

    @property
    def is_sure(self) -> bool:
        """Whether there are enough words for a guess."""
        return self.words >= _MIN_WORDS

    @classmethod
    def of(cls, counts: pl.DataFrame) -> GuessedLanguage:
        """Return the guess from the sums that `count_languages` returns."""
        rows = {row["language"]: row for row in counts.iter_rows(named=True)}
        best = min(CODES, key=lambda code: (rows[code]["bits"], CODES.index(code)))
        words = int(rows[best]["words"])
        known = {code: rows[code]["known"] / max(words, 1) for code in CODES if is_installed(code)}
        return cls(best, words, known)


def guess_language(queries: pl.Series) -> GuessedLanguage:
    """Return the language of queries.

    >>> guess_language(pl.Series(["wo kann man gute schuhe kaufen", "wetter in der schweiz"])).code
    'de'
    """
    return GuessedLanguage.of(count_languages(queries))


def count_languages(queries: pl.Series, more: Iterable[str] = ()) -> pl.DataFrame:
    """Return language, bits, words and known: sums over the distinct words of queries.

    `bits` is the length of the words in a code for the language, so the language with the fewest
    bits fits best. Numbers of several parts of a log can be added.

    Args:
        more: Words that count as known in every language, such as labels of a taxonomy.
    """
    if len(queries) > _MAX_QUERIES:
        queries = queries.gather_every(-(-len(queries) // _MAX_QUERIES))
    listed = tokenize(queries.cast(pl.String)).explode().drop_nulls()
    words = listed.filter(listed.str.contains(r"^\pL{2,}$")).unique().sort()
    bits = word_bits(words, CODES)
    extra = pl.Series(sorted(more), dtype=pl.String).implode()
    rows = []
    for code in CODES:
        is_known = words.is_in(extra) | words.is_in(dictionary_words(code).implode())
        rows.append((code, int(bits[code].sum() * _UNIT), len(words), int(is_known.sum())))
    schema = {"language": pl.String, "bits": pl.Int64, "words": pl.Int64, "known": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def word_bits(words: pl.Series, codes: Sequence[str]) -> pl.DataFrame:
    """Return for each word and language the mean number of bits of its letter sequences."""
    table = pl.DataFrame({"word": words}).with_row_index("row")
    padded = pl.concat_str(pl.lit("_"), "word", pl.lit("_"))
    parts = table.select("row", text=padded).with_columns(
        place=pl.int_ranges(0, pl.col("text").str.len_chars().cast(pl.Int64) - 2)
    )
    parts = parts.explode("place", empty_as_null=False).select(
        "row", part=pl.col("text").str.slice("place", 3)
    )
    parts = parts.join(_profiles(), on="part", how="left")
    means = parts.group_by("row").agg(pl.col(code).fill_null(_UNSEEN).mean() for code in codes)
    joined = table.join(means, on="row", how="left", maintain_order="left")
    return joined.select(
        pl.col(code).fill_null(_UNSEEN)
        - _STOP_WORD * pl.col("word").is_in(LISTS[LANGUAGE_CODES[code]].split())
        for code in codes
    )


@cache
def _profiles() -> pl.DataFrame:
    """Return the bits of each sequence of letters: a column for each language."""
    _, arrays = read_arrays(_FILE)
    table = pl.DataFrame(schema={"part": pl.String})
    for code in CODES:
        own = pl.DataFrame(
            {
                "part": StringArray(arrays[f"{code} texts"].astype(np.uint8)).series(),
                code: arrays[f"{code} bits"] / 8,
            }
        )
        table = table.join(own, on="part", how="full", coalesce=True)
    return table


@cache
def dictionary_words(code: str) -> pl.Series:
    """Return the words of a language in all spellings that are known; only stop words if none."""
    language = get_language(code)
    stop = pl.Series(sorted(language.stop_words), dtype=pl.String)
    if code == "en":
        english = english_lexicon()["word"].str.to_lowercase()
        return pl.concat([stop, english]).unique()
    if not has_language_data(language):
        return stop
    words = load_language_data(language).all_words()
    return pl.concat([stop, words, language.fold(words)]).unique()
