"""Map queries to concepts: tagging, noun phrases and label matching (SPEC 1.1).

Each step processes all queries of a block at once, as arrays of word numbers. A distinct word is
tagged, stemmed and looked up once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from ...core.progress import NoProgress, Progress
from ...errors import UsageError, did_you_mean
from ...lexicons.people import NameSpans, begin_like_names, find_name_spans
from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .label_index import MATCH_KINDS, LabelIndex, LabelMatches
from .label_set import compile_labels
from .landmarks import Landmarks
from .language import Language, get_language
from .language_data import in_language, list_own_words, non_nouns
from .loan_words import list_loan_words
from .names import NameMatches, find_people
from .phrases import (
    PersonNames,
    Phrases,
    inner_linkers,
    load_gazetteer,
    mark_spans,
    noun_phrases,
    side_words,
    whole_queries,
)
from .places import PlaceNames, Spans
from .product_rules import find_product_rules
from .query_words import ADDRESS, ADDRESS_WORDS, GENERAL_NOUNS, TitleWords
from .result import PHRASE_SCHEMA, ConceptMapping
from .tagging import (
    MODIFIER,
    NOUN,
    OTHER,
    VERB,
    BrillTagger,
    NounTagger,
    SpacyTagger,
    Tagger,
    english_lexicon,
)
from .tokenized import TokenizedQueries, find_brands, resolved_table
from .tokens import Vocabulary, WordFeature
from .towns import TownRules
from .web_lexicon import has_web_rules, has_web_sites
from .web_rules import ResolvedQueries, WebRules

TAGGERS = ("brill", "spacy", "none")
_BLOCK = 500_000
_MAX_DROPPED = 16  # words dropped from the right; the start of a longer query names nothing
_RELIABLE_KINDS = [
    MATCH_KINDS.index(kind)
    for kind in ("label", "plural", "misspelled", "glued", "part", "part plural", "name")
]
_TOPIC_KINDS = [MATCH_KINDS.index(kind) for kind in ("label", "plural", "name")]


class Mapper:
    """Map queries to concepts of a taxonomy.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Water_Sports/Swimming_and_Diving",
    ...                          "Top/Regional/Mediterranean"])
    >>> mapping = Mapper(odp).map(pl.Series(["diving in the Mediterranean"]))
    >>> [odp.label(c) for c in mapping.phrases["concept"]]
    ['Swimming and Diving', 'Mediterranean']
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        language: str | None = None,
        tagger: str | None = None,
        custom_terms: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._arguments = (taxonomy, language, tagger, tuple(custom_terms))
        original = taxonomy
        self.taxonomy = taxonomy = in_language(taxonomy, language)
        self.language = get_language(language or taxonomy.language)
        self.vocabulary = Vocabulary()
        self.tagger = _build_tagger(tagger, self.language, self.vocabulary)
        words = list_own_words(self.language)
        own = [*(term for term, _ in custom_terms), *words]
        self._web = (
            WebRules(taxonomy, self.vocabulary, own, words) if has_web_sites(taxonomy) else None
        )
        self._is_english = has_web_rules(taxonomy, self.language)
        self._towns = TownRules(taxonomy, self.vocabulary) if self._is_english else None
        self._landmarks = (
            None
            if self._towns is None
            else Landmarks(taxonomy, self.vocabulary, self._towns.region_names)
        )
        self._products = find_product_rules(taxonomy, self.language, custom_terms)
        names = load_gazetteer(taxonomy, self.language)
        if self._towns is not None:
            names = names.with_overrides(self._towns.usual_states)
        if taxonomy is not original:
            names = names.with_fallbacks(list_loan_words(original, self.language))
        self._places = (
            PlaceNames(taxonomy, self.vocabulary, self._web, names.overrides)
            if self._is_english and self._web is not None
            else None
        )
        labels = compile_labels(
            taxonomy, self.language, names.overrides, names.fallbacks, custom_terms
        )
        self._index = LabelIndex(labels, self.language, self.vocabulary)
        self._person_names = (
            PersonNames(names.person, self.vocabulary) if names.person is not None else None
        )
        self._not_letter = WordFeature(
            self.vocabulary, lambda new: (new.str.len_chars() > 1).to_numpy()
        )
        self._long = WordFeature(self.vocabulary, lambda new: (new.str.len_chars() > 2).to_numpy())
        self._tagged = self.vocabulary.flags(english_lexicon()["word"].str.to_lowercase())
        self._stop = self.vocabulary.flags(self.language.stop_words)
        self._linker = self.vocabulary.flags(self.language.linkers)
        self._non_noun, self._ambiguous = map(self.vocabulary.flags, non_nouns(self.language))
        self._titles = TitleWords(self.vocabulary)
        self._general = self.vocabulary.flags(GENERAL_NOUNS)
        self._address = self.vocabulary.flags(ADDRESS_WORDS)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor, since a stemmer cannot be pickled."""
        return _rebuild_mapper, self._arguments

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages in which queries are mapped."""
        return (self.language,)

    def for_query(self, query: str) -> Mapper:  # noqa: ARG002
        """Return the mapper of a query, if there are several for several languages."""
        return self

    def map(self, queries: pl.Series, progress: Progress | None = None) -> ConceptMapping:
        """Map distinct queries to concepts."""
        display = progress or NoProgress()
        blocks = []
        with display.stage("find concepts", len(queries)) as advance:
            for start in range(0, len(queries), _BLOCK):
                block = self.language.rewrite(queries[start : start + _BLOCK].cast(pl.String))
                blocks += self._map_queries(block, start)
                advance(len(block))
        table = pl.concat([pl.DataFrame(schema=PHRASE_SCHEMA), *blocks])
        table = table.sort("query", "begin", maintain_order=True)
        spelled = self.language.rewrite(queries.cast(pl.String))
        return ConceptMapping(self.taxonomy, queries, table, spelled)

    def _map_queries(self, queries: pl.Series, first: int) -> list[pl.DataFrame]:
        """Map queries as a whole where a rule of the web applies, and the others by phrases."""
        numbers = first + np.arange(len(queries))
        if self._products is not None:
            return [self._products.map(queries, numbers)]
        if self._web is None:
            return [self._map_block(self.tokenize(queries, numbers))]
        resolved = self._web.resolve(queries)
        rest = resolved.concepts < 0
        complete = resolved_table(queries.filter(~rest), numbers[~rest], resolved.select(~rest))
        block = self.tokenize(queries.filter(rest), numbers[rest], resolved.names)
        phrases = self._map_block(block)
        if not self._is_english:
            return [complete, phrases]
        is_open = rest.copy()
        is_open[phrases.filter(pl.col("concept") >= 0)["query"].unique().to_numpy() - first] = False
        others = self._resolve_rest(self._web, queries.filter(is_open))
        is_named = others.concepts >= 0
        texts = queries.filter(is_open).filter(is_named)
        table = resolved_table(texts, numbers[is_open][is_named], others.select(is_named))
        unnamed = phrases.join(table.select("query"), on="query", how="anti")
        return [complete, unnamed, table]

    def _resolve_rest(self, rules: WebRules, queries: pl.Series) -> ResolvedQueries:
        """Resolve queries without a match: known people, numbers, and words that join others."""
        resolved = rules.resolve_rest(queries)
        is_word = queries.str.contains(r"^\s*[A-Za-z0-9]+\s*$").fill_null(False).to_numpy()
        rows = np.flatnonzero(is_word & (resolved.concepts < 0))
        words = queries.gather(rows).str.strip_chars().str.to_lowercase()
        split = self._index.split(words)
        rows, split = rows[(split != "").to_numpy()], split.filter(split != "")
        meant = self._index.find_last(split)
        # Joined words of which the last names no thing are a person or the name of a site.
        nothing = (meant < 0) | (meant == rules.person)
        meant = np.where(
            nothing, np.where(begin_like_names(split), rules.person, rules.site), meant
        )
        concepts, kinds = resolved.concepts.copy(), resolved.kinds.copy()
        concepts[rows], kinds[rows] = meant, MATCH_KINDS.index("glued")
        return ResolvedQueries(concepts, kinds)

    def tokenize(
        self,
        queries: pl.Series,
        numbers: IntArray | None = None,
        people: NameSpans | None = None,
    ) -> TokenizedQueries:
        """Tokenize queries and classify their words.

        Args:
            numbers: Those of the queries, if they are not numbered from 0.
            people: Names of people in the queries, if they were searched already.
        """
        texts = self.vocabulary.encode(self.language.rewrite(queries))
        content = self._content_mask(texts, queries)
        classes = self.tagger.word_classes(texts)
        if self._is_english:
            # The tagger guesses the tag of a word that it does not know; a label is a noun.
            classes[self._index.is_label()[texts.items] & ~self._tagged()[texts.items]] = NOUN
            classes[self._final_nouns(texts, classes)] = NOUN
        is_linked = inner_linkers(texts, content, self._linker()[texts.items])
        classes[~content & ~is_linked] = OTHER
        if not self.language.has_tagger:
            flags = self._non_noun()[texts.items], self._ambiguous()[texts.items]
            classes[side_words(texts, content, *flags, self.language.head_first)] = VERB
        spans = self._index.spans(texts)
        classes[mark_spans(len(classes), *spans)] = NOUN
        if self._is_english:
            in_title = self._titles.find(texts)
            classes[in_title], content[in_title] = OTHER, False
        places = None if self._places is None else self._places.find(texts)
        names = None
        if places is not None:
            people = find_name_spans(queries) if people is None else people
            names = self._find_names(people, texts, spans, places)
            names = names and names.select(names.is_person | ~in_title[names.begins])
        if names is not None:  # looked up as one name, so they separate phrases
            in_name = mark_spans(len(classes), names.begins, names.ends)
            classes[in_name], content[in_name] = OTHER, False
        breaks = None
        if self._places is not None and places is not None:
            breaks = self._places.find_breaks(texts, places, spans)
        elif self.taxonomy is not self._arguments[0]:
            breaks = self._index.name_breaks(texts, content, spans)
        if numbers is None:
            numbers = np.arange(len(queries))
        head_first = self.language.head_first
        return TokenizedQueries(texts, content, classes, numbers, names, breaks, head_first)

    def _find_names(
        self, spans: NameSpans, texts: RaggedArray, labels: Spans, places: Spans
    ) -> NameMatches | None:
        """Return towns with their state, landmarks and full names of people, in no label."""
        if self._towns is None or self._landmarks is None or self._web is None:
            return None
        size, (begins, ends) = len(texts.items), places
        several = begins < ends  # "santa monica" is no person
        longer = begins[several], ends[several], size
        landmarks = self._landmarks.find(texts).outside(*labels).apart(*longer)
        towns = self._towns.find(texts).outside(*labels)
        towns = towns.apart(landmarks.begins, landmarks.ends, size).join(landmarks)
        people = find_people(spans, texts, self._web.person).outside(*labels).apart(*longer)
        return towns.join(people.apart(towns.begins, towns.ends, size))

    def _final_nouns(self, texts: RaggedArray, classes: ByteArray) -> BoolArray:
        """Return a mask of labels that end a query and are tagged as verbs: "insect bites"."""
        mask = np.zeros(len(classes), np.bool_)
        last = texts.start[1:][texts.sizes > 1] - 1
        follows = np.isin(classes[last - 1], (NOUN, MODIFIER))
        mask[last] = (classes[last] == VERB) & follows & self._index.has_form()[texts.items[last]]
        return mask

    def _map_block(self, block: TokenizedQueries) -> pl.DataFrame:
        texts, phrases = block.texts, noun_phrases(block.texts, block.kinds, block.breaks)
        matches = self._match_phrases(block, phrases)
        tables = [block.table(phrases, matches)]
        matched = block.matched_words(phrases, matches)
        if self._is_english:
            topics, topic_matches = self._match_topics(block, phrases, matches)
            tables.append(block.table(topics, topic_matches))
            matched |= block.matched_words(topics, topic_matches)
        unmatched = block.unmatched(phrases, matches)
        if block.names is not None:
            tables.append(block.name_table(block.names))
            matched |= mark_spans(len(matched), block.names.begins, block.names.ends)
            unmatched[texts.row_ids[block.names.begins]] = False
        for phrases_again in self._iter_second_tries(block, unmatched):
            if not len(phrases_again):
                continue
            matches_again = self._match_phrases(block, phrases_again)
            reliable = self._reliable_mask(block, phrases_again, matches_again)
            tables.append(
                block.table(
                    phrases_again.select(reliable), matches_again.select(reliable), loose=True
                )
            )
            matched |= block.matched_words(
                phrases_again.select(reliable), matches_again.select(reliable)
            )
            unmatched[texts.row_ids[phrases_again.begins[reliable]]] = False
        if self._web is not None:
            if not self._is_english:  # a form of a common word is no brand
                matched |= self._index.contains()[texts.items] | ~block.content
            tables.append(find_brands(self._web, block, matched))
        return pl.concat(tables).sort("query", "begin", maintain_order=True)

    def _match_topics(
        self, block: TokenizedQueries, phrases: Phrases, matches: LabelMatches
    ) -> tuple[Phrases, LabelMatches]:
        """Match what comes before a noun of little meaning: "herpes" in "herpes pictures"."""
        last = block.content_index[phrases.ends]
        rest = block.lengths(phrases) - matches.lengths
        is_general = self._general()[block.words[last]] if len(block.words) else last > 0
        rows = np.flatnonzero(is_general & (matches.lengths == 1) & (rest > 0))
        ends = block.content_places[last[rows] - 1]
        topics = Phrases(phrases.begins[rows], ends)
        topic_matches = self._match_phrases(block, topics)
        is_all = (topic_matches.lengths == rest[rows]) & np.isin(topic_matches.kinds, _TOPIC_KINDS)
        is_all &= block.kinds[ends] == NOUN
        return topics.select(is_all), topic_matches.select(is_all)

    def _iter_second_tries(
        self, block: TokenizedQueries, unmatched: BoolArray
    ) -> Iterator[Phrases]:
        """Yield further phrases to look up in queries without a match so far.

        First the phrases with words that were tagged as verbs ("ebay watch"), then phrases without
        their last words ("chicago emt"), then the whole query. The caller updates `unmatched`
        between two steps.
        """
        nouns = np.where(block.kinds == VERB, NOUN, block.kinds)
        phrases = noun_phrases(block.texts, nouns, block.breaks)
        yield block.select(phrases, unmatched)
        for _ in range(_MAX_DROPPED):
            shorter = phrases.drop_first_word if block.head_first else phrases.drop_last_word
            phrases = block.select(shorter(), unmatched)
            yield phrases
        yield block.select(whole_queries(block.texts, np.flatnonzero(unmatched)), unmatched)

    def _content_mask(self, texts: RaggedArray, queries: pl.Series) -> BoolArray:
        """Return a mask of words other than stop words and the "www" or "com" of an address."""
        is_address = queries.str.contains(ADDRESS).fill_null(False).to_numpy()
        is_address_word = self._address()[texts.items] & is_address[texts.row_ids]
        return np.asarray(~(self._stop()[texts.items] | is_address_word))

    def _reliable_mask(
        self, block: TokenizedQueries, phrases: Phrases, matches: LabelMatches
    ) -> BoolArray:
        """Return which matches a second try accepts: no stems, no words of one or two letters."""
        long = self._long()[block.words[block.content_index[phrases.ends]]]
        return np.asarray(np.isin(matches.kinds, _RELIABLE_KINDS) & long)

    def _match_phrases(self, block: TokenizedQueries, phrases: Phrases) -> LabelMatches:
        """Match phrases without their stop words with labels and names of persons."""
        words, ends, lengths = (
            block.words,
            block.content_index[phrases.ends],
            block.lengths(phrases),
        )
        if not len(words):
            return LabelMatches.nothing(len(phrases))
        matches = self._index.find(words, ends, lengths)
        is_letter = (matches.lengths == 1) & ~self._not_letter()[words[ends]]
        matches = matches.without(is_letter)  # a single letter has no concept
        if self._person_names is None:
            return matches
        first = words[ends - np.maximum(lengths, 1) + 1]
        is_name = self._person_names.is_person(first, words[ends], lengths, self._index.contains())
        is_name &= matches.lengths < lengths
        return LabelMatches(
            np.where(is_name, self._person_names.person, matches.concepts),
            np.where(is_name, lengths, matches.lengths),
            np.where(is_name, MATCH_KINDS.index("name"), matches.kinds),
        )


def _rebuild_mapper(
    taxonomy: Taxonomy,
    language: str | None,
    tagger: str | None,
    custom_terms: Sequence[tuple[str, int]],
) -> Mapper:
    return Mapper(taxonomy, language=language, tagger=tagger, custom_terms=custom_terms)


def _build_tagger(name: str | None, language: Language, vocabulary: Vocabulary) -> Tagger:
    if name is not None and name not in TAGGERS:
        raise UsageError(f'there is no tagger "{name}"', hint=did_you_mean(name, TAGGERS))
    if name == "brill" and not language.has_tagger:
        raise UsageError(
            f"the tagger brill knows English, not {language.name}",
            hint='`tagger="spacy"` or "none"',
        )
    if name == "spacy":
        return SpacyTagger(vocabulary, language.name)
    if name == "none" or not language.has_tagger:
        return NounTagger()
    return BrillTagger(vocabulary)
