"""Rules for what people type into a search engine beside words: addresses, brands, people.

A query that is an address, or as a whole the name of a brand, a site or a person, is resolved
here. A brand inside a longer query is added to the concepts of its other phrases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ...lexicons.people import NameSpans, find_name_spans, is_joined_name, is_known_person
from ...lexicons.words import TextNumbers
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .addresses import address_keys
from .label_index import MATCH_KINDS
from .tokens import Vocabulary, WordFeature, tokenize
from .trie import Trie, build_trie
from .web_lexicon import ADDRESS, ANYWHERE, WEB_SITE, WebLexicon, load_web_lexicon, nearest_concepts

# What an address of an unknown site is, by its suffix.
_SUFFIX_CONCEPTS = {"edu": "n#08286569", "gov": "n#08337324", "mil": "n#08199025"}
_PERSON = "n#00007846"
_CALL_SIGN = r"[wk](?:[^aeiou\W\d][a-z][^aeiou\W\d]|[a-z][^aeiou\W\d]{2})"
_FREQUENCY = r"(?:8[789]|9\d|10[0-8])[. ]\d"
# Queries that are a number of a known shape, or the call sign of a station: "wivk", "107 7 wivk".
_SHAPES = (
    ("n#06426111", r"^\s*(?:1[\s.-]?)?\(?\d{3}\)?[\s./-]*\d{3}[\s.-]*\d{4}\s*$"),  # phone number
    ("n#03519981", r"^(?:interstate|i|us|route|rte|rt|highway|hwy)[ -]?\d{1,3}[ewns]?$"),  # highway
    ("n#06355705", r"^\s*\d{5}(?:-\d{4})?\s*$"),  # zip code
    ("n#04044119", rf"^{_CALL_SIGN}(?:[ -]?[fa]m| radio)?$"),  # radio station
    ("n#04044119", rf"^{_FREQUENCY}(?: [a-z]+)*$|^[wk][a-z]{{2,3}} {_FREQUENCY}$"),
    ("n#04406350", r"^[wk][a-z]{3}[ -]?tv[ \d]*$|^(?:abc|nbc|cbs|fox|news|wb|channel) ?\d{1,2}$"),
)
BRAND, SITE, PERSON, SHAPE = (
    MATCH_KINDS.index(kind) for kind in ("brand", "address", "name", "label")
)


@dataclass(frozen=True, eq=False)
class ResolvedQueries:
    """For each query its concept by a rule for the whole query, or -1, and the match kind.

    `names` are the full names of people inside the queries without a concept.
    """

    concepts: IntArray
    kinds: IntArray
    names: NameSpans | None = None

    def select(self, rows: BoolArray) -> ResolvedQueries:
        """Return a selection of the queries."""
        return ResolvedQueries(self.concepts[rows], self.kinds[rows])


class WebRules:
    """Resolve addresses, brands and sites of a taxonomy that has the web lexicon."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        vocabulary: Vocabulary,
        custom_terms: Sequence[str] = (),
        common_words: Sequence[str] = (),
    ) -> None:
        self._common_words = list(common_words)
        names = _list_names(taxonomy, load_web_lexicon())
        # Custom terms of the data owner are labels, which these rules must not override.
        own = [" ".join(words) for words in tokenize(pl.Series(custom_terms, dtype=pl.String))]
        joined = [text.replace(" ", "") for text in own]
        names = names.filter(~pl.col("text").str.replace_all(" ", "").is_in(joined))
        senses = [text for text, _ in load_web_lexicon().senses]
        self._labels = pl.concat(
            [taxonomy.labels.series(), pl.Series("text", [*own, *senses], pl.String)]
        )
        keys = names.with_columns(key=pl.col("text").str.replace_all(" ", "")).unique(
            "key", keep="first", maintain_order=True
        )
        self._in_address = _by_key(keys)
        self._as_query = _by_key(keys.filter(pl.col("use") != ADDRESS))
        numbers = dict(taxonomy.find_all([WEB_SITE, _PERSON, *_SUFFIX_CONCEPTS.values()]))
        self.site, self.person = numbers[WEB_SITE], numbers[_PERSON]
        shapes = dict(taxonomy.find_all([name for name, _ in _SHAPES]))
        self._by_shape = [(shapes[name], shape) for name, shape in _SHAPES if name in shapes]
        self._by_suffix = {kind: numbers[name] for kind, name in _SUFFIX_CONCEPTS.items()}
        self._inside = _InsideNames(names.filter(pl.col("use") == ANYWHERE), vocabulary)

    def resolve(self, queries: pl.Series) -> ResolvedQueries:
        """Return the concepts of the queries that are an address, a brand or a site."""
        table = address_keys(queries)
        is_address = table["address"].to_numpy()
        has_site = is_address | table["inside"].to_numpy()
        concepts = self._as_query.look_up(table["key"])
        concepts = np.where(concepts >= 0, concepts, self._as_query.look_up(table["core"]))
        # Words that only happen to spell a site without a kind: "free online games".
        several = queries.str.contains(r"\S\s+\S").fill_null(False).to_numpy()
        concepts[several & (concepts == self.site)] = -1
        rows = np.flatnonzero(has_site)
        concepts[rows] = self._find_sites(table[rows])
        kinds = np.where(concepts < 0, -1, np.where(has_site, SITE, BRAND))
        rest = concepts < 0
        texts = queries.filter(rest).fill_null("")
        names = find_name_spans(texts)
        is_person = names.entire & self._can_be_person(texts)
        rows = np.flatnonzero(rest)[is_person]
        concepts[rows], kinds[rows] = self.person, PERSON
        return ResolvedQueries(concepts, kinds, names.select(~is_person))

    def resolve_rest(self, queries: pl.Series) -> ResolvedQueries:
        """Return the concepts of queries without any other match.

        These are names of known people, also as one word, numbers and stations.
        """
        texts = queries.str.to_lowercase().str.strip_chars()
        concepts = np.full(len(queries), -1, np.int64)
        kinds = np.full(len(queries), -1, np.int64)
        for concept, shape in self._by_shape:
            rows = texts.str.contains(shape).fill_null(False).arg_true()
            concepts[rows], kinds[rows] = concept, SHAPE
        mask = (is_known_person(queries) | is_joined_name(texts)).to_numpy()
        concepts[mask], kinds[mask] = self.person, PERSON
        return ResolvedQueries(concepts, kinds)

    def _can_be_person(self, texts: pl.Series) -> BoolArray:
        """Return which texts are no labels and have no common word of the language."""
        is_other = texts.str.to_lowercase().is_in(self._labels.implode())
        if self._common_words:  # "lana de roca" is no person in Spanish
            words = tokenize(texts).to_frame("words").with_row_index("row").explode("words")
            common = words.filter(pl.col("words").is_in(self._common_words))["row"].unique()
            is_other |= pl.int_range(len(texts), dtype=pl.UInt32, eager=True).is_in(
                common.implode()
            )
        return np.asarray(~is_other.to_numpy())

    def _find_sites(self, table: pl.DataFrame) -> IntArray:
        """Return the sites of addresses; an unknown one is what its suffix means, or a web site."""
        sites = self._in_address.look_up(table["key"])
        sites = np.where(sites >= 0, sites, self._in_address.look_up(table["host"]))
        by_suffix = table["suffix"].replace_strict(
            self._by_suffix, default=self.site, return_dtype=pl.Int64
        )
        untyped = (sites < 0) | (sites == self.site)
        concepts = np.where(untyped, by_suffix.to_numpy(), sites)
        is_nothing = table["inside"].to_numpy() | (table["key"] == "").to_numpy()
        return np.where(is_nothing & (sites < 0), -1, concepts)

    def find_inside(self, texts: RaggedArray, matched: BoolArray) -> InsideMatches:
        """Return names inside queries whose words are not matched otherwise, longest first."""
        return self._inside.find(texts, matched)


