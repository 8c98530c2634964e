"""Tokenize texts and encode words as numbers; each distinct word is processed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..taxonomy.arrays import IntArray, RaggedArray

# Queries and labels are normalized in the same way: "U.S. Dept. of Art & Design" and "us dept of
# art and design" have the same words. Apostrophes are removed ("alzheimer's" is often typed
# "alzheimers"), and so are the periods of abbreviations. All other characters except letters and
# digits separate words. Many logs have lost their apostrophes: "father s day".
_REWRITES = (
    ("['\u2019\u2018`]", ""),
    ("&", " and "),
    (r"\b(\pL)\.(\pL)\.(\pL)\b", "$1$2$3"),
    (r"\b(\pL)\.(\pL)\b", "$1$2"),
    (r"(\pL\pL) s\b", "${1}s"),
)
_REWRITTEN = ["'", "\u2019", "\u2018", "`", "&", ".", " s"]
_WORD = r"[\pL\pM\pN]+"


def tokenize(texts: pl.Series) -> pl.Series:
    """Return the list of words of each text.

    >>> tokenize(pl.Series(["Alzheimer's disease", "U.S. x-rays & more"])).to_list()
    [['alzheimers', 'disease'], ['us', 'x', 'rays', 'and', 'more']]
    """
    normalized = texts.str.to_lowercase()
    # Few texts have one of these, so the others are spared five searches.
    rows = normalized.str.contains_any(_REWRITTEN).fill_null(False).arg_true()
    if len(rows):
        rewritten = normalized.gather(rows)
        for pattern, replacement in _REWRITES:
            rewritten = rewritten.str.replace_all(pattern, replacement)
        normalized = normalized.scatter(rows, rewritten)
    return normalized.str.extract_all(_WORD)


class Vocabulary:
    """All words seen so far, numbered from 0 in the order of their first occurrence.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.encode(pl.Series(["red car", "car"])).items.tolist()
    [0, 1, 1]
    >>> vocabulary.words.to_list()
    ['red', 'car']
    """

    def __init__(self) -> None:
        self._dtype = pl.Categorical(pl.Categories.random())
        # Polars drops the categories when the last column of this type is deleted.
        self._reference = pl.Series([], dtype=pl.String).cast(self._dtype)
        self.words = pl.Series("word", [], dtype=pl.String)

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, texts: pl.Series) -> RaggedArray:
        """Return the words of each text as numbers."""
        lists = tokenize(texts.fill_null(""))
        flat = lists.explode(empty_as_null=False)
        return RaggedArray.from_sizes(lists.list.len().to_numpy(), self.index(flat))

    def index(self, words: pl.Series) -> IntArray:
        """Return the numbers of single words; new words get the next numbers."""
        coded = words.cast(self._dtype)
        seen = coded.unique()
        table = pl.DataFrame({"code": seen.to_physical(), "word": seen.cast(pl.String)})
        new = table.filter(pl.col("code") >= len(self)).sort("code")
        self.words = pl.concat([self.words, new["word"]], rechunk=True)
        return coded.to_physical().to_numpy().astype(np.int32)

    def known(self, words: pl.Series) -> IntArray:
        """Return the numbers of words, or -1 for a word that was never seen."""
        table = pl.DataFrame({"word": self.words}).with_row_index("number")
        queried = pl.DataFrame({"word": words})
        numbers = queried.join(table, on="word", how="left", maintain_order="left")["number"]
        return numbers.cast(pl.Int32).fill_null(-1).to_numpy()

    def flags(self, chosen: Iterable[str]) -> WordFeature:
        """Return the feature of all words, now and later, that they are among the chosen ones."""
        sorted_words = pl.Series(sorted(chosen), dtype=pl.String).implode()
        return WordFeature(self, lambda new: new.is_in(sorted_words).to_numpy())


class WordFeature:
    """A value for every word in a vocabulary, computed once per word."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        compute: Callable[[pl.Series], NDArray[Any]],
    ) -> None:
        self._vocabulary, self._compute = vocabulary, compute
        self._known: NDArray[Any] | None = None

    def __call__(self) -> NDArray[Any]:
        """Return the value of every word seen so far."""
        done = 0 if self._known is None else len(self._known)
        if self._known is None or done < len(self._vocabulary):
            new = self._compute(self._vocabulary.words[done:])
            self._known = new if self._known is None else np.concatenate([self._known, new])
        return self._known
