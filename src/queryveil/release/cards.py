"""The cards of a release: one for the public and one for the data owner.

The public card holds nothing that does not follow from the other public files. The numbers of rows
and users of the log, dropped rows, digests and timings could each reveal whether a user is in the
log: they are on the private card alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TypeVar

import polars as pl

from .._version import __version__
from ..core.bounded import check_depth, read_within
from ..core.records import FLAT, Json, Record, Scalar, json_field
from ..core.registry import Distribution
from ..engine.operations import count_rows, values_of
from ..errors import UnknownVersionError, VerificationError
from ..ledger.reservation import LedgerReference
from ..log.detectors import DetectorUse
from .formats import complete_queries, has_kinds, parts_of_queries
from .guarantee import Guarantee, Level, summarize_standing
from .noise import NoiseDescription


@dataclass(frozen=True, repr=False)
class Figures(Record):
    """The numbers of rows, pseudonyms, distinct queries and URLs of the public files.

    Attributes:
        queries: Where rows have a kind, the distinct whole queries alone.
        parts: The distinct parts of queries; None where rows have no kind.
        tables: The number of rows of each table, by its file name.
    """

    shown = ("rows", "ids", "queries", "urls")

    rows: int
    ids: int
    queries: int
    urls: int
    parts: int | None = json_field(optional=True, default=None)
    tables: Mapping[str, int] = json_field(flat=True, default_factory=dict)


def public_figures(
    log: pl.LazyFrame | None, tables: Mapping[str, pl.DataFrame] | None = None
) -> Figures:
    """Count rows, distinct pseudonyms, queries and URLs of the public files; rows of tables."""
    tables = tables or {}
    sizes = {f"{name}.tsv": table.height for name, table in tables.items()}
    if log is None:
        queries = tables["queries"].height if "queries" in tables else 0
        urls = tables["clicks"]["url"].n_unique() if "clicks" in tables else 0
        return Figures(0, 0, queries, urls, tables=sizes)
    ids, urls = (values_of(log, column).height for column in ("user", "url"))
    queries = values_of(complete_queries(log), "query").height
    parts = values_of(parts_of_queries(log), "query").height if has_kinds(log) else None
    return Figures(count_rows(log), ids, queries, urls, parts, sizes)


@dataclass(frozen=True, repr=False)
class PublicCard(Record):
    """What a release is and what it guarantees: the file `public/release.json`.

    Attributes:
        queryveil: The version that wrote it.
        standing: Whether it has a formal guarantee, follows a rule only, or is not to be published.
        identifiers: The setting of identifiers; None where the method was run by itself.
        files: The SHA-256 of each other public file, by its name.
        sensitive: The setting of sensitive topics; None where the method was run by itself.
        distribution: The distribution that provides the method; None for a built-in method.
        detectors: The detectors of others that searched the queries.
    """

    shown = ("method", "standing")
    schema_number = 1

    queryveil: str
    method: str
    parameters: Mapping[str, Scalar]
    guarantee: Guarantee
    standing: Level
    release_grade: bool
    not_release_grade_because: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    noise: NoiseDescription
    identifiers: str | None
    figures: Figures
    files: Mapping[str, str]
    distribution: Distribution | None = json_field(optional=True, default=None)
    sensitive: str | None = json_field(optional=True, default=None)
    detectors: tuple[DetectorUse, ...] = json_field(optional=True, default=())

    @property
    def is_of_this_version(self) -> bool:
        """Whether this version of queryveil wrote it."""
        return self.queryveil == __version__

    @property
    def standing_summary(self) -> str:
        """The standing in one sentence."""
        return summarize_standing(self.guarantee, self.standing)


@dataclass(frozen=True, repr=False)
class InputSummary(Record):
    """What is known of the log of a release: figures of private data.

    Attributes:
        until: The last day that was read, if the data owner named one.
        sha256: The digest of each file, by its path.
        columns: The columns that were used, by the path of the file.
        objections: The numbers of users who objected, and of those who had rows.
        coverage: The fraction of rows that have a concept, where the method knows it.
    """

    rows: int
    users: int
    queries: int
    until: date | None
    rejected: Mapping[str, int]
    normalized: Mapping[str, int]
    sha256: Mapping[str, str]
    columns: Mapping[str, Mapping[str, str]]
    objections: Mapping[str, int]
    formats: tuple[str, ...]
    coverage: float | None


@dataclass(frozen=True, repr=False)
class OwnerMeasurement(Record):
    """How many released users have a log that nobody else has, for the data owner."""

    users: int
    singled_out: int
    singled_out_by_queries_alone: int
    value: float
    summary: str


@dataclass(frozen=True, repr=False)
class SensitiveGroups(Record):
    """How many groups of users with equal logs have a log mostly of one sensitive topic.

    Attributes:
        threshold: The fraction of the rows of a log that the topic exceeds.
        by_topic: The numbers of such groups by topic, the largest first.
    """

    shown = ("threshold",)

    users: int
    users_in_such_groups: int
    groups: int
    groups_of_one_topic: int
    threshold: float
    by_topic: Mapping[str, int]

    @property
    def fraction(self) -> float:
        """The fraction of the users who are in such groups."""
        return self.users_in_such_groups / max(self.users, 1)

    @property
    def meaning(self) -> str:
        """What these users are; continues their number to a sentence."""
        topics = ", ".join(f"{name} {groups:,}" for name, groups in self.by_topic.items() if groups)
        return (
            f"are in {self.groups_of_one_topic:,} of {self.groups:,} groups whose shared log has "
            f"more than {self.threshold:.0%} of its rows in one sensitive topic"
            f"{f' ({topics})' * bool(topics)}"
        )

    @property
    def summary(self) -> str:
        """The numbers as a sentence without its period."""
        return f"{self.users_in_such_groups:,} of {self.users:,} released users {self.meaning}"


@dataclass(frozen=True, repr=False)
class PrivateCard(Record):
    """The public card and what only the data owner may know: the file `private/card.json`.

    Its `repr` shows no numbers of the log, because a notebook with its output is often shared.

    Attributes:
        method_spec: The spec of the method with the paths of its files, for a rerun.
        generated: The numbers of released rows that are no row of the log, by reason.
        dropped: The numbers of dropped rows by reason.
        blanked: The numbers of blanked cells of released rows by reason.
        measured: Measurements for the data owner by name.
        seconds: The duration of each stage.
        copied: The folder of which the release is a copy.
        sensitive_groups: Groups that are mostly about one sensitive topic, of a k-anonymous
            release.
    """

    shown = ("method", "standing")
    schema_number = 1

    public: PublicCard = field(metadata=FLAT)
    input: InputSummary
    engine: str
    method_spec: str | None
    output: Figures
    generated: Mapping[str, int]
    dropped: Mapping[str, int]
    blanked: Mapping[str, int]
    ledger: LedgerReference | None
    measured: Mapping[str, OwnerMeasurement]
    seconds: Mapping[str, float]
    peak_mb: int
    copied: str | None = json_field(default=None, optional=True)
    sensitive_groups: SensitiveGroups | None = json_field(default=None, optional=True)

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.public.method

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the release."""
        return self.public.guarantee

    @property
    def standing(self) -> Level:
        """The standing of the release."""
        return self.public.standing


