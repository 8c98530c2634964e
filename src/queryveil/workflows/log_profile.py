"""`LogProfile`: the size, topics and disclosure risks of a log, for its data owner only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ..core.notebook import Cell, NotebookTable, NotebookView
from ..core.pandas_output import to_pandas
from ..core.records import Record, json_field
from ..log.accounting import RowCounts

if TYPE_CHECKING:
    from ..render.charts.picture import Chart


@dataclass(frozen=True, repr=False)
class RowsPerUser(Record):
    """The distribution of the number of rows of a user."""

    median: float
    mean: float
    max: float


@dataclass(frozen=True, repr=False)
class LogSize(Record):
    """How much is in a log.

    Attributes:
        first: Time of the first row, if there is any.
        distinct_fraction: Distinct queries divided by rows.
        several_words_fraction: Fraction of the distinct queries that have several words.
    """

    kept_rows: int
    events: int
    clicks: int
    users: int
    queries: int
    urls: int
    first: str | None
    last: str | None
    distinct_fraction: float
    several_words_fraction: float
    rows_per_user: RowsPerUser


@dataclass(frozen=True, repr=False)
class ConceptFrequency(Record):
    """A concept, and its fraction of the phrases that have a concept."""

    concept: str
    label: str
    fraction: float


@dataclass(frozen=True, repr=False)
class TopicSummary(Record):
    """The topics of a log, by a taxonomy.

    Attributes:
        fractions: Fraction of each topic among the phrases that have a concept.
        frequent_queries_without_concept: Examples, with personal identifiers masked.
    """

    shown = ("taxonomy",)

    taxonomy: str
    queries_with_concept_fraction: float
    rows_with_concept_fraction: float
    phrases_with_concept_fraction: float
    fractions: Mapping[str, float]
    frequent_concepts: tuple[ConceptFrequency, ...]
    frequent_queries_without_concept: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class IdentifierCount(Record):
    """How many queries and users have an identifier of one kind; examples are masked."""

    shown = ("title",)

    title: str
    queries: int
    users: int
    examples: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class RiskSummary(Record):
    """What singles users out: queries that only they sent, and personal identifiers.

    Attributes:
        unique_queries: Queries that only one user sent.
        users_with_unique_query: Users who sent such a query.
        users_with_rare_query_fraction: Users with a query that fewer than 5 users sent.
        identifiers: Counts by kind of identifier.
    """

    unique_queries: int
    unique_queries_fraction: float
    rows_with_unique_query_fraction: float
    users_with_unique_query: int
    users_with_unique_query_fraction: float
    users_with_rare_query_fraction: float
    identifiers: Mapping[str, IdentifierCount]


@dataclass(frozen=True, repr=False)
class SensitiveCount(Record):
    """How many rows, distinct queries and users a sensitive topic has."""

    rows: int
    queries: int
    users: int


@dataclass(frozen=True, repr=False)
class LanguageSummary(Record):
    """The language of a log, guessed by the letters of its words.

    Attributes:
        code: The most probable language, as `de`.
        name: Its English name.
        words: The number of distinct words.
        known: The fraction of them in the dictionary of each language that is installed.
    """

    shown = ("code", "words")

    code: str
    name: str
    words: int
    known: Mapping[str, float]


@dataclass(frozen=True, repr=False, kw_only=True)
class LogProfile(Record):
    """The size, topics and disclosure risks of a log: exact figures, for the data owner only.

    Attributes:
        topics: None without a taxonomy.
        sensitive: Counts by sensitive topic, that of the most users first. Lists of words find
            the topics; they miss many queries and flag some harmless ones.
        language: The language of most queries; None if there are too few words.
        columns: By file, which of its columns were read as which.
        notes: Whether the ledger recorded this data access.
    """

    schema_number = 1

    accounting: RowCounts = json_field(flat=True)
    size: LogSize = json_field(flat=True)
    topics: TopicSummary | None
    language: LanguageSummary | None
    risks: RiskSummary
    sensitive: Mapping[str, SensitiveCount]
    columns: Mapping[str, Mapping[str, str]]
    formats: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def sensitive_summary(self) -> str:
        """How many users sent queries of the most frequent sensitive topic, in one sentence."""
        counts = {topic: count for topic, count in self.sensitive.items() if count.rows}
        if not counts:
            return "The lists of words flag no query as being about a sensitive topic."
        topic, count = next(iter(counts.items()))
        return (
            f"{count.users:,} of {self.size.users:,} users sent queries about {topic}, the most "
            f"frequent of {len(counts):,} sensitive topics ({count.rows:,} rows)."
        )

    def plot(self) -> Chart:
        """Return a chart of how many users are at risk; exact figures, for the data owner only."""
        from .profile_chart import profile_chart  # noqa: PLC0415  (it imports this module)

        return profile_chart(self)

    def to_polars(self) -> pl.DataFrame:
        """Return the figures of size and risk as a table: part, figure, value."""
        rows = [(part, name, float(value)) for part, name, value in self._figures()]
        schema = {"part": pl.String, "figure": pl.String, "value": pl.Float64}
        return pl.DataFrame(rows, schema, orient="row")

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())

    def _figures(self) -> list[tuple[str, str, int | float]]:
        numbers = [
            (part, name, value)
            for part, record in (("size", self.size), ("risks", self.risks))
            for name, value in vars(record).items()
            if isinstance(value, int | float)
        ]
        counted = [
            ("identifiers", f"{kind}_{unit}", getattr(count, unit))
            for kind, count in self.risks.identifiers.items()
            for unit in ("queries", "users")
        ]
        counted += [
            ("sensitive", f"{topic}_{unit}", getattr(count, unit))
            for topic, count in self.sensitive.items()
            for unit in ("rows", "queries", "users")
        ]
        return [*numbers, *counted]

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: size and risks, without any query."""
        size, risks = self.size, self.risks
        facts: tuple[tuple[str, Cell], ...] = (
            ("rows", size.kept_rows),
            ("users", size.users),
            ("distinct queries", size.queries),
            ("clicks", size.clicks),
            ("from", size.first and size.first[:19]),  # to the second
            ("to", size.last and size.last[:19]),
            ("users with a query that nobody else sent", risks.users_with_unique_query),
            ("as a fraction of all users", risks.users_with_unique_query_fraction),
            ("users with a query that fewer than 5 sent, fraction",
             risks.users_with_rare_query_fraction),
        )  # fmt: skip
        counted = tuple(
            (count.title, count.queries, count.users)
            for count in risks.identifiers.values()
            if count.queries
        )
        topics = () if self.topics is None else tuple(self.topics.fractions.items())
        sensitive = tuple(
            (topic, count.rows, count.queries, count.users)
            for topic, count in self.sensitive.items()
            if count.rows
        )
        tables = (
            NotebookTable("Identifiers", ("kind", "queries", "users"), counted),
            NotebookTable("Sensitive topics", ("topic", "rows", "queries", "users"), sensitive),
            NotebookTable("Topics", ("topic", "fraction"), topics),
        )
        shown = tuple(table for table in tables if table.rows)
        return NotebookView("LogProfile", facts, shown, self.notes, is_private=True)
