"""The language of a log in its profile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ..concepts.mapping.guessing import GuessedLanguage, count_languages
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.options import AUTO, MappingOptions
from ..concepts.taxonomy.graph import Taxonomy
from ..core.randomness import RandomSource
from ..engine.operations import aggregate
from ..engine.table import Table
from ..errors import LanguageError
from .log_profile import LanguageSummary
from .taxonomies import make_mapper


def choose_mapping(
    taxonomy: str | Path | Taxonomy | Mapper, language: str | None, terms: str | Path | None
) -> Mapper | MappingOptions:
    """Return the mapper, or options if its language is to be guessed from the log."""
    if language != AUTO or isinstance(taxonomy, Mapper | Taxonomy):
        return make_mapper(taxonomy, language=language, terms=terms)
    return MappingOptions(str(taxonomy), AUTO, "" if terms is None else str(terms))


@dataclass(frozen=True, eq=False)
class ProfileLanguage:
    """The language of a log, the mapper for it, and a note if it does not fit."""

    mapper: Mapper | None
    summary: LanguageSummary | None
    notes: tuple[str, ...]


def find_language(sizes: Table, mapping: Mapper | MappingOptions | None) -> ProfileLanguage:
    """Guess the language of the queries of `sizes`, and return the mapper."""
    guessed = GuessedLanguage.of(aggregate(sizes, _count_languages, ["language"]))
    mapper = mapping.fit(guessed).mapper() if isinstance(mapping, MappingOptions) else mapping
    notes = () if mapper is None else _note_language(guessed, mapper)
    return ProfileLanguage(mapper, _describe_language(guessed), notes)


def _count_languages(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return count_languages(frame.select("query").collect()["query"])


def _describe_language(guessed: GuessedLanguage) -> LanguageSummary | None:
    if not guessed.is_sure:
        return None
    known = {code: round(fraction, 4) for code, fraction in guessed.known.items()}
    return LanguageSummary(guessed.code, guessed.name, guessed.words, known)


def _note_language(guessed: GuessedLanguage, mapper: Mapper) -> tuple[str, ...]:
    """Return a note if the queries seem to be in another language than they were mapped in."""
    languages = ",".join(language.name for language in mapper.languages)
    try:
        MappingOptions(language=languages).check_fit(guessed)
    except LanguageError as error:
        return (f"{error.what}. `language={guessed.code}` maps them as {guessed.name}",)
    return ()
