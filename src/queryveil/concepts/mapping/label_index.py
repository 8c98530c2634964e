"""Match phrases with labels: by their words, plurals, stems, and parts of joined labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .label_list import (
    LAST,
    list_compound_words,
    list_extra_labels,
    list_overrides,
    list_own_labels,
    split_joined_labels,
)
from .language import CompoundSplitter, Language
from .tagging import english_lexicon
from .tokens import Vocabulary, WordFeature
from .web_lexicon import has_web_rules


@dataclass(frozen=True, eq=False)
class Trie:
    """A trie of words: `keys` (state times `width` plus word, sorted) lead to `states`.

    `first` has the transitions from the root. `entries` has for each state the label that ends
    there, or -1. Labels are stored from the last word to the first.
    """

    width: int
    first: IntArray
    keys: IntArray
    states: IntArray
    entries: IntArray

    def walk(
        self, words: IntArray, ends: IntArray, lengths: IntArray, last: IntArray
    ) -> list[tuple[IntArray, IntArray]]:
        """Walk all phrases at once, from their last word to the left.

        Args:
            words: The numbers of all words, concatenated; -1 for a word in no label.
            ends: The index of the last word of each phrase.
            lengths: The number of words of each phrase.
            last: Replaces the last word of each phrase.

        Returns:
            For each number of words 1, 2, ... the phrases that end in a label of this number of
            words, and these labels.
        """
        matches: list[tuple[IntArray, IntArray]] = []
        alive = np.flatnonzero((last >= 0) & (lengths > 0))
        states = self.first[last[alive]]
        step = 1
        while len(alive):
            reached = states >= 0
            alive, states = alive[reached], states[reached]
            entries = self.entries[states]
            hits = np.flatnonzero(entries >= 0)
            matches.append((alive[hits], entries[hits]))
            more = lengths[alive] > step
            alive, states = alive[more], states[more]
            words_left = words[ends[alive] - step]
            known = words_left >= 0
            alive, states, words_left = alive[known], states[known], words_left[known]
            states = self._next_states(states, words_left)
            step += 1
        return matches

    def _next_states(self, states: IntArray, words: IntArray) -> IntArray:
        if not len(self.keys):
            return np.full(len(states), -1, np.int64)
        targets = states * self.width + words
        index = np.searchsorted(self.keys, targets)
        index[index == len(self.keys)] = 0
        return np.where(self.keys[index] == targets, self.states[index], -1)


def build_trie(labels: RaggedArray, width: int) -> Trie:
    """Build a trie of labels, each a list of words; of equal labels the first is kept.

    >>> trie = build_trie(RaggedArray.from_lists([[0, 1], [1]]), 3)
    >>> ends, lengths = np.array([1]), np.array([2])
    >>> [entry.tolist() for _, entry in trie.walk(np.array([0, 1]), ends, lengths, np.array([1]))]
    [[1], [0]]
    """
    sizes = labels.sizes
    states = np.zeros(len(labels), np.int64)
    keys, targets, count = [], [], 1
    for depth in range(int(sizes.max(initial=0))):
        active = np.flatnonzero(sizes > depth)
        words = labels.items[labels.start[active + 1] - 1 - depth]
        distinct, index = np.unique(states[active] * width + words, return_inverse=True)
        keys.append(distinct)
        targets.append(count + np.arange(len(distinct)))
        states[active] = count + index
        count += len(distinct)
    entries = np.full(count, -1, np.int64)
    rows = np.flatnonzero(sizes > 0)[::-1]
    entries[states[rows]] = rows  # written in reverse, so the first label stays
    first = np.full(width, -1, np.int64)
    if keys:
        first[keys[0]] = targets[0]
    deeper = np.concatenate(keys[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    leads = np.concatenate(targets[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    order = np.argsort(deeper)
    return Trie(width, first, deeper[order], leads[order], entries)


# How a label was matched, best first. A part is one of the things that a joined label names
# ("Diving" in "Swimming and Diving").
MATCH_KINDS = (
    "label", "plural", "stem", "glued", "part", "part plural", "part stem", "part glued", "name",
    "brand", "address", "town",
)  # fmt: skip
_MATCH_STEPS = 4
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


class LabelSet:
    """The compiled labels of a taxonomy, with additional labels.

    Additional labels have a concept each. They come `before` the labels of the taxonomy (custom
    terms of the data owner), replace labels with the same spelling in the same part of it
    (`instead`), or come `after` them (names of places).
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        language: Language,
        *,
        before: Sequence[tuple[str, int]] = (),
        instead: Sequence[tuple[str, int]] = (),
        after: Sequence[tuple[str, int]] = (),
    ) -> None:
        own = list_own_labels(taxonomy, language)
        tables = [
            list_extra_labels(before, 0),
            list_overrides(instead, taxonomy),
            own,
            list_extra_labels(after, LAST),
        ]
        whole = pl.concat(tables).with_columns(part=pl.lit(False))
        # Custom terms (rank 0) are not split: their parts must not precede whole labels.
        entries = pl.concat([whole, split_joined_labels(whole.filter(pl.col("rank") > 0))])
        self.words, self.stems = Vocabulary(), Vocabulary()
        spelled = self.words.encode(entries["text"])
        stripped = _strip_stop_words(self.words, spelled, language)
        if has_web_rules(taxonomy, language):
            stripped = _empty_lists(stripped, _find_rests(self.words, spelled, stripped))
        order = _sort_entries(entries, spelled, stripped)
        entries, lists = entries[order], _select_lists(stripped, order)
        self.concepts = entries["concept"].to_numpy()
        self.ranks = (
            entries["rank"] * 8 + entries["part"].cast(pl.Int64) * _MATCH_STEPS
        ).to_numpy()
        self.surface = build_trie(lists, len(self.words) + 1)
        common = _empty_lists(lists, entries["proper"].to_numpy())
        used, places = np.unique(common.items, return_inverse=True)
        stem_of = self.stems.index(language.stem(self.words.words.gather(used)))
        self.stem = build_trie(RaggedArray(common.start, stem_of[places]), len(self.stems) + 1)
        spans = _empty_lists(
            _select_lists(spelled, order), (spelled.sizes[order] < 2) | (lists.sizes == 0)
        )
        self.span = build_trie(spans, len(self.words) + 1)
        self.gluing = CompoundSplitter(*list_compound_words(self.words, lists, entries, language))


