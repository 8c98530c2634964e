"""Match phrases with labels: by their words, plurals, stems, and parts of joined labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from .label_set import STEPS, LabelSet
from .language import Language
from .phrases import mark_spans
from .tokens import Vocabulary
from .trie import Steps
from .word_forms import WordForms

# How a label was matched, best first. A part is one of the things that a joined label names
# ("Diving" in "Swimming and Diving").
MATCH_KINDS = (
    "label", "plural", "stem", "glued", "part", "part plural", "part stem", "part glued", "name",
    "brand", "address", "town", "misspelled", "words",
)  # fmt: skip
_PART_STEPS = ("part", "part plural", "part stem", "misspelled", "part glued", "part glued")
_STEP_KINDS = np.array([MATCH_KINDS.index(kind) for kind in (*STEPS, *_PART_STEPS)])
_LENGTH = 1 << 20  # score per matched word; it exceeds any rank


@dataclass(frozen=True, eq=False)
class LabelMatches:
    """For each phrase: its concept (or -1), the number of matched words, and a match kind.

    A kind is an index into `MATCH_KINDS`, or -1.
    """

    concepts: IntArray
    lengths: IntArray
    kinds: IntArray

    @classmethod
    def nothing(cls, phrases: int) -> LabelMatches:
        """Return a result without matches for this number of phrases."""
        none = np.full(phrases, -1)
        return cls(none, np.zeros(phrases, np.int64), none)

    def without(self, rows: BoolArray) -> LabelMatches:
        """Return the matches, none for these phrases."""
        return LabelMatches(
            np.where(rows, -1, self.concepts),
            np.where(rows, 0, self.lengths),
            np.where(rows, -1, self.kinds),
        )

    def select(self, rows: IntArray | BoolArray) -> LabelMatches:
        """Return the matches of these phrases."""
        return LabelMatches(self.concepts[rows], self.lengths[rows], self.kinds[rows])


class LabelIndex:
    """Find labels in phrases over a vocabulary."""

    def __init__(self, labels: LabelSet, language: Language, vocabulary: Vocabulary) -> None:
        self._labels, self._head_first = labels, language.head_first
        self._forms = WordForms(labels, language, vocabulary)

    def contains(self) -> BoolArray:
        """Return for every word of the vocabulary whether a label has it, in any form."""
        forms = self._forms
        features = (forms.surface, forms.singular, forms.stem, forms.head)
        return np.asarray(np.any([feature() >= 0 for feature in features], axis=0))

    def has_form(self) -> BoolArray:
        """Return for every word of the vocabulary whether it, or its singular, is in a label."""
        return np.asarray((self._forms.surface() >= 0) | (self._forms.singular() >= 0))

    def is_label(self) -> BoolArray:
        """Return for every word of the vocabulary whether it is a label, also if misspelled."""
        numbers = self._forms.corrected()
        single = self._labels.surface.entries[self._labels.surface.first[numbers]] >= 0
        return np.asarray((numbers >= 0) & (self._labels.surface.first[numbers] >= 0) & single)

    def split(self, words: pl.Series) -> pl.Series:
        """Return the known words that each word joins, with blanks, or an empty text."""
        return pl.Series(self._labels.segmenter.split(words), dtype=pl.String)

    def find_last(self, texts: pl.Series) -> IntArray:
        """Return the concept that the last word of each text names by itself, or -1."""
        last = texts.str.extract(r"(\pL+)(?: \d)?$").fill_null("")  # "verizon 4"
        concepts = np.full(len(texts), -1, np.int64)
        for numbers in self._forms.find_numbers(last):
            states = np.where(numbers >= 0, self._labels.surface.first[numbers], -1)
            entries = np.where(states >= 0, self._labels.surface.entries[states], -1)
            is_new = (concepts < 0) & (entries >= 0)
            concepts[is_new] = self._labels.concepts[entries[is_new]]
        return concepts

    def spans(self, texts: RaggedArray) -> tuple[IntArray, IntArray]:
        """Return the first and last words of labels of several words: "north carolina"."""
        if self._head_first:
            texts = texts.mirrored()
        words = self._forms.surface()[texts.items]
        indices = np.arange(len(words))
        steps = self._labels.span.walk(
            words, indices, indices - texts.start[texts.row_ids] + 1, words
        )
        last = np.concatenate([indices[:0], *(ends for ends, _ in steps)])
        first = np.concatenate(
            [indices[:0], *(ends - size + 1 for size, (ends, _) in enumerate(steps, 1))]
        )
        if self._head_first:
            first, last = len(words) - 1 - last, len(words) - 1 - first
        return first, last

    def name_breaks(
        self, texts: RaggedArray, content: BoolArray, spans: tuple[IntArray, IntArray]
    ) -> BoolArray:
        """Return where names begin and end, which are no heads: "köln" in "krankenhaus köln"."""
        labels, numbers = self._labels, self._forms.surface()[texts.items]
        states = np.where(numbers >= 0, labels.surface.first[numbers], -1)
        entries = np.where(states >= 0, labels.surface.entries[states], -1)
        is_name = (entries >= 0) & labels.is_name[entries]
        breaks = is_name.copy()
        breaks[1:] = (breaks[1:] | is_name[:-1]) & content[:-1]
        several = spans[0] < spans[1]
        inside = mark_spans(len(breaks), spans[0][several] + 1, spans[1][several])
        return np.asarray(breaks & content & ~inside)

    def find(self, words: IntArray, ends: IntArray, lengths: IntArray) -> LabelMatches:
        """Find for each phrase the longest label that it ends in, or begins with if heads do.

        `words` are the words of all phrases, concatenated; a phrase is the `lengths` words that
        end at `ends`. Among labels of the same length, those of the first taxonomy have priority,
        then the best kind of match.
        """
        if self._head_first:
            begins = ends - np.maximum(lengths, 1) + 1
            words, ends = words[::-1], len(words) - 1 - begins
        labels, forms, last = self._labels, self._forms, words[ends]
        surface, stem = forms.surface()[words], forms.stem()[words]
        right = forms.corrected()[words]
        steps = (
            labels.surface.walk(surface, ends, lengths, surface[ends]),
            labels.surface.walk(surface, ends, lengths, forms.singular()[last]),
            self._select_stems(labels.stem.walk(stem, ends, lengths, stem[ends]), last),
            labels.surface.walk(right, ends, lengths, right[ends]),
            self._join(last),
            labels.surface.walk(surface, ends, lengths, forms.head()[last]),
        )
        best = np.full(len(ends), -1, np.int64)
        label = np.full(len(ends), -1, np.int64)
        for step, sizes in enumerate(steps):
            for size, (phrases, entries) in enumerate(sizes, 1):
                score = size * _LENGTH - (labels.ranks[entries] + step)
                better = score > best[phrases]
                best[phrases[better]] = score[better]
                label[phrases[better]] = entries[better]
        is_match = label >= 0
        lengths_matched = np.where(is_match, -(-best // _LENGTH), 0)
        kinds = _STEP_KINDS[(lengths_matched * _LENGTH - best) % len(_STEP_KINDS)]
        concepts = np.where(is_match, labels.concepts[label], -1)
        return LabelMatches(concepts, lengths_matched, np.where(is_match, kinds, -1))

    def _select_stems(self, sizes: Steps, last: IntArray) -> Steps:
        """Return the matches by stems; one word alone must also fit by its form."""
        if not sizes:
            return sizes
        phrases, entries = sizes[0]
        fits = self._forms.stem_fits()[last[phrases]]
        return [(phrases[fits], entries[fits]), *sizes[1:]]

    def _join(self, last: IntArray) -> Steps:
        """Return the matches of phrases whose last word joins the words of a label."""
        entries = self._forms.joined()[last]
        phrases = np.flatnonzero(entries >= 0)
        return [(phrases, entries[phrases])]
