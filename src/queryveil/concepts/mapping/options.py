"""How queries are mapped to concepts: by which taxonomy, in which language, with which terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from ...core.records import Scalar
from ...errors import ParameterError, UsageError
from ..loaders.registry import BUILT_IN, open_taxonomy, public_names, read_custom_terms
from ..loaders.shop import name_in_language
from ..taxonomy.graph import Taxonomy
from .language import get_language
from .mapper import Mapper

# The language of a taxonomy, which is that of its labels; English for WordNet.
SAME = "taxonomy"
LANGUAGE_HELP = (
    "language of the queries, as en or de; several: en,de; taxonomy: that of the taxonomy"
)
TERMS_HELP = "file of custom terms: a term, a tab and a concept per line"


@dataclass(frozen=True)
class MappingOptions:
    """How queries are mapped: a value that methods and measures declare, and partitions receive.

    Attributes:
        taxonomy: Names or files of taxonomies, separated by commas.
        language: The language of the queries, or `taxonomy` for that of the taxonomy.
        terms: File of custom terms, which come before all labels; empty for none.

    >>> mapper = MappingOptions("wordnet").mapper()
    >>> mapper.language.name
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

    def check(self) -> None:
        """Raise ParameterError if a language is unknown."""
        for code in self.languages():
            try:
                get_language(code)
                name_in_language(self.taxonomy, code)
            except UsageError as error:
                raise ParameterError(error.what, parameter="language", hint=error.hint) from error

    def languages(self) -> list[str]:
        """Return the languages that are named; none if it is that of the taxonomy."""
        return [] if self.language == SAME else [self.language]

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
        """Return the taxonomy, with labels in the language if it has several."""
        language = None if self.language == SAME else self.language
        return open_taxonomy(name_in_language(self.taxonomy, language))

    def mapper(self, taxonomy: Taxonomy | None = None, tagger: str | None = None) -> Mapper:
        """Return a mapper; `taxonomy` is the opened taxonomy, if the caller has it already."""
        opened = self.open_taxonomy() if taxonomy is None else taxonomy
        language = None if self.language == SAME else self.language
        own = tuple(read_custom_terms(Path(self.terms), opened)) if self.terms else ()
        return Mapper(opened, language=language, tagger=tagger, custom_terms=own)