@dataclass(frozen=True, eq=False)
class InsideMatches:
    """Names inside queries: the indices of their last words, their lengths and concepts."""

    ends: IntArray
    lengths: IntArray
    concepts: IntArray


class _InsideNames:
    """Find names at any position of a query."""

    def __init__(self, names: pl.DataFrame, vocabulary: Vocabulary) -> None:
        words = Vocabulary()
        lists = words.encode(names["text"])
        self._trie: Trie = build_trie(lists, len(words) + 1)
        self._concepts = names["concept"].to_numpy()
        self._number = WordFeature(vocabulary, words.known)

    def find(self, texts: RaggedArray, matched: BoolArray) -> InsideMatches:
        words = self._number()[texts.items] if len(texts.items) else texts.items
        index = np.arange(len(words))
        steps = self._trie.walk(words, index, index - texts.start[texts.row_ids] + 1, words)
        ends = np.concatenate([index[:0], *(rows for rows, _ in steps)])
        sizes = np.concatenate(
            [index[:0], *(np.full(len(r), n) for n, (r, _) in enumerate(steps, 1))]
        )
        concepts = np.concatenate([index[:0], *(self._concepts[e] for _, e in steps)])
        order = np.lexsort((ends, -sizes))
        ends, sizes, concepts = ends[order], sizes[order], concepts[order]
        kept = _without_overlap(ends, sizes, matched)
        return InsideMatches(ends[kept], sizes[kept], concepts[kept])


def _without_overlap(ends: IntArray, sizes: IntArray, matched: BoolArray) -> BoolArray:
    """Return which spans, longest first, share no word with a match or an earlier span."""
    kept = np.zeros(len(ends), np.bool_)
    free = ~matched
    for size in sorted(set(sizes.tolist()), reverse=True):
        rows = np.flatnonzero(sizes == size)
        spans = ends[rows, None] - np.arange(size)
        open_rows = free[spans].all(axis=1)
        first = np.concatenate([[True], np.diff(ends[rows]) >= size]) if len(rows) else open_rows
        chosen = rows[open_rows & first]
        kept[chosen] = True
        free[(ends[chosen, None] - np.arange(size)).ravel()] = False
    return kept


def _by_key(names: pl.DataFrame) -> TextNumbers:
    return TextNumbers(names["key"].to_list(), names["concept"].to_list(), missing=-1)


def _list_names(taxonomy: Taxonomy, lexicon: WebLexicon) -> pl.DataFrame:
    """Return text, concept and use of all names and aliases."""
    targets = {name for _, name in lexicon.aliases}
    numbers = nearest_concepts(taxonomy, {*lexicon.concepts.names, *targets})
    is_name = ["web:kind/" not in name for name in lexicon.concepts.names]
    own = pl.DataFrame(
        {
            "text": list(lexicon.concepts.labels),
            "concept": [numbers[name] for name in lexicon.concepts.names],
            "use": lexicon.concepts.use,
        }
    ).filter(pl.Series(is_name))
    aliases = pl.DataFrame(
        {
            "text": [text for text, _ in lexicon.aliases],
            "concept": [numbers[name] for _, name in lexicon.aliases],
            "use": lexicon.alias_use,
        }
    )
    return pl.concat([own, aliases], how="vertical_relaxed")
