"""Which concept a phrase means: labels by their words, their plurals, their stems, their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .language import CompoundSplitter, Language, load_word_list
from .tagging import english_lexicon
from .tokens import Vocabulary, WordFeature


@dataclass(frozen=True, eq=False)
class Trie:
    """A tree of words: `keys` (state times `width` plus word, sorted) lead to `states`.

    `first` leads from the root. `entries` has for each state the label that ends there, or -1.
    """

    width: int
    first: IntArray
    keys: IntArray
    states: IntArray
    entries: IntArray

    def walk(
        self, words: IntArray, ends: IntArray, lengths: IntArray, last: IntArray
    ) -> list[tuple[IntArray, IntArray]]:
        """Walk phrases from their last word to the left.

        `words` are the numbers of all words in a row, -1 for one in no label; a phrase is the
        `lengths` words up to `ends`. `last` replaces each phrase's last word. Comes back: for
        each number of words 1, 2, ... the phrases that end in a label of so many words, and
        those labels.
        """
        found: list[tuple[IntArray, IntArray]] = []
        alive = np.flatnonzero((last >= 0) & (lengths > 0))
        states = self.first[last[alive]]
        step = 1
        while len(alive):
            on = states >= 0
            alive, states = alive[on], states[on]
            entries = self.entries[states]
            hit = np.flatnonzero(entries >= 0)
            found.append((alive[hit], entries[hit]))
            more = lengths[alive] > step
            alive, states = alive[more], states[more]
            words_left = words[ends[alive] - step]
            known = words_left >= 0
            alive, states, words_left = alive[known], states[known], words_left[known]
            states = self._next(states, words_left)
            step += 1
        return found

    def _next(self, states: IntArray, words: IntArray) -> IntArray:
        if not len(self.keys):
            return np.full(len(states), -1, np.int64)
        wanted = states * self.width + words
        place = np.searchsorted(self.keys, wanted)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == wanted, self.states[place], -1)


def build_trie(labels: RaggedArray, width: int) -> Trie:
    """Make a tree of labels, each a list of words; of equal labels the first counts.

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
        distinct, which = np.unique(states[active] * width + words, return_inverse=True)
        keys.append(distinct)
        targets.append(count + np.arange(len(distinct)))
        states[active] = count + which
        count += len(distinct)
    entries = np.full(count, -1, np.int64)
    rows = np.flatnonzero(sizes > 0)[::-1]
    entries[states[rows]] = rows  # written from the last to the first, so the first one stays
    first = np.full(width, -1, np.int64)
    if keys:
        first[keys[0]] = targets[0]
    deeper = np.concatenate(keys[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    leads = np.concatenate(targets[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    order = np.argsort(deeper)
    return Trie(width, first, deeper[order], leads[order], entries)


# How a label was found, best first. A part is one of the things that a joined label names.
MATCH_KINDS = (
    "label", "plural", "stem", "glued", "part", "part plural", "part stem", "part glued", "name"
)  # fmt: skip
_WAYS = 4
_LENGTH = 1 << 20  # one more word outweighs everything else
_LAST = 1000  # the rank of labels that go after the taxonomy's own
_JOINED = r"\s*(?:,|&|/|\band\b|\bor\b)\s*"


@dataclass(frozen=True, eq=False)
class LabelMatches:
    """For each phrase: the concept (-1 if none), how many words matched, and how (see `HOW`)."""

    concepts: IntArray
    lengths: IntArray
    kinds: IntArray

    @classmethod
    def nothing(cls, phrases: int) -> LabelMatches:
        """Give so many phrases for which nothing was found."""
        none = np.full(phrases, -1)
        return cls(none, np.zeros(phrases, np.int64), none)

    def select(self, rows: IntArray | BoolArray) -> LabelMatches:
        """Take some of the phrases."""
        return LabelMatches(self.concepts[rows], self.lengths[rows], self.kinds[rows])


class LabelSet:
    """The labels of a taxonomy, compiled.

    The others are labels from elsewhere, each with its concept: they go `before` the taxonomy's
    own (an owner's terms), stand `instead` of those that are spelled alike in the same part of
    it, or go `after` them (names of places).
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
        own = _own_labels(taxonomy, language)
        tables = [_extra(before, 0), _instead(instead, taxonomy), own, _extra(after, _LAST)]
        whole = pl.concat(tables).with_columns(part=pl.lit(False))
        # An owner's term is meant as a whole: its parts must not go before whole labels.
        entries = pl.concat([whole, _parts(whole.filter(pl.col("rank") > 0))])
        self.words, self.stems = Vocabulary(), Vocabulary()
        spelled = self.words.encode(entries["text"])
        stripped = _without(self.words, spelled, language)
        order = _order(entries, spelled, stripped)
        entries, lists = entries[order], _taken(stripped, order)
        self.concepts = entries["concept"].to_numpy()
        self.ranks = (entries["rank"] * 8 + entries["part"].cast(pl.Int64) * _WAYS).to_numpy()
        self.surface = build_trie(lists, len(self.words) + 1)
        stem_of = self.stems.index(language.stem(self.words.words))
        stemmed = RaggedArray(lists.start, stem_of[lists.items])
        stemmed = _emptied(stemmed, entries["proper"].to_numpy())
        self.stem = build_trie(stemmed, len(self.stems) + 1)
        spans = _emptied(_taken(spelled, order), (spelled.sizes[order] < 2) | (lists.sizes == 0))
        self.span = build_trie(spans, len(self.words) + 1)
        self.gluing = CompoundSplitter(*_glue(self.words, lists, entries, language))


class LabelIndex:
    """Labels, ready to be found in phrases of a vocabulary."""

    def __init__(self, labels: LabelSet, language: Language, vocabulary: Vocabulary) -> None:
        self._language, self._labels = language, labels
        self._surface_of = WordFeature(vocabulary, labels.words.known)
        self._singular_of = WordFeature(vocabulary, self._singulars)
        self._stem_of = WordFeature(vocabulary, lambda new: labels.stems.known(language.stem(new)))
        self._head_of = WordFeature(vocabulary, self._heads)

    def contains(self) -> BoolArray:
        """Tell for every word of the vocabulary whether some label has it, in whatever form."""
        ways = (self._surface_of, self._singular_of, self._stem_of, self._head_of)
        return np.asarray(np.any([way() >= 0 for way in ways], axis=0))

    def spans(self, texts: RaggedArray) -> BoolArray:
        """Mark the words that stand in a label of several words: "north carolina"."""
        words = self._surface_of()[texts.items]
        places = np.arange(len(words))
        steps = self._labels.span.walk(
            words, places, places - texts.start[texts.row_ids] + 1, words
        )
        edges = np.zeros(len(words) + 1, np.int64)
        for size, (ends, _) in enumerate(steps, 1):
            np.add.at(edges, ends - size + 1, 1)
            np.add.at(edges, ends + 1, -1)
        return np.asarray(np.cumsum(edges)[:-1] > 0)

    def _singulars(self, new: pl.Series) -> IntArray:
        first, *others = (self._labels.words.known(form) for form in self._language.singulars(new))
        for other in others:
            first = np.where(first >= 0, first, other)
        return first

    def _heads(self, new: pl.Series) -> IntArray:
        """Give the last word of each glued word that is unknown otherwise."""
        unknown = np.flatnonzero(self._singulars(new) < 0)
        heads = [self._labels.gluing.last_word(word) for word in new.gather(unknown).to_list()]
        found = np.full(len(new), -1, np.int32)
        found[unknown] = self._singulars(pl.Series(heads, dtype=pl.String))
        return found

    def find(self, words: IntArray, ends: IntArray, lengths: IntArray) -> LabelMatches:
        """Find for each phrase the longest label that it ends in.

        `words` are the words of all phrases in a row; a phrase is the `lengths` words that end
        at `ends`. Among labels of the same length the first taxonomy that knows one wins, then
        the best way of finding it.
        """
        labels = self._labels
        surface, stem = self._surface_of()[words], self._stem_of()[words]
        singular, head = self._singular_of()[words[ends]], self._head_of()[words[ends]]
        best = np.full(len(ends), -1, np.int64)
        label = np.full(len(ends), -1, np.int64)
        for way, (trie, spelled, last) in enumerate(
            (
                (labels.surface, surface, surface[ends]),
                (labels.surface, surface, singular),
                (labels.stem, stem, stem[ends]),
                (labels.surface, surface, head),
            )
        ):
            for size, (phrases, entries) in enumerate(trie.walk(spelled, ends, lengths, last), 1):
                score = size * _LENGTH - (labels.ranks[entries] + way)
                better = score > best[phrases]
                best[phrases[better]] = score[better]
                label[phrases[better]] = entries[better]
        hit = label >= 0
        sizes = np.where(hit, -(-best // _LENGTH), 0)
        how = np.where(hit, (sizes * _LENGTH - best) % 8, -1)
        return LabelMatches(np.where(hit, labels.concepts[label], -1), sizes, how)


def _own_labels(taxonomy: Taxonomy, language: Language) -> pl.DataFrame:
    """List a taxonomy's labels: text, concept, rank of its part, number of meanings, a name?"""
    labelled = np.flatnonzero(taxonomy.label_concepts.sizes > 0)
    concepts = taxonomy.label_concepts.items[taxonomy.label_concepts.start[labelled]]
    proper = taxonomy.tags.get("proper", np.zeros(len(taxonomy), np.int64))
    own = pl.DataFrame(
        {
            "text": taxonomy.labels.series().gather(labelled),
            "concept": concepts.astype(np.int64),
            "rank": _ranks(taxonomy, concepts),
            "senses": taxonomy.label_concepts.sizes[labelled].astype(np.int64),
            "proper": proper[concepts] == 1,
        }
    )
    if not taxonomy.has_real_root:
        own = own.filter(pl.col("concept") != 0)
    if "lexicographer" in taxonomy.tags and language.name == "english":
        listed = taxonomy.tags["lexicographer"][own["concept"].to_numpy()] != -1
        own = own.filter(~(pl.col("text").is_in(load_word_list("plain plurals")) & listed))
    return own


def _ranks(taxonomy: Taxonomy, concepts: IntArray) -> IntArray:
    """Give the rank of the part of the taxonomy that each concept is of, from 1."""
    part = taxonomy.tags.get("part", np.zeros(len(taxonomy), np.int64))
    return np.asarray(part[concepts].astype(np.int64) + 1)


def _instead(labels: Sequence[tuple[str, int]], taxonomy: Taxonomy) -> pl.DataFrame:
    table = _extra(labels, 0)
    ranks = _ranks(taxonomy, table["concept"].to_numpy())
    return table.with_columns(rank=pl.Series(ranks), senses=pl.lit(_LAST, pl.Int64))


def _glue(
    words: Vocabulary, labels: RaggedArray, entries: pl.DataFrame, language: Language
) -> tuple[list[str], list[str], list[str]]:
    """Give the words that may end a glued word, those before, and those not to be parted."""
    if language.name != "english":
        return [], [], []
    single = labels.items[labels.start[:-1][(labels.sizes == 1) & ~entries["proper"].to_numpy()]]
    nouns = english_lexicon().filter(pl.col("tag").is_in(["NN", "NNS"]))["word"]
    plain = words.words.gather(np.unique(single))
    heads = plain.filter(plain.is_in(nouns.implode())).to_list()
    common = english_lexicon()["word"].str.to_lowercase().to_list()
    whole = [*load_word_list("surnames"), *common]
    return [*heads, *(f"{head}s" for head in heads)], common, whole


def _extra(labels: Sequence[tuple[str, int]], rank: int) -> pl.DataFrame:
    table = pl.DataFrame(
        list(labels), schema={"text": pl.String, "concept": pl.Int64}, orient="row"
    )
    return table.with_columns(
        rank=pl.lit(rank, pl.Int64), senses=pl.lit(1, pl.Int64), proper=pl.lit(True)
    )


def _parts(whole: pl.DataFrame) -> pl.DataFrame:
    """Give the things that a joined label names: "Swimming and Diving" is also "Diving"."""
    joined = whole.filter(pl.col("text").str.to_lowercase().str.contains(_JOINED))
    text = pl.col("text").str.to_lowercase().str.replace_all(_JOINED, "\n").str.split("\n")
    parts = joined.with_columns(text, part=pl.lit(True)).explode("text")
    return parts.filter(pl.col("text").str.len_chars() > 1)


def _without(words: Vocabulary, spelled: RaggedArray, language: Language) -> RaggedArray:
    """Leave the stop words out, and labels of one letter: "t" is seldom thymine."""
    kept = ~words.words.is_in(sorted(language.stop_words)).to_numpy()[spelled.items]
    sizes = np.bincount(spelled.row_ids[kept], minlength=len(spelled))
    lists = RaggedArray.from_sizes(sizes, spelled.items[kept])
    letter = (words.words.str.len_chars() < 2).to_numpy()[lists.items]
    alone = np.zeros(len(lists), np.bool_)
    alone[lists.row_ids[letter]] = True
    return _emptied(lists, alone & (sizes == 1))


def _order(entries: pl.DataFrame, spelled: RaggedArray, stripped: RaggedArray) -> IntArray:
    """Put the entry that shall win first where several are spelled alike.

    Whole labels go before parts, labels without stop words before those with some, words of
    many meanings (the usual ones) before words of few, and then the order of the alphabet.
    """
    lost = (spelled.sizes - stripped.sizes).astype(np.int64)
    table = entries.with_columns(lost=lost).with_row_index("row")
    order = table.sort(
        "rank", "part", "lost", "senses", "text", "row",
        descending=[False, False, False, True, False, False],
    )  # fmt: skip
    return order["row"].to_numpy()


def _emptied(lists: RaggedArray, which: BoolArray) -> RaggedArray:
    """Empty some of the lists."""
    kept = ~which[lists.row_ids]
    return RaggedArray.from_sizes(np.where(which, 0, lists.sizes), lists.items[kept])


def _taken(lists: RaggedArray, rows: IntArray) -> RaggedArray:
    items, places = lists.take(rows)
    return RaggedArray.from_sizes(np.bincount(places, minlength=len(rows)), items)
