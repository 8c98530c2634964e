"""`Release`: the output of a method, ready to be written, with everything that the cards need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .._version import __version__
from ..core.notebook import NotebookShown, NotebookTable, NotebookView
from ..core.pandas_output import to_pandas
from ..core.parameters import Parameter
from ..core.progress import NoProgress, Progress, peak_memory_mb
from ..core.records import Scalar
from ..core.registry import Distribution
from ..errors import UsageError, did_you_mean
from ..ledger.reservation import Reservation
from ..log.detectors import DetectorUse
from ..log.query_log import QueryLog
from ..render.html import format_value
from .cards import (
    Figures,
    InputSummary,
    OwnerMeasurement,
    PrivateCard,
    PublicCard,
    SensitiveGroups,
    public_figures,
)
from .explanations import explain_guarantee
from .guarantee import Guarantee, Standing, standing_of
from .noise import CountNoise, NoiseDescription, describe_noise

if TYPE_CHECKING:
    from ..render.charts.picture import Chart
    from .signing import Signer


_UNSEARCHED = "nobody looked for identifiers: the method was run by itself"


@dataclass(frozen=True, repr=False)
class Release(NotebookShown):
    """A protected log with its guarantee.

    A release has a log, or tables, or both. Always
    rows read + generated = released + dropped + rejected.

    Attributes:
        log: The published columns, rows already in random order.
        tables: Statistics by name, already sorted.
        mapping: User and pseudonym, and group where there are groups; for the data owner.
        absent: User and group of the users of earlier releases whose groups were kept and who are
            not in this release; for the data owner.
        concepts: Pseudonym (`user`) and concept of the rows, where the method knows them; used by
            measures, and not written.
        dropped: Numbers of dropped rows by reason.
        blanked: Numbers of blanked cells of released rows by reason.
        generated: Numbers of released rows that are no row of the input by reason.
        not_release_grade_because: Reasons against publication besides the guarantee's own numbers.
        warnings: On the public card.
        notes: On the public card.
        noise: The noise of the tables.
        noise_statements: Statements on the noise of a release without tables.
        coverage: The fraction of the log's rows that have a concept; for the data owner.
        method_spec: The spec of the method with the paths of its files, for a rerun.
        distribution: The distribution that provides the method; None for a built-in method.
        identifiers: The setting of identifiers (see `identifiers.py`); None where the method was
            run by itself.
        sensitive: The setting of sensitive topics (see `sensitive.py`); None likewise.
        detectors: The detectors of others that searched the queries.
        reservation: Its cost in a ledger, which is confirmed once the release is written; None
            where the method was run by itself.
        measured: Measurements for the data owner, on the private card.
        sensitive_groups: Groups mostly about one sensitive topic, for the data owner.
        declared: The declarations of the parameters, by which the pages explain them.
    """

    method: str
    parameters: Mapping[str, Scalar]
    guarantee: Guarantee
    source: QueryLog
    log: pl.LazyFrame | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    mapping: pl.DataFrame | pl.LazyFrame | None = None
    absent: pl.DataFrame | None = None
    concepts: pl.DataFrame | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    blanked: Mapping[str, int] = field(default_factory=dict)
    generated: Mapping[str, int] = field(default_factory=dict)
    not_release_grade_because: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    noise: tuple[CountNoise, ...] = ()
    noise_statements: tuple[str, ...] = ()
    coverage: float | None = None
    method_spec: str | None = None
    identifiers: str | None = None
    sensitive: str | None = None
    detectors: tuple[DetectorUse, ...] = ()
    reservation: Reservation | None = None
    measured: Mapping[str, OwnerMeasurement] = field(default_factory=dict)
    sensitive_groups: SensitiveGroups | None = None
    distribution: Distribution | None = None
    declared: tuple[Parameter, ...] = ()
    progress: Progress = field(default_factory=NoProgress)

    def __repr__(self) -> str:
        """Return a form without data of the log or its users: others may see a notebook."""
        about = f"method={self.method!r}, model={self.guarantee.model!r}"
        return f"Release({about}, standing={self.standing.level.value!r})"

    @property
    def standing(self) -> Standing:
        """The standing, from the guarantee and the reasons against publication."""
        against = (*self.not_release_grade_because, *((_UNSEARCHED,) * (self.identifiers is None)))
        return standing_of(self.guarantee, against)

    def to_polars(self) -> pl.DataFrame:
        """Return the released log as a frame of Polars; `tables` has statistics.

        Raises:
            UsageError: The release has tables only.
        """
        if self.log is None:
            tables = ", ".join(f'`table("{name}")`' for name in sorted(self.tables))
            raise UsageError("this release has tables, and no log", hint=f"take {tables}")
        return self.log.collect()

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return the released log as a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())

    def table(self, name: str) -> pl.DataFrame:
        """Return a released table of statistics, such as "queries", by its name.

        Raises:
            UsageError: There is no such table; the hint has a similar name.
        """
        if name not in self.tables:
            raise UsageError(
                f'this release has no table "{name}"', hint=did_you_mean(name, self.tables)
            )
        return self.tables[name]

    def plot(self, table: str | None = None, *, top: int = 20) -> Chart:
        """Return a chart of the highest counts of a released table, with the size of the noise.

        Args:
            table: The name of a table; by default the first one.
            top: How many rows are drawn.

        Raises:
            UsageError: The release has no such table.
        """
        from .table_chart import table_chart  # noqa: PLC0415  (most uses need no chart)

        return table_chart(self, table, top)

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: method, guarantee and standing, and no row or figure."""
        meaning, against = explain_guarantee(self.guarantee), self.standing.because
        facts = [("method", self.method), ("guarantee", self.guarantee.statement)]
        facts += [("which means", meaning)] * (meaning is not None)  # type: ignore[list-item]
        facts += [("standing", self.standing.level.value)]
        facts += [("not for publication because", "; ".join(against))] * bool(against)
        tables = ", ".join(f'table("{name}")' for name in self.tables)
        data = ["to_pandas(), to_polars()"] * (self.log is not None) + [tables] * bool(tables)
        parameters = tuple((name, format_value(of)) for name, of in self.parameters.items())
        return NotebookView(
            "Release",
            (*facts, ("data", "; ".join(data))),
            (NotebookTable("Parameters", ("parameter", "value"), parameters),) * bool(parameters),
            (*self.warnings, *self.notes),
        )

    def write(
        self,
        folder: str | Path,
        *,
        format: str = "parquet",  # noqa: A002  (the name that Polars and pandas have for it)
        overwrite: bool = False,
        include_mapping: bool = True,
        signer: Signer | None = None,
    ) -> PrivateCard:
        """Write the folder atomically, verify it, and return the private card.

        A `signer` signs the public files before the folder gets its name.
        """
        from .writing import write_release  # noqa: PLC0415  (it imports this module)

        return write_release(self, Path(folder), format, overwrite, include_mapping, signer)

    def public_card(self, figures: Figures, files: Mapping[str, str]) -> PublicCard:
        """Return the card that may be published."""
        standing = self.standing
        return PublicCard(
            queryveil=__version__,
            method=self.method,
            parameters=dict(self.parameters),
            guarantee=self.guarantee,
            standing=standing.level,
            release_grade=standing.release_grade,
            not_release_grade_because=standing.because,
            warnings=self.warnings,
            notes=self.notes,
            noise=NoiseDescription(describe_noise(self.noise, self.tables), self.noise_statements),
            identifiers=self.identifiers,
            sensitive=self.sensitive,
            detectors=self.detectors,
            figures=figures,
            files=files,
            distribution=self.distribution,
        )

    def private_card(self, public: PublicCard) -> PrivateCard:
        """Return the public card with what only the data owner may know."""
        dropped = dict(self.source.accounting.dropped)
        for reason, rows in self.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + rows
        return PrivateCard(
            public=public,
            input=self._summarize_input(),
            engine=self.source.engine,
            method_spec=self.method_spec,
            output=public.figures,
            generated=dict(self.generated),
            dropped=dropped,
            blanked=dict(self.blanked),
            ledger=None if self.reservation is None else self.reservation.reference(),
            measured=dict(self.measured),
            seconds=dict(self.progress.seconds),
            peak_mb=peak_memory_mb(),
            sensitive_groups=self.sensitive_groups,
        )

    def _summarize_input(self) -> InputSummary:
        accounting, sources = self.source.accounting, self.source.sources
        return InputSummary(
            rows=accounting.rows,
            users=self.source.count_distinct("user"),
            queries=self.source.count_distinct("query"),
            until=self.source.until,
            rejected=dict(accounting.rejected),
            normalized=dict(accounting.normalized),
            sha256={source.path: source.sha256 for source in sources},
            columns={source.path: dict(source.columns) for source in sources},
            objections=dict(accounting.excluded_users),
            formats=tuple(sorted({source.format for source in sources})),
            coverage=self.coverage,
        )

    def preview_card(self) -> PrivateCard:
        """Return the private card as it would be, without writing anything."""
        return self.private_card(self.public_card(public_figures(self.log, self.tables), {}))
