"""The forms of words under which labels are looked up, each computed once per word."""

from __future__ import annotations

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray
from .compounds import find_starts, find_tails
from .label_list import list_empty_words
from .label_set import LabelSet
from .language import Language
from .tokens import Vocabulary, WordFeature


class WordForms:
    """Numbers of words among those of the labels, in several forms; -1 for none."""

    def __init__(self, labels: LabelSet, language: Language, vocabulary: Vocabulary) -> None:
        self._language, self._labels = language, labels
        self.surface = WordFeature(vocabulary, labels.folded.known)
        self.singular = WordFeature(vocabulary, self._find_singulars)
        self.stem = WordFeature(vocabulary, lambda new: labels.stems.known(language.stem(new)))
        self.unknown = WordFeature(vocabulary, self._check_unknown)
        self.stem_fits = WordFeature(vocabulary, self._check_stems)
        self.corrected = WordFeature(vocabulary, self._find_corrections)
        self.joined = WordFeature(vocabulary, self._find_joined)
        self.head = WordFeature(vocabulary, self._find_heads)

    def find_numbers(self, words: pl.Series) -> list[IntArray]:
        """Return the numbers of words, and those of their possible singulars; -1 for none."""
        forms = (words, *(form.rename(words.name) for form in self._language.singulars(words)))
        return list(self._labels.folded.known(pl.concat(forms)).reshape(len(forms), -1))

    def _find_singulars(self, new: pl.Series) -> IntArray:
        forms = self._language.singulars(new)
        first, *others = self._labels.folded.known(pl.concat(forms)).reshape(len(forms), -1)
        for other in others:
            first = np.where(first >= 0, first, other)
        return first

    def _check_stems(self, new: pl.Series) -> BoolArray:
        """Return which words mean the same as the label with their stem.

        Of English nouns only forms of a verb do: "decorating" is decoration, but "financial" no
        financier.
        """
        if not self._labels.has_web_rules:
            return np.ones(len(new), np.bool_)
        stems = self.stem()[-len(new) :]
        partner = self._labels.words_with_stems(stems)
        is_verb = new.str.contains(r".{3}(?:ings?|ed)$") | partner.str.contains(r".{3}ings?$")
        return (is_verb & ~new.is_in(list_empty_words())).fill_null(False).to_numpy()

    def _check_unknown(self, new: pl.Series) -> BoolArray:
        """Return which words are in no list, in no form."""
        is_word = new.is_in(self._labels.certain.implode()).to_numpy()
        return np.asarray((self._find_singulars(new) < 0) & ~is_word)

    def _find_unknown(self, new: pl.Series) -> IntArray:
        """Return the indices of the unknown words among the last words of the vocabulary."""
        unknown = self.unknown()
        return np.flatnonzero(unknown[len(unknown) - len(new) :])

    def _find_corrections(self, new: pl.Series) -> IntArray:
        """Return the numbers of words, of misspelled words that of the right word, or -1."""
        numbers = self._labels.folded.known(new)
        if not self._labels.has_web_rules:
            return numbers
        unknown = self._find_unknown(new)
        words = new.gather(unknown)
        forms = (words, *self._language.singulars(words))
        spelled = self._labels.speller.correct(pl.concat(form.rename("word") for form in forms))
        by_form = [spelled.slice(place * len(words), len(words)) for place in range(len(forms))]
        corrected = pl.select(pl.coalesce(by_form)).to_series().fill_null("")
        known = self._labels.words.known(corrected)
        numbers = numbers.copy()
        numbers[unknown] = np.where(known >= 0, known, self._find_singulars(corrected))
        return numbers

    def _find_joined(self, new: pl.Series) -> IntArray:
        """Return for each unknown word the label of several words that it joins, or -1."""
        entries = np.full(len(new), -1, np.int64)
        if self._labels.has_web_rules:
            unknown = self._find_unknown(new)
            asked = pl.DataFrame({"word": new.gather(unknown)})
            joined = asked.join(self._labels.joined, on="word", how="left", maintain_order="left")
            entries[unknown] = joined["entry"].fill_null(-1).to_numpy()
            rest = unknown[entries[unknown] < 0]
            entries[rest] = find_starts(new.gather(rest), self._labels.brands)
        return entries

    def _find_heads(self, new: pl.Series) -> IntArray:
        """Return the last word of each compound that is otherwise unknown, or -1."""
        unknown = np.flatnonzero(self._find_singulars(new) < 0)
        words = new.gather(unknown)
        heads = pl.Series(self._labels.gluing.last_words(words), dtype=pl.String)
        numbers = np.full(len(new), -1, np.int32)
        numbers[unknown] = self._find_singulars(heads)
        if self._language.has_compounds:  # "kuchen" is listed, and no plural of "küche"
            listed = self._labels.folded.known(heads)
            numbers[unknown] = np.where(listed >= 0, listed, numbers[unknown])
        if self._labels.has_web_rules:
            rest = np.flatnonzero((numbers < 0) & self.unknown()[-len(new) :])
            words = new.gather(rest)
            numbers[rest] = find_tails(words, self._labels.long_nouns)
        return numbers
