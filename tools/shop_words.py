"""Learn what nouns mean in shops, from product categories that are aligned in several languages.

The categories of Shopify's product taxonomy (MIT) have the same ids in all languages. Where the
English category has one concept, the head of the other label is probably a word for it: it is
learned if it occurs in several categories and most of them have the same concept. Any other word is
learned as the translation of the English word that it occurs with most, by Dice's coefficient.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import polars as pl

from queryveil.concepts.mapping.language import Language, english_singulars, get_language
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.mapping.tokens import tokenize
from queryveil.concepts.taxonomy.graph import Taxonomy

# What is sold: things, food, plants, animals, substances.
_SOLD = ("artifact", "food", "plant", "animal", "substance")
_MIN_CATEGORIES, _MIN_FRACTION = 2, 0.5
_MIN_OVERRIDE = (5, 0.6)
_MIN_TAIL, _MIN_DICE = 4, 0.5


def read_categories(folder: Path, code: str) -> dict[str, str]:
    """Return the last part of each category's path by its id."""
    path = folder / f"categories.{'pt-BR' if code == 'pt' else code}.txt.gz"
    if not path.exists():
        return {}
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    pairs = (line.split(" : ", 1) for line in lines if line.startswith("gid:"))
    return {key.strip(): text.strip().split(" > ")[-1] for key, text in pairs}


def is_held_out(key: str) -> bool:
    """Return whether a category is kept for tests: every second one, by its id."""
    return bool(zlib.crc32(key.encode()) % 2)


@dataclass
class EnglishHeads:
    """The concept of what is sold by the id of a category with one phrase, and words of all."""

    concepts: dict[str, str]
    words: dict[str, list[str]]
    meanings: dict[str, str]

    @classmethod
    def of(
        cls, wordnet: Taxonomy, categories: Mapping[str, str], listed: Mapping[str, str]
    ) -> EnglishHeads:
        """Map the English categories; of an ambiguous word, the sense of a thing is meant.

        `listed` are the meanings of English words in shops that are written by hand.
        """
        keys, mapper = list(categories), Mapper(wordnet)
        mapping = mapper.map(pl.Series([categories[key] for key in keys]))
        phrases = mapping.phrase_texts().with_columns(number=mapping.phrases["query"])
        single = phrases.filter(pl.col("number").is_unique() & (pl.col("concept") >= 0))
        sold = [wordnet.tag_names["lexicographer"].index(name) for name in _SOLD]
        is_sold = np.isin(wordnet.tags["lexicographer"], sold)
        names = wordnet.names.series()
        concepts, senses_of = {}, cache(wordnet.lookup)
        for row in single.iter_rows(named=True):
            words = row["phrase"].split()[-row["matched"] :]
            if len(words) == 1 and (name := _find_listed(words[0], listed)) is not None:
                concepts[keys[row["number"]]] = name
                continue
            senses = [row["concept"], *_senses(senses_of, words)]
            meant = next((sense for sense in senses if is_sold[sense]), None)
            if meant is not None:
                concepts[keys[row["number"]]] = names[meant]
        concepts = {key: name for key, name in concepts.items() if name != "-"}
        stop = get_language("en").stop_words
        words = {
            key: [word for word in tokens if word not in stop]
            for key, tokens in zip(keys, tokenize(mapping.queries).to_list(), strict=True)
        }
        meanings = {}
        for word in sorted({word for tokens in words.values() for word in tokens}):
            meant = next((sense for sense in _senses(senses_of, [word]) if is_sold[sense]), None)
            if meant is not None:
                meanings[word] = names[meant]
            if (name := _find_listed(word, listed)) is not None:
                meanings[word] = name
        meanings = {word: name for word, name in meanings.items() if name != "-"}
        return cls(concepts, words, meanings)


def _find_listed(word: str, listed: Mapping[str, str]) -> str | None:
    """Return the listed meaning of a word or its singular, `-` for none that is clear."""
    forms = (word, *(form[0] for form in english_singulars(pl.Series([word]))))
    return next((listed[form] for form in forms if form in listed), None)


