"""Results of the tasks on taxonomies: imports, lists, descriptions, searches and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..concepts.taxonomy.validation import TaxonomyCheck, TaxonomyStatistics
from ..core.records import Record, json_field


@dataclass(frozen=True, repr=False, kw_only=True)
class TaxonomyImport(Record):
    """What was imported into a taxonomy file, left out and repaired.

    Attributes:
        search: File of the search index, if the knowledge base has texts.
        counted: What the loader counted, by reason.
    """

    shown = ("out", "kind")
    schema_number = 1

    out: str
    kind: str
    bytes: int
    search: str | None
    statistics: TaxonomyStatistics = json_field(flat=True)
    counted: Mapping[str, int]
    repaired: Mapping[str, int]


@dataclass(frozen=True, repr=False)
class TaxonomyEntry(Record):
    """A taxonomy of a list; a file that cannot be read has no numbers."""

    shown = ("name", "concepts")

    name: str
    description: str
    concepts: int | None
    labels: int | None


@dataclass(frozen=True, repr=False)
class TaxonomyList(Record):
    """The built-in taxonomies, and those of a folder."""

    schema_number = 1

    taxonomies: tuple[TaxonomyEntry, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class TaxonomyFigures(Record):
    """A taxonomy and its statistics."""

    shown = ("taxonomy",)
    schema_number = 1

    taxonomy: str
    statistics: TaxonomyStatistics = json_field(flat=True)


@dataclass(frozen=True, repr=False)
class ConceptName(Record):
    """The name and the label of a concept."""

    shown = ("concept", "label")

    concept: str
    label: str


@dataclass(frozen=True, repr=False)
class ConceptDescription(Record):
    """A concept of a taxonomy, and the concepts around it.

    Attributes:
        children: The first of them.
        concepts_below: Number of all descendants.
        other_meanings: Other concepts that have the text as a label.
    """

    shown = ("taxonomy", "concept")
    schema_number = 1

    taxonomy: str
    concept: str
    label: str
    labels: tuple[str, ...]
    ancestors: tuple[ConceptName, ...]
    depth: int
    parents: tuple[ConceptName, ...]
    children: tuple[ConceptName, ...]
    number_of_children: int
    concepts_below: int
    other_meanings: tuple[ConceptName, ...]


@dataclass(frozen=True, repr=False)
class ConceptMatch(Record):
    """A concept that matches a search."""

    shown = ("concept", "score")

    concept: str
    label: str
    score: float


@dataclass(frozen=True, repr=False)
class ConceptMatches(Record):
    """The concepts that match a search, the best first."""

    schema_number = 1

    matches: tuple[ConceptMatch, ...]


@dataclass(frozen=True, repr=False)
class TaxonomyReport(Record):
    """Whether a taxonomy is complete and consistent; it is false where a check fails."""

    shown = ("taxonomy", "holds")
    schema_number = 1

    taxonomy: str
    holds: bool
    findings: tuple[TaxonomyCheck, ...]

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, repr=False)
class MappedFile(Record):
    """The file of a table of phrases and concepts, and its size."""

    schema_number = 1

    out: str
    queries: int
    phrases: int
    coverage: float
