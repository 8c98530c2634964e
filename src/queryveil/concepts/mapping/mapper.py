"""From text to concepts: the way of a query through tagger, phrases and labels (SPEC 1.1).

Every query of a block goes through each step together with all others, as numbers. A distinct
word is tagged, stemmed and looked up once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from ...core.progress import NoProgress, Progress
from ...errors import UsageError, did_you_mean
from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .label_index import MATCH_KINDS, LabelIndex, LabelMatches, LabelSet
from .language import Language, get_language
from .phrases import Gazetteer, PersonNames, Phrases, load_gazetteer, noun_phrases, whole_queries
from .result import PHRASE_SCHEMA, ConceptMapping
from .tagging import NOUN, OTHER, VERB, BrillTagger, NounTagger, SpacyTagger, Tagger
from .tokens import Vocabulary, WordFeature


TAGGERS = ("brill", "spacy", "none")
_BLOCK = 500_000
_MOST_DROPPED = 16  # words from the right; whoever types more names nothing with the first
_SURE = [
    MATCH_KINDS.index(how) for how in ("label", "plural", "glued", "part", "part plural", "name")
]
# What looks like an address, and the parts of it that name nothing.
_ADDRESS = (
    r"(?i)^\s*(?:https?:|www\b)"
    r"|\.(?:com|net|org|edu|gov|mil|info|biz|co|us|uk|de|ca|au|tv|example)\b"
)
_ADDRESS_WORDS = (
    "http", "https", "www", "com", "net", "org", "edu", "gov", "mil", "info", "biz", "co", "us",
    "uk", "de", "ca", "au", "tv", "html", "htm", "php", "asp", "index", "example",
)  # fmt: skip


class Mapper:
    """Maps queries to concepts of a taxonomy.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Water_Sports/Swimming_and_Diving",
    ...                          "Top/Regional/Mediterranean"])
    >>> found = Mapper(odp).map(pl.Series(["diving in the Mediterranean"]))
    >>> [odp.label(c) for c in found.phrases["concept"]]
    ['Swimming and Diving', 'Mediterranean']
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        language: str | None = None,
        tagger: str | None = None,
        terms: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._made_of = (taxonomy, language, tagger, tuple(terms))
        self.taxonomy = taxonomy
        self.language = get_language(language or taxonomy.language)
        self.vocabulary = Vocabulary()
        self.tagger = _tagger(tagger, self.language, self.vocabulary)
        names = load_gazetteer(taxonomy, self.language)
        labels = _labels(taxonomy, self.language, names, terms)
        self._index = LabelIndex(labels, self.language, self.vocabulary)
        self._people = (
            PersonNames(names.person, self.vocabulary) if names.person is not None else None
        )
        self._long = WordFeature(self.vocabulary, lambda new: (new.str.len_chars() > 2).to_numpy())
        self._stop = self.vocabulary.flags(self.language.stop_words)
        self._address = self.vocabulary.flags(_ADDRESS_WORDS)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes as what it is made of: a stemmer cannot."""
        return _made_again, self._made_of

    def map(self, queries: pl.Series, progress: Progress | None = None) -> ConceptMapping:
        """Map distinct queries, each once."""
        shown = progress or NoProgress()
        blocks = []
        with shown.stage("find concepts", len(queries)) as advance:
            for start in range(0, len(queries), _BLOCK):
                block = queries[start : start + _BLOCK].cast(pl.String)
                blocks.append(self._map(self.tokenize(block, start)))
                advance(len(block))
        return ConceptMapping(
            self.taxonomy, queries, pl.concat([pl.DataFrame(schema=PHRASE_SCHEMA), *blocks])
        )

    def tokenize(self, queries: pl.Series, first: int = 0) -> TokenizedQueries:
        """Part queries into words and tell what each can be; the first one has this number."""
        texts = self.vocabulary.encode(queries)
        content = self._content(texts, queries)
        kinds = self.tagger.word_classes(texts)
        kinds[~content] = OTHER
        kinds[self._index.spans(texts)] = NOUN
        return TokenizedQueries(texts, content, kinds, first)

    def _map(self, block: TokenizedQueries) -> pl.DataFrame:
        texts, phrases = block.texts, noun_phrases(block.texts, block.kinds)
        found = self._find(block, phrases)
        tables = [block.table(phrases, found)]
        missed = block.unmatched(phrases, found)
        for again in self._second_tries(block, missed):
            if not len(again):
                continue
            hits = self._find(block, again)
            sure = self._sure(block, again, hits)
            tables.append(block.table(again.select(sure), hits.select(sure), loose=True))
            missed[texts.row_ids[again.begins[sure]]] = False
        return pl.concat(tables).sort("query", "begin", maintain_order=True)

    def _second_tries(self, block: TokenizedQueries, missed: BoolArray) -> Iterator[Phrases]:
        """Give what else to look up in queries in which nothing was found so far.

        First the words that were taken for verbs ("ebay watch"), then phrases without words
        from the right ("chicago emt"), then the whole query.
        """
        nouns = np.where(block.kinds == VERB, NOUN, block.kinds)
        phrases = noun_phrases(block.texts, nouns)
        yield block.select(phrases, missed)
        for _ in range(_MOST_DROPPED):
            phrases = block.select(phrases.drop_last_word(), missed)
            yield phrases
        yield block.select(whole_queries(block.texts, np.flatnonzero(missed)), missed)

    def _content(self, texts: RaggedArray, queries: pl.Series) -> BoolArray:
        """Tell which words are no stop words, and no "www" or "com" of an address."""
        address = queries.str.contains(_ADDRESS).fill_null(False).to_numpy()
        idle = self._address()[texts.items] & address[texts.row_ids]
        return np.asarray(~(self._stop()[texts.items] | idle))

    def _sure(self, block: TokenizedQueries, phrases: Phrases, found: LabelMatches) -> BoolArray:
        """Tell which finds are good enough for a second try: no stems, no words of two letters."""
        long = self._long()[block.words[block.place[phrases.ends]]]
        return np.asarray(np.isin(found.kinds, _SURE) & long)

    def _find(self, block: TokenizedQueries, phrases: Phrases) -> LabelMatches:
        """Look phrases up without their stop words."""
        words, ends, lengths = block.words, block.place[phrases.ends], block.lengths(phrases)
        if not len(words):
            return LabelMatches.nothing(len(phrases))
        found = self._index.find(words, ends, lengths)
        if self._people is None:
            return found
        first = words[ends - np.maximum(lengths, 1) + 1]
        named = self._people.is_person(first, words[ends], lengths, self._index.contains())
        named &= found.lengths < lengths
        return LabelMatches(
            np.where(named, self._people.person, found.concepts),
            np.where(named, lengths, found.lengths),
            np.where(named, MATCH_KINDS.index("name"), found.kinds),
        )


def _labels(
    taxonomy: Taxonomy, language: Language, names: Gazetteer, terms: Sequence[tuple[str, int]]
) -> LabelSet:
    """Compile the labels, once for a taxonomy and a language if there are no own terms."""
    name = f"labels {language.name}"
    known = None if terms else taxonomy.cache.get(name)
    if isinstance(known, LabelSet):
        return known
    made = LabelSet(
        taxonomy, language, before=terms, instead=names.overrides, after=names.fallbacks
    )
    if not terms:
        taxonomy.cache[name] = made
    return made


def _made_again(
    taxonomy: Taxonomy,
    language: str | None,
    tagger: str | None,
    terms: Sequence[tuple[str, int]],
) -> Mapper:
    return Mapper(taxonomy, language=language, tagger=tagger, terms=terms)


def _tagger(name: str | None, language: Language, vocabulary: Vocabulary) -> Tagger:
    if name is not None and name not in TAGGERS:
        raise UsageError(f'there is no tagger "{name}"', hint=did_you_mean(name, TAGGERS))
    if name == "brill" and not language.has_tagger:
        raise UsageError(
            f"the tagger brill knows English, not {language.name}", hint="--tagger spacy or none"
        )
    if name == "spacy":
        return SpacyTagger(vocabulary, language.name)
    if name == "none" or not language.has_tagger:
        return NounTagger()
    return BrillTagger(vocabulary)


@dataclass(frozen=True, eq=False)
class TokenizedQueries:
    """The words of some queries, and what each can be in a noun phrase.

    `content` marks the words that are looked up: no stop words. `first` is the number of the
    first query.
    """

    texts: RaggedArray
    content: BoolArray
    kinds: ByteArray
    first: int

    @cached_property
    def place(self) -> IntArray:
        """Where each word, or the last one before it, stands among those that are looked up.

        Words before the first of them have -1.
        """
        return np.asarray(np.cumsum(self.content) - 1)

    @cached_property
    def words(self) -> IntArray:
        """The words that are looked up."""
        return self.texts.items[self.content]

    def lengths(self, phrases: Phrases) -> IntArray:
        """Count the words of phrases that are looked up."""
        begins, ends = phrases.begins, phrases.ends
        return np.asarray(self.place[ends] - self.place[begins] + self.content[begins])

    def select(self, phrases: Phrases, queries: BoolArray) -> Phrases:
        """Take the phrases of some queries that have a word to look up."""
        wanted = queries[self.texts.row_ids[phrases.begins]]
        return self._trimmed(phrases.select(wanted & (self.lengths(phrases) > 0)))

    def _trimmed(self, phrases: Phrases) -> Phrases:
        """Take words that are not looked up off both ends."""
        used = np.flatnonzero(self.content)
        begins = used[np.searchsorted(used, phrases.begins)]
        return Phrases(begins, used[np.searchsorted(used, phrases.ends, side="right") - 1])

    def unmatched(self, phrases: Phrases, found: LabelMatches) -> BoolArray:
        """Tell in which queries nothing was found."""
        missed = np.ones(len(self.texts), np.bool_)
        missed[self.texts.row_ids[phrases.begins[found.concepts >= 0]]] = False
        return missed

    def table(self, phrases: Phrases, found: LabelMatches, loose: bool = False) -> pl.DataFrame:
        """Give the phrases with what was found for each."""
        query = self.texts.row_ids[phrases.begins]
        return pl.DataFrame(
            {
                "query": query.astype(np.int64) + self.first,
                "begin": phrases.begins - self.texts.start[query],
                "words": phrases.ends - phrases.begins + 1,
                "matched": found.lengths,
                "concept": found.concepts,
                "how": found.kinds,
                "loose": np.full(len(phrases), loose),
            },
            schema=PHRASE_SCHEMA,
        )