def _senses(look_up: Callable[[str], list[int]], words: list[str]) -> Iterator[int]:
    start, last = words[:-1], words[-1]
    for form in (last, *(forms[0] for forms in english_singulars(pl.Series([last])))):
        yield from look_up(" ".join([*start, form]))


def learn_words(
    heads: EnglishHeads,
    categories: Mapping[str, str],
    code: str,
    known: Mapping[str, list[str]],
    *,
    all_ids: bool,
) -> dict[str, str]:
    """Return words of a language with the concept that they mean in shops.

    A word that a wordnet has (`known`) needs more evidence, to get another meaning.
    """
    language = get_language(code)
    keys = [
        key for key in categories if key in heads.concepts and (all_ids or not is_held_out(key))
    ]
    lists = tokenize(
        language.rewrite(pl.Series([categories[key] for key in keys], dtype=pl.String))
    ).to_list()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    spelled = {word for words in lists for word in words}
    for key, words in zip(keys, lists, strict=True):
        for word in _heads(words, language, spelled):
            counts[word][heads.concepts[key]] += 1
    stems = frozenset(language.stem(pl.Series(list(known), dtype=pl.String)))
    translated = _translate(heads, categories, language, all_ids)
    learned = {
        word: concept
        for word, concept in translated.items()
        if language.stem(pl.Series([word]))[0] not in stems
    }
    for word, concepts in counts.items():
        concept, number = concepts.most_common(1)[0]
        is_new = language.stem(pl.Series([word]))[0] not in stems
        is_sense = concept in known.get(word, ())
        least, fraction = (_MIN_CATEGORIES, _MIN_FRACTION) if is_new or is_sense else _MIN_OVERRIDE
        if number >= least and number >= fraction * concepts.total():
            learned[word] = concept
    return learned


def _translate(
    heads: EnglishHeads, categories: Mapping[str, str], language: Language, all_ids: bool
) -> dict[str, str]:
    """Return the concepts of words by the English word that each occurs with most."""
    keys = [key for key in categories if key in heads.words and (all_ids or not is_held_out(key))]
    texts = pl.Series([categories[key] for key in keys], dtype=pl.String)
    lists = tokenize(language.rewrite(texts)).to_list()
    spelled = {word for words in lists for word in words}
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    own, english = Counter[str](), Counter[str]()
    for key, words in zip(keys, lists, strict=True):
        units = {u for word in words for u in _units(word, language, spelled)}
        own.update(units)
        english.update(set(heads.words[key]))
        for unit in units:
            pairs[unit].update(set(heads.words[key]))
    translated = {}
    for unit, candidates in pairs.items():
        dice = {
            word: 2 * number / (own[unit] + english[word])
            for word, number in candidates.items()
            if number >= _MIN_CATEGORIES
        }
        best = max(dice, key=lambda word: (dice[word], word), default="")
        if best and dice[best] >= _MIN_DICE and best in heads.meanings:
            translated[unit] = heads.meanings[best]
    return translated


def _units(word: str, language: Language, spelled: set[str]) -> Iterator[str]:
    """Yield a content word, and the words that it ends in."""
    if word in language.stop_words or not word.isalpha() or len(word) < 3:
        return
    yield word
    if language.has_compounds:
        # The longest tail only: "schuhe" in "handschuhe" does not mean gloves.
        tails = (word[cut:] for cut in range(2, len(word) - _MIN_TAIL + 1))
        yield from islice((tail for tail in tails if tail in spelled), 1)


def _heads(words: list[str], language: Language, spelled: set[str]) -> Iterator[str]:
    """Yield the head of a phrase, and the words that a compound ends in."""
    if "and" in words or any(word in _CONJUNCTIONS for word in words):
        return
    ends = language.stop_words - language.linkers  # "für" in "Gestelle für Boote"
    segment = list(takewhile(lambda word: word not in ends, words))
    content = [word for word in segment if word not in language.stop_words]
    if not content:
        return
    head = content[0] if language.head_first else content[-1]
    yield from _units(head, language, spelled)


_CONJUNCTIONS = {"und", "et", "y", "e", "ed", "en", "i", "och", "og", "oder", "ou", "o", "of"}