class LabelIndex:
    """Find labels in phrases over a vocabulary."""

    def __init__(self, labels: LabelSet, language: Language, vocabulary: Vocabulary) -> None:
        self._language, self._labels = language, labels
        self._surface_of = WordFeature(vocabulary, labels.words.known)
        self._singular_of = WordFeature(vocabulary, self._find_singulars)
        self._stem_of = WordFeature(vocabulary, lambda new: labels.stems.known(language.stem(new)))
        self._head_of = WordFeature(vocabulary, self._find_heads)

    def contains(self) -> BoolArray:
        """Return for every word of the vocabulary whether a label has it, in any form."""
        features = (self._surface_of, self._singular_of, self._stem_of, self._head_of)
        return np.asarray(np.any([feature() >= 0 for feature in features], axis=0))

    def is_label(self) -> BoolArray:
        """Return for every word of the vocabulary whether it is a label by itself."""
        numbers = self._surface_of()
        single = self._labels.surface.entries[self._labels.surface.first[numbers]] >= 0
        return np.asarray((numbers >= 0) & (self._labels.surface.first[numbers] >= 0) & single)

    def spans(self, texts: RaggedArray) -> tuple[IntArray, IntArray]:
        """Return the first and last words of labels of several words: "north carolina"."""
        words = self._surface_of()[texts.items]
        indices = np.arange(len(words))
        steps = self._labels.span.walk(
            words, indices, indices - texts.start[texts.row_ids] + 1, words
        )
        begins = [ends - size + 1 for size, (ends, _) in enumerate(steps, 1)]
        return (
            np.concatenate([indices[:0], *begins]),
            np.concatenate([indices[:0], *(ends for ends, _ in steps)]),
        )

    def _find_singulars(self, new: pl.Series) -> IntArray:
        first, *others = (self._labels.words.known(form) for form in self._language.singulars(new))
        for other in others:
            first = np.where(first >= 0, first, other)
        return first

    def _find_heads(self, new: pl.Series) -> IntArray:
        """Return the last word of each compound that is otherwise unknown, or -1."""
        unknown = np.flatnonzero(self._find_singulars(new) < 0)
        heads = [self._labels.gluing.last_word(word) for word in new.gather(unknown).to_list()]
        numbers = np.full(len(new), -1, np.int32)
        numbers[unknown] = self._find_singulars(pl.Series(heads, dtype=pl.String))
        return numbers

    def find(self, words: IntArray, ends: IntArray, lengths: IntArray) -> LabelMatches:
        """Find for each phrase the longest label that it ends in.

        `words` are the words of all phrases, concatenated; a phrase is the `lengths` words that
        end at `ends`. Among labels of the same length, those of the first taxonomy have priority,
        then the best kind of match.
        """
        labels = self._labels
        surface, stem = self._surface_of()[words], self._stem_of()[words]
        singular, head = self._singular_of()[words[ends]], self._head_of()[words[ends]]
        best = np.full(len(ends), -1, np.int64)
        label = np.full(len(ends), -1, np.int64)
        for step, (trie, spelled, last) in enumerate(
            (
                (labels.surface, surface, surface[ends]),
                (labels.surface, surface, singular),
                (labels.stem, stem, stem[ends]),
                (labels.surface, surface, head),
            )
        ):
            for size, (phrases, entries) in enumerate(trie.walk(spelled, ends, lengths, last), 1):
                score = size * _LENGTH - (labels.ranks[entries] + step)
                better = score > best[phrases]
                best[phrases[better]] = score[better]
                label[phrases[better]] = entries[better]
        is_match = label >= 0
        sizes = np.where(is_match, -(-best // _LENGTH), 0)
        kinds = np.where(is_match, (sizes * _LENGTH - best) % 8, -1)
        return LabelMatches(np.where(is_match, labels.concepts[label], -1), sizes, kinds)


def _strip_stop_words(words: Vocabulary, spelled: RaggedArray, language: Language) -> RaggedArray:
    """Remove stop words, and labels of one letter: "t" rarely means thymine."""
    kept = ~words.words.is_in(sorted(language.stop_words)).to_numpy()[spelled.items]
    sizes = np.bincount(spelled.row_ids[kept], minlength=len(spelled))
    lists = RaggedArray.from_sizes(sizes, spelled.items[kept])
    letter = (words.words.str.len_chars() < 2).to_numpy()[lists.items]
    has_letter = np.zeros(len(lists), np.bool_)
    has_letter[lists.row_ids[letter]] = True
    return _empty_lists(lists, has_letter & (sizes == 1))


def _find_rests(words: Vocabulary, spelled: RaggedArray, stripped: RaggedArray) -> BoolArray:
    """Return the labels of which only a common word is left: "the doors" is no door."""
    common = words.words.is_in(english_lexicon()["word"].implode()).to_numpy()
    is_rest = (stripped.sizes == 1) & (spelled.sizes > 1)
    is_rest[is_rest] = common[stripped.items[stripped.start[:-1][is_rest]]]
    return np.asarray(is_rest)


def _sort_entries(entries: pl.DataFrame, spelled: RaggedArray, stripped: RaggedArray) -> IntArray:
    """Return the order of the entries; of equally spelled labels the first one is used.

    Whole labels precede parts, labels without stop words precede those with some, words with many
    senses (the common ones) precede words with few, and then the order is alphabetical.
    """
    lost = (spelled.sizes - stripped.sizes).astype(np.int64)
    table = entries.with_columns(lost=lost).with_row_index("row")
    order = table.sort(
        "rank", "part", "lost", "senses", "text", "row",
        descending=[False, False, False, True, False, False],
    )  # fmt: skip
    return order["row"].to_numpy()


def _empty_lists(lists: RaggedArray, mask: BoolArray) -> RaggedArray:
    """Return the lists with those in the mask emptied."""
    kept = ~mask[lists.row_ids]
    return RaggedArray.from_sizes(np.where(mask, 0, lists.sizes), lists.items[kept])


def _select_lists(lists: RaggedArray, rows: IntArray) -> RaggedArray:
    items, indices = lists.take(rows)
    return RaggedArray.from_sizes(np.bincount(indices, minlength=len(rows)), items)
