"""Names of places inside queries: "albuquerque hotels" is about a town and about hotels.

A place, or a brand of several words, separates phrases and is one of its own. Names that are also
words or given names count only where their neighbors allow it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .language import load_word_list
from .tagging import common_words
from .tokens import Vocabulary, WordFeature
from .towns import CODES
from .trie import Trie, build_trie
from .web_rules import WebRules

# Cities, states, countries, continents and islands.
_KINDS = ("n#08524735", "n#08654360", "n#08544813", "n#09254614", "n#09316454")
_NOT_PLACES = frozenset(("us", "turkey", "china", "jersey", "dominican", "orleans"))
# Codes of states that also mean something else at the end of a query.
_OTHER_CODES = frozenset(("md", "co", "me", "or", "in", "ok", "hi", "oh", "id", "al", "de", "la",
                          "ma", "pa", "ms", "mo", "on", "ab", "us"))  # fmt: skip

Spans = tuple[IntArray, IntArray]


class PlaceNames:
    """Find names of places that are phrases of their own."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        vocabulary: Vocabulary,
        rules: WebRules,
        usual: Sequence[tuple[str, int]],
    ) -> None:
        words, self._trie = _index_places(taxonomy, usual)
        self._number = WordFeature(vocabulary, words.known)
        given, surnames = load_word_list("given names"), load_word_list("surnames")
        self._given = vocabulary.flags(given)
        self._surname = vocabulary.flags({*surnames} - common_words())
        self._alone = vocabulary.flags(load_word_list("given names alone"))
        self._code = vocabulary.flags({*CODES} - _OTHER_CODES)
        self._rules = rules

    def find_breaks(self, texts: RaggedArray, places: Spans, labels: Spans) -> BoolArray:
        """Return a mask of the words that begin or follow a place or a brand of several words.

        Args:
            places: Out of `find`.
            labels: The first and last words of labels; a place inside one is a part of it.
        """
        brands = self._rules.find_inside(texts, np.zeros(len(texts.items), np.bool_))
        several = brands.lengths > 1
        names = brands.ends[several] - brands.lengths[several] + 1, brands.ends[several]
        begins, ends = (np.concatenate(both) for both in zip(places, names, strict=True))
        longer = (np.concatenate(both) for both in zip(labels, names, strict=True))
        inside = _lie_inside(begins, ends, *longer)
        begins, ends = begins[~inside], ends[~inside]
        breaks = np.zeros(len(texts.items) + 1, np.bool_)
        breaks[begins] = breaks[ends + 1] = True
        return breaks[:-1]

    def find(self, texts: RaggedArray) -> Spans:
        """Return the first and last words of places."""
        words = self._number()[texts.items] if len(texts.items) else texts.items
        index = np.arange(len(words))
        room = index - texts.start[texts.row_ids] + 1
        steps = self._trie.walk(words, index, room, words)
        begins = np.concatenate([index[:0], *(r - n + 1 for n, (r, _) in enumerate(steps, 1))])
        ends = np.concatenate([index[:0], *(rows for rows, _ in steps)])
        if not len(words):
            return begins, ends
        is_last = np.zeros(len(words) + 1, np.bool_)
        is_last[texts.start[1:] - 1] = True
        codes = np.flatnonzero(self._code()[texts.items] & is_last[:-1] & (room > 1))
        kept = self._can_be_place(texts.items, begins, ends, room, is_last)
        return np.append(begins[kept], codes), np.append(ends[kept], codes)

    def _can_be_place(
        self, items: IntArray, begins: IntArray, ends: IntArray, room: IntArray, last: BoolArray
    ) -> BoolArray:
        """Return which places are not part of the name of a person."""
        single = begins == ends
        before = items[np.maximum(begins - 1, 0)]
        after = items[np.minimum(ends + 1, len(items) - 1)]
        follows_name = (room[begins] > 1) & self._alone()[before]
        follows_name |= (room[begins] == 2) & last[ends] & self._given()[before]
        precedes_name = single & self._given()[items[begins]] & ~last[ends] & self._surname()[after]
        return np.asarray(~(single & follows_name) & ~precedes_name)


def _lie_inside(
    begins: IntArray, ends: IntArray, outer_begins: IntArray, outer_ends: IntArray
) -> BoolArray:
    """Return which spans lie in another, longer one."""
    if not len(outer_begins):
        return np.zeros(len(begins), np.bool_)
    order = np.argsort(outer_begins, kind="stable")
    reach = np.maximum.accumulate(np.append(-1, outer_ends[order]))
    starts_earlier = reach[np.searchsorted(outer_begins[order], begins)] >= ends
    last = np.full(int(max(begins.max(initial=0), outer_begins.max())) + 1, -1)
    np.maximum.at(last, outer_begins, outer_ends)
    return np.asarray(starts_earlier | (last[begins] > ends))


def _index_places(taxonomy: Taxonomy, usual: Sequence[tuple[str, int]]) -> tuple[Vocabulary, Trie]:
    """Return the words of the names and their trie, cached by taxonomy."""
    cached = taxonomy.cache.get("places")
    if isinstance(cached, tuple):
        return cached
    words = Vocabulary()
    texts = pl.Series(_list_places(taxonomy, usual), dtype=pl.String)
    index = words, build_trie(words.encode(texts), 1 << 20)
    taxonomy.cache["places"] = index
    return index


def _list_places(taxonomy: Taxonomy, usual: Sequence[tuple[str, int]]) -> list[str]:
    """Return the labels that are places first of all, or by their usual meaning, and no words."""
    numbers = dict(taxonomy.find_all(list(_KINDS)))
    mask = np.zeros(len(taxonomy), np.bool_)
    for concept in numbers.values():
        mask |= taxonomy.descendant_mask(concept)
    labeled = np.flatnonzero(taxonomy.label_concepts.sizes > 0)
    first = taxonomy.label_concepts.items[taxonomy.label_concepts.start[labeled]]
    texts = taxonomy.labels.series()
    own = texts.gather(labeled[mask[first]]).to_list()
    common = common_words()
    meant = {text: bool(mask[concept]) for text, concept in usual}
    own = [name for name in own if meant.get(name, True)]
    own += [name for name, is_place in meant.items() if is_place]
    people = (*load_word_list("given names"), *load_word_list("surnames"))
    others = {*texts.gather(labeled[~mask[first]]).to_list(), *people}
    listed = (*load_word_list("cities"), *load_word_list("towns"))
    cities = (name for name in listed if name not in others)
    listed_names = (name for name in (*own, *cities) if name not in common or meant.get(name))
    return sorted({name for name in listed_names if len(name) > 3} - _NOT_PLACES)
