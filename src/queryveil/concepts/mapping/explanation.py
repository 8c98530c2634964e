"""Explain how a query is mapped to concepts: its words, its phrases and their concepts.

The query is mapped as in a run, and the steps are reconstructed from the result, so that an
explanation never has another concept than the mapping.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ...core.records import Record
from .mapper import Mapper
from .phrases import mark_spans
from .tagging import MODIFIER, NOUN, VERB

_CLASS_NAMES = {NOUN: "noun", MODIFIER: "modifier", VERB: "verb"}
_STOP_WORD, _NAME = "stop word", "name"


@dataclass(frozen=True, repr=False)
class WordStep(Record):
    """A word of a query, its part of speech and its class."""

    word: str
    tag: str
    kind: str  # noun, modifier, verb, name, other, stop word (also parts of addresses such as www)


@dataclass(frozen=True, repr=False)
class PhraseStep(Record):
    """A phrase of a query, and the concept that its lookup returned.

    Attributes:
        concept: Name of the concept; None if no lookup matched.
        label: The main label of the concept, which can differ from the label that matched.
        tried: The texts of this phrase that were looked up, shortened from the left; the last one
            matched, if any did. Rules for names of people and failed fallbacks are not listed.
        how: How the last text matched a label.
        second_try: Whether the phrase was formed by a fallback rule, because no phrase of the
            query matched.
        ancestors: Labels from the root down to the concept.
    """

    text: str
    concept: str | None
    label: str | None
    tried: tuple[str, ...]
    how: str | None
    second_try: bool
    ancestors: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class QueryExplanation(Record):
    """How a query is mapped to concepts: its words, its phrases, their lookups and matches."""

    schema_number = 1

    query: str
    words: tuple[WordStep, ...]
    phrases: tuple[PhraseStep, ...]


def explain_query(mapper: Mapper, query: str) -> QueryExplanation:
    """Return the mapping of a query with its words, phrases, lookups and matches.

    >>> from queryveil.concepts import open_taxonomy
    >>> steps = explain_query(Mapper(open_taxonomy("wordnet")), "cheap hotels in paris")
    >>> [(phrase.text, phrase.tried, phrase.label) for phrase in steps.phrases]
    [('cheap hotels', ('cheap hotels', 'hotels'), 'hotel'), ('paris', ('paris',), 'paris')]
    """
    queries = pl.Series("query", [query], dtype=pl.String)
    mapper = mapper.for_query(query)
    block = mapper.tokenize(queries)
    words = mapper.vocabulary.words.gather(block.texts.items).to_list()
    tags = mapper.tagger.names(block.texts)
    mapping = mapper.map(queries)
    rows = mapping.to_polars().with_columns(mapping.phrases.select("begin", "words", "matched"))
    kinds = [
        _CLASS_NAMES.get(word_class, "other") if is_content else _STOP_WORD
        for word_class, is_content in zip(block.kinds.tolist(), block.content.tolist(), strict=True)
    ]
    if block.names is not None:
        in_name = mark_spans(len(kinds), block.names.begins, block.names.ends)
        kinds = [_NAME if name else kind for name, kind in zip(in_name, kinds, strict=True)]
    word_steps = tuple(map(WordStep, words, tags, kinds))
    phrases = tuple(
        _explain_phrase(mapper, rows[number], word_steps) for number in range(rows.height)
    )
    return QueryExplanation(query, word_steps, phrases)


def _explain_phrase(mapper: Mapper, phrase: pl.DataFrame, steps: Sequence[WordStep]) -> PhraseStep:
    """Explain one phrase, a table of one row."""
    row = phrase.row(0, named=True)
    begin, concept = row["begin"], row["concept"]
    own = steps[begin : begin + row["words"]]
    looked_up = [step.word for step in own if step.kind != _STOP_WORD]
    if mapper.language.head_first:  # the first word is the head
        looked_up.reverse()
    last = len(looked_up) - (1 if concept is None else row["matched"])
    tried = [looked_up[start:] for start in range(last + 1)]
    if mapper.language.head_first:
        tried = [words[::-1] for words in tried]
    ancestors = [] if concept is None else mapper.taxonomy.ancestors(concept).tolist()
    return PhraseStep(
        text=row["phrase"],
        concept=row["name"],
        label=row["label"],
        tried=tuple(" ".join(words) for words in tried),
        how=row["how"],
        second_try=row["loose"],
        ancestors=tuple(mapper.taxonomy.label(c) for c in ancestors),
    )