CardType = TypeVar("CardType", PublicCard, PrivateCard)


def read_card(path: Path, kind: type[CardType]) -> CardType:
    """Read a card of unknown origin, within bounds of size and depth.

    Raises:
        VerificationError: The card is damaged: parts are missing, unknown or of another form.
        UnknownVersionError: Another version wrote a card that this one cannot read.
    """
    try:
        text = read_within(path, plain=True).decode("utf-8")
        check_depth(text)
        document = json.loads(text, object_pairs_hook=_each_once)
    except (OSError, ValueError, RecursionError, VerificationError) as error:
        raise VerificationError(
            "the card is damaged: it is no JSON, or a key is repeated", where=path
        ) from error
    try:
        return kind.from_dict(document)
    except VerificationError as error:
        version = document.get("queryveil") if isinstance(document, dict) else None
        if isinstance(version, str) and version != __version__:
            raise UnknownVersionError(
                f"the card is of version {version[:20]}, which queryveil {__version__} cannot read",
                where=path,
                hint="use the version that wrote it",
            ) from error
        raise VerificationError(f"the card is damaged: {error.what}", where=path) from error


def _each_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the pairs as a dict; raise for a repeated key: JSON readers differ on which counts."""
    document = dict(pairs)
    if len(document) < len(pairs):
        raise VerificationError("a key is repeated")
    return document
