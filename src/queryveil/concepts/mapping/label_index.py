"""Match phrases with labels: by their words, plurals, stems, and parts of joined labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .label_list import (
    LAST,
    list_compound_words,
    list_empty_words,
    list_extra_labels,
    list_frequent_names,
    list_overrides,
    list_own_labels,
    split_joined_labels,
)
from .language import CompoundSplitter, Language
from .spelling import Speller
from .tagging import english_lexicon
from .tokens import Vocabulary, WordFeature
from .web_lexicon import has_web_rules

# The matches of 1, 2, ... words: phrases, and the entries that they match.
Steps = list[tuple[IntArray, IntArray]]


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

    def walk(self, words: IntArray, ends: IntArray, lengths: IntArray, last: IntArray) -> Steps:
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
        matches: Steps = []
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
    "brand", "address", "town", "misspelled",
)  # fmt: skip
# The steps in which labels are looked up, better ones first, and the kinds of their matches.
_STEPS = ("label", "plural", "stem", "misspelled", "glued", "glued")
_PART_STEPS = ("part", "part plural", "part stem", "misspelled", "part glued", "part glued")
_STEP_KINDS = np.array([MATCH_KINDS.index(kind) for kind in (*_STEPS, *_PART_STEPS)])
_NOT_LETTER = r"[^\pL\pN]+"
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
        ranks = entries["rank"] * 2 + entries["part"].cast(pl.Int64)
        self.ranks = ranks.to_numpy() * len(_STEPS)
        self.surface = build_trie(lists, len(self.words) + 1)
        common = _empty_lists(lists, entries["proper"].to_numpy())
        used, places = np.unique(common.items, return_inverse=True)
        stem_of = self.stems.index(language.stem(self.words.words.gather(used)))
        self.stem = build_trie(RaggedArray(common.start, stem_of[places]), len(self.stems) + 1)
        spans = _empty_lists(
            _select_lists(spelled, order), (spelled.sizes[order] < 2) | (lists.sizes == 0)
        )
        self.span = build_trie(spans, len(self.words) + 1)
        self._lists, self._texts = lists, entries["text"]
        heads, parts, whole, nouns = list_compound_words(self.words, lists, entries, language)
        self.gluing = CompoundSplitter(heads, parts, whole)
        self.has_web_rules = has_web_rules(taxonomy, language)
        # Words that are spelled as meant, and those that others are corrected to.
        self.certain = pl.Series(whole, dtype=pl.String)
        self._right = [*nouns, *list_frequent_names()] if self.has_web_rules else []

    @cached_property
    def speller(self) -> Speller:
        """Corrects words that are in no list."""
        return Speller(pl.Series(self._right, dtype=pl.String))

    @cached_property
    def joined(self) -> pl.DataFrame:
        """The labels of several words without blanks: `word` and `entry`."""
        several = self._texts.str.contains(" ", literal=True)
        texts = self._texts.filter(several).str.to_lowercase()
        joined = pl.DataFrame(
            {"word": texts.str.replace_all(_NOT_LETTER, ""), "entry": several.arg_true()}
        )
        return joined.unique("word", keep="first", maintain_order=True)

    def words_with_stems(self, stems: IntArray) -> pl.Series:
        """Return for each stem the word that is a label and has it, or null."""
        states = self.stem.first[stems]
        entries = self.stem.entries[states]
        is_label = (stems >= 0) & (states >= 0) & (entries >= 0)
        words = self._lists.items[self._lists.start[:-1][np.where(is_label, entries, 0)]]
        table = pl.DataFrame({"word": self.words.words.gather(words), "is_label": is_label})
        return table.select(pl.when("is_label").then("word")).to_series()


class LabelIndex:
    """Find labels in phrases over a vocabulary."""

    def __init__(self, labels: LabelSet, language: Language, vocabulary: Vocabulary) -> None:
        self._language, self._labels = language, labels
        self._surface_of = WordFeature(vocabulary, labels.words.known)
        self._singular_of = WordFeature(vocabulary, self._find_singulars)
        self._stem_of = WordFeature(vocabulary, lambda new: labels.stems.known(language.stem(new)))
        self._unknown = WordFeature(vocabulary, self._check_unknown)
        self._stem_fits = WordFeature(vocabulary, self._check_stems)
        self._corrected_of = WordFeature(vocabulary, self._find_corrections)
        self._joined_of = WordFeature(vocabulary, self._find_joined)
        self._head_of = WordFeature(vocabulary, self._find_heads)

    def contains(self) -> BoolArray:
        """Return for every word of the vocabulary whether a label has it, in any form."""
        features = (self._surface_of, self._singular_of, self._stem_of, self._head_of)
        return np.asarray(np.any([feature() >= 0 for feature in features], axis=0))

    def is_label(self) -> BoolArray:
        """Return for every word of the vocabulary whether it is a label, also if misspelled."""
        numbers = self._corrected_of()
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

    def _check_stems(self, new: pl.Series) -> BoolArray:
        """Return which words mean the same as the label with their stem.

        Of English nouns only forms of a verb do: "decorating" is decoration, but "financial" no
        financier.
        """
        if not self._labels.has_web_rules:
            return np.ones(len(new), np.bool_)
        stems = self._stem_of()[-len(new) :]
        partner = self._labels.words_with_stems(stems)
        is_verb = new.str.contains(r".{3}(?:ings?|ed)$") | partner.str.contains(r".{3}ings?$")
        return (is_verb & ~new.is_in(list_empty_words())).fill_null(False).to_numpy()

    def _check_unknown(self, new: pl.Series) -> BoolArray:
        """Return which words are in no list, in no form."""
        is_word = new.is_in(self._labels.certain.implode()).to_numpy()
        return np.asarray((self._find_singulars(new) < 0) & ~is_word)

    def _find_unknown(self, new: pl.Series) -> IntArray:
        """Return the indices of the unknown words among the last words of the vocabulary."""
        unknown = self._unknown()
        return np.flatnonzero(unknown[len(unknown) - len(new) :])

    def _find_corrections(self, new: pl.Series) -> IntArray:
        """Return the numbers of words, of misspelled words that of the right word, or -1."""
        numbers = self._labels.words.known(new)
        if not self._labels.has_web_rules:
            return numbers
        unknown = self._find_unknown(new)
        words = new.gather(unknown)
        right = self._labels.speller.correct(words)
        singular = self._labels.speller.correct(self._language.singulars(words)[0])
        forms = pl.DataFrame({"right": right, "singular": singular})
        corrected = forms.select(pl.coalesce("right", "singular")).to_series()
        numbers = numbers.copy()
        numbers[unknown] = self._find_singulars(corrected.fill_null(""))
        return numbers

    def _find_joined(self, new: pl.Series) -> IntArray:
        """Return for each unknown word the label of several words that it joins, or -1."""
        entries = np.full(len(new), -1, np.int64)
        if self._labels.has_web_rules:
            unknown = self._find_unknown(new)
            asked = pl.DataFrame({"word": new.gather(unknown)})
            joined = asked.join(self._labels.joined, on="word", how="left", maintain_order="left")
            entries[unknown] = joined["entry"].fill_null(-1).to_numpy()
        return entries

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
        labels, last = self._labels, words[ends]
        surface, stem, right = (
            feature()[words] for feature in (self._surface_of, self._stem_of, self._corrected_of)
        )
        steps = (
            labels.surface.walk(surface, ends, lengths, surface[ends]),
            labels.surface.walk(surface, ends, lengths, self._singular_of()[last]),
            self._select_stems(labels.stem.walk(stem, ends, lengths, stem[ends]), last),
            labels.surface.walk(right, ends, lengths, right[ends]),
            self._join(last),
            labels.surface.walk(surface, ends, lengths, self._head_of()[last]),
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
        fits = self._stem_fits()[last[phrases]]
        return [(phrases[fits], entries[fits]), *sizes[1:]]

    def _join(self, last: IntArray) -> Steps:
        """Return the matches of phrases whose last word joins the words of a label."""
        entries = self._joined_of()[last]
        phrases = np.flatnonzero(entries >= 0)
        return [(phrases, entries[phrases])]


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
