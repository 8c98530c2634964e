"""How queries are mapped to concepts: by which taxonomy, in which language, with which terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import polars as pl

from ...core.records import Scalar
from ...errors import LanguageError, ParameterError, UsageError
from ..loaders.registry import BUILT_IN, open_taxonomy, public_names, read_custom_terms
from ..loaders.shop import name_in_language
from ..taxonomy.graph import Taxonomy
from .guessing import CODES, MIN_KNOWN, GuessedLanguage, count_languages
from .language import get_language, language_code
from .language_data import in_language, install_hint, is_installed
from .mapper import Mapper
from .multilingual import MultilingualMapper

# The language of a taxonomy, which is that of its labels; English for WordNet.
SAME = "taxonomy"
AUTO = "auto"
LANGUAGE_HELP = (
    "language of the queries, as en or de; several: en,de; taxonomy: that of the taxonomy"
)
GUESSED_HELP = f"{LANGUAGE_HELP}; auto: guessed"
TERMS_HELP = "file of custom terms: a term, a tab and a concept per line"


@dataclass(frozen=True)
class MappingOptions:
    """How queries are mapped: a value that methods and measures declare, and partitions receive.

    Attributes:
        taxonomy: Names or files of taxonomies, separated by commas.
        language: The language of the queries, or several with commas; `taxonomy` for that of the
            taxonomy, `auto` for the one that the letters of the queries fit best.
        terms: File of custom terms, which come before all labels; empty for none.

    >>> MappingOptions("wordnet").mapper().language.name
    'english'
    """

    taxonomy: str = "wordnet"
    language: str = SAME
    terms: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, Scalar]) -> MappingOptions:
        """Return the options among the parameters of a method; missing ones have defaults."""
        names = [declared.name for declared in fields(cls) if declared.name in parameters]
        return cls(**{name: str(parameters[name]) for name in names})

    def check(self, *, may_guess: bool = True) -> None:
        """Raise ParameterError if a language is unknown, or if it must not be guessed."""
        if self.language == AUTO and not may_guess:
            raise ParameterError(
                "a private method never guesses the language from the log",
                parameter="language",
                hint="name it, such as `language=de`",
            )
        for name in self.languages():
            try:
                get_language(name)
                name_in_language(self.taxonomy, name)
            except UsageError as error:
                raise ParameterError(error.what, parameter="language", hint=error.hint) from error

    def languages(self) -> list[str]:
        """Return the languages that are named; none for `taxonomy` and `auto`."""
        if self.language in (SAME, AUTO):
            return []
        return [name.strip() for name in self.language.split(",") if name.strip()]

    def files(self) -> tuple[Path, ...]:
        """Return the files of the taxonomy and of custom terms."""
        names = (name.strip() for name in self.taxonomy.split(","))
        taxonomies = [name for name in names if name and name not in BUILT_IN]
        return tuple(Path(name) for name in (*taxonomies, self.terms) if name)

    def public_params(self) -> dict[str, str]:
        """Return the options for a card; the folders of files are private."""
        return {
            "taxonomy": ",".join(public_names(self.taxonomy)),
            "language": self.language,
            "terms": Path(self.terms).name,
        }

    def open_taxonomy(self) -> Taxonomy:
        """Return the taxonomy, with labels in the first language that is named."""
        return self._open(next(iter(self.languages()), None))

    def _open(self, language: str | None) -> Taxonomy:
        opened = open_taxonomy(name_in_language(self.taxonomy, language))
        return in_language(opened, language)

    def mapper(self, taxonomy: Taxonomy | None = None, tagger: str | None = None) -> Mapper:
        """Return a mapper; `taxonomy` is the opened taxonomy, if the caller has it already."""
        if self.language == AUTO:
            raise UsageError("the language is not known yet", hint="`fit` guesses it")
        names: list[str | None] = [*self.languages()] or [None]
        opened = [self._open(name) if taxonomy is None else taxonomy for name in names]
        # Terms name concepts by the labels of the taxonomy, in whichever language queries are.
        named = open_taxonomy(self.taxonomy) if self.languages() and self.terms else opened[0]
        own = tuple(read_custom_terms(Path(self.terms), named)) if self.terms else ()
        mappers = [
            Mapper(own_labels, language=name, tagger=tagger, custom_terms=own)
            for own_labels, name in zip(opened, names, strict=True)
        ]
        return mappers[0] if len(mappers) == 1 else MultilingualMapper(mappers)

    def count_languages(self, queries: pl.Series) -> pl.DataFrame:
        """Return the sums by which the language of a log is guessed.

        The labels of taxonomies of the data owner count as words of any language.
        """
        return count_languages(queries, self._own_words())

    def _own_words(self) -> list[str]:
        if self.taxonomy in BUILT_IN:
            return []
        labels = open_taxonomy(self.taxonomy).labels.series().str.to_lowercase()
        return labels.str.extract_all(r"\pL+").explode().drop_nulls().unique().to_list()

    def fit(self, guessed: GuessedLanguage) -> MappingOptions:
        """Return the options with the guessed language, if it is to be guessed.

        Raises:
            LanguageError: Its data are not installed.
        """
        if self.language != AUTO:
            return self
        if guessed.code != "en" and not is_installed(guessed.code):
            raise LanguageError(
                f"this log seems to be {guessed.name}, and the words of {guessed.name} are not "
                "installed",
                hint=f"{install_hint(guessed.code)}; or name another `language`",
            )
        return replace(self, language=guessed.code)

    def check_fit(self, guessed: GuessedLanguage) -> None:
        """Raise LanguageError if a log is in another language than its queries are mapped in."""
        names = self.languages() or [open_taxonomy(self.taxonomy).language]
        codes = [language_code(get_language(name).name) for name in names]
        known = max(guessed.known.get(code, 0.0) for code in codes)
        is_rated = all(code in CODES for code in codes)
        if not guessed.is_sure or not is_rated or guessed.code in codes or known >= MIN_KNOWN:
            return
        asked = ", ".join(get_language(code).name.title() for code in codes)
        missing = "" if is_installed(guessed.code) else f", after {install_hint(guessed.code)}"
        raise LanguageError(
            f"this log seems to be {guessed.name}: only {known:.0%} of its words are {asked}, the "
            "language in which its queries would be mapped",
            hint=f"`language={guessed.code}`{missing}; for several languages "
            f"`language={codes[0]},{guessed.code}`; `min_coverage=0` runs it anyway",
        )
