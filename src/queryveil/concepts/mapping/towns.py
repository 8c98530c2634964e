"""Towns with their state or country: "denver colorado", "jackson ms", "london england".

The pair is one place, the town. Without this rule the last word counts ("colorado"), or the pair
is taken for the name of a person.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .language import load_word_list
from .names import NameMatches
from .tagging import common_words
from .tokens import Vocabulary, WordFeature
from .trie import Trie, build_trie

_CITY, _TOWN, _MUNICIPALITY = "n#08524735", "n#08665504", "n#08626283"
_REGIONS = ("n#08654360", "n#08544813")  # states and provinces, countries
_STATES = ("n#08655464", "n#08821885")  # of the United States and of Canada
CODES = (
    "al", "ak", "az", "ar", "ca", "co", "ct", "de", "fl", "ga", "hi", "id", "il", "in", "ia",
    "ks", "ky", "la", "me", "md", "ma", "mi", "mn", "ms", "mo", "mt", "ne", "nv", "nh", "nj",
    "nm", "ny", "nc", "nd", "oh", "ok", "or", "pa", "ri", "sc", "sd", "tn", "tx", "ut", "vt",
    "va", "wa", "wv", "wi", "wy", "dc", "fla", "calif", "mich", "tenn", "okla", "colo", "ariz",
    "minn", "wisc", "conn", "ala", "on", "qc", "bc", "ab", "uk", "usa",
)  # fmt: skip
# These codes are words, so they count only at the end of a query.
_WORD_CODES = frozenset(
    ["al", "co", "de", "hi", "id", "in", "la", "me", "ma", "mo", "oh", "ok", "on", "or", "pa", "us"]
)


def abbreviate(names: pl.Series) -> pl.Series:
    """Return names of towns as many people write them.

    >>> abbreviate(pl.Series(["fort worth", "saint paul", "boston"])).to_list()
    ['ft worth', 'st paul', 'boston']
    """
    for word, code in (("fort", "ft"), ("saint", "st"), ("mount", "mt")):
        names = names.str.replace(f"^{word} ", f"{code} ")
    return names


class TownRules:
    """Find towns that are followed by their state or country."""

    def __init__(self, taxonomy: Taxonomy, vocabulary: Vocabulary) -> None:
        self._taxonomy = taxonomy
        self._numbers = dict(taxonomy.find_all([_CITY, _TOWN, _MUNICIPALITY, *_REGIONS, *_STATES]))
        words = Vocabulary()
        names = {*self._labels_below(_REGIONS), *CODES}
        self.region_names = sorted(names - (common_words() - {*CODES}))  # without "state"
        regions = pl.Series(self.region_names)
        towns = self._list_towns()
        self._regions: Trie = build_trie(words.encode(regions), 1 << 20)
        self._towns: Trie = build_trie(words.encode(towns["text"]), 1 << 20)
        self._concepts = towns["concept"].to_numpy()
        self._number = WordFeature(vocabulary, words.known)
        self._word_code = vocabulary.flags(_WORD_CODES)

    @property
    def usual_states(self) -> list[tuple[str, int]]:
        """Labels of states whose first meaning in WordNet is no place to live: "mississippi"."""
        taxonomy = self._taxonomy
        mask = np.zeros(len(taxonomy), np.bool_)
        for name in _STATES:
            mask |= taxonomy.descendant_mask(self._numbers[name])
        is_place = mask | taxonomy.descendant_mask(self._numbers[_MUNICIPALITY])
        rows, concepts = taxonomy.label_concepts.row_ids, taxonomy.label_concepts.items
        first = taxonomy.label_concepts.start[:-1]
        starts = concepts[np.minimum(first, len(concepts) - 1)]
        chosen = np.flatnonzero(mask[concepts] & ~is_place[starts[rows]])
        texts = taxonomy.labels.series().gather(rows[chosen]).to_list()
        pairs = zip(texts, concepts[chosen].tolist(), strict=True)
        return [(text, concept) for text, concept in pairs if len(text) > 2]

    def find(self, texts: RaggedArray) -> NameMatches:
        """Find all pairs; a town of several words is preferred to a shorter one."""
        words = self._number()[texts.items] if len(texts.items) else texts.items
        index = np.arange(len(words))
        room = index - texts.start[texts.row_ids] + 1
        steps = self._regions.walk(words, index, room, words)
        ends = np.concatenate([index[:0], *(rows for rows, _ in steps)])
        sizes = np.concatenate(
            [index[:0], *(np.full(len(rows), size) for size, (rows, _) in enumerate(steps, 1))]
        )
        usable = (room[ends] > sizes) & ~(self._is_word_code(texts, ends) & (sizes == 1))
        ends, sizes = ends[usable], sizes[usable]
        return self._find_towns(words, ends, sizes, room)

    def _is_word_code(self, texts: RaggedArray, ends: IntArray) -> BoolArray:
        if not len(ends):
            return np.zeros(0, np.bool_)
        is_last = ends == texts.start[texts.row_ids[ends] + 1] - 1
        return np.asarray(self._word_code()[texts.items[ends]] & ~is_last)

    def _find_towns(
        self, words: IntArray, ends: IntArray, sizes: IntArray, room: IntArray
    ) -> NameMatches:
        last = ends - sizes
        begins = np.full(len(ends), -1, np.int64)
        concepts = np.full(len(ends), -1, np.int64)
        if len(ends):
            steps = self._towns.walk(words, last, room[last], words[last])
            for size, (rows, entries) in enumerate(steps, 1):
                begins[rows] = last[rows] - size + 1
                concepts[rows] = self._concepts[entries]
        matched = concepts >= 0
        begins, ends, concepts = begins[matched], ends[matched], concepts[matched]
        order = np.lexsort((-ends, begins))  # of pairs that begin alike the longest
        begins, ends, concepts = begins[order], ends[order], concepts[order]
        reach = np.maximum.accumulate(np.concatenate([[-1], ends[:-1]])) if len(ends) else ends
        separate = begins > reach
        return NameMatches(
            begins[separate], ends[separate], concepts[separate], np.zeros(separate.sum(), np.bool_)
        )

    def _labels_below(self, names: tuple[str, ...]) -> list[str]:
        texts: list[str] = []
        for name in names:
            texts += self._pairs_below(name)["text"].to_list()
        return texts

    def _pairs_below(self, name: str) -> pl.DataFrame:
        """Return the labels of all concepts below a concept, with the concept."""
        taxonomy = self._taxonomy
        below = taxonomy.descendant_mask(self._numbers[name])
        rows = np.flatnonzero(below[taxonomy.label_concepts.items])
        texts = taxonomy.labels.series().gather(taxonomy.label_concepts.row_ids[rows])
        concepts = taxonomy.label_concepts.items[rows].astype(np.int64)
        return pl.DataFrame({"text": texts, "concept": concepts})

    def _list_towns(self) -> pl.DataFrame:
        """Return WordNet's towns, then those of the gazetteer; of equal names the first counts."""
        lists = [self._pairs_below(_MUNICIPALITY), *map(self._pairs_below, _STATES)]
        for names, kind in (("cities", _CITY), ("towns", _TOWN)):
            texts = pl.Series("text", load_word_list(names), dtype=pl.String)
            lists.append(
                pl.DataFrame({"text": texts}).with_columns(
                    concept=pl.lit(self._numbers[kind], pl.Int64)
                )
            )
        table = pl.concat(lists)
        short = table.with_columns(text=pl.Series(abbreviate(table["text"])))
        table = pl.concat([table, short]).unique("text", keep="first", maintain_order=True)
        return table.filter(pl.col("text").str.len_chars() > 3)
