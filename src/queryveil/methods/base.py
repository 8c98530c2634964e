"""The base class of all methods: a frozen object with declared parameters.

The help of the commands, the errors, the docs and the cards are built from the declaration (see
`core/parameters.py`).

A method has a spec, a text of one line from which it can be parsed::

    frequent-queries:min-users=20:pseudonym-scope=session
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import Parameter, Parametrized
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..core.records import Scalar
from ..core.registry import SpecRegistry
from ..engine.table import RemoteTable
from ..log.query_log import QueryLog
from ..release.guarantee import Guarantee
from ..release.noise import CountNoise
from .forecast import Alternative, Forecast


@dataclass(frozen=True, repr=False)
class MethodOutput:
    """What a method returns: the protected data, and what only the method knows about them.

    Name, parameters, guarantee and source are added by `runner.run_method`. An output has a log,
    or tables, or both. Always: kept rows of the log + generated = released + dropped.

    Attributes:
        log: The published columns, rows already in random order.
        tables: Statistics by name, already sorted.
        mapping: User and pseudonym, and group where there are groups; for the data owner.
        concepts: Pseudonym (`user`) and concept of the rows, where the method knows them; used by
            measures, and not written.
        dropped: Numbers of dropped rows by reason.
        blanked: Numbers of blanked cells of released rows by reason.
        generated: Numbers of released rows that are no row of the input by reason.
        notes: Further facts for the public card.
        warnings: Warnings besides those of `Method.warnings`.
        noise: The noise of the tables.
        noise_statements: Statements on the noise of a log.
        not_release_grade_because: Reasons against publication besides those of
            `Method.reasons_not_to_publish`.
    """

    log: pl.LazyFrame | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    mapping: pl.DataFrame | pl.LazyFrame | None = None
    concepts: pl.DataFrame | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    blanked: Mapping[str, int] = field(default_factory=dict)
    generated: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    noise: tuple[CountNoise, ...] = ()
    noise_statements: tuple[str, ...] = ()
    not_release_grade_because: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method(Parametrized, ABC):
    """The base class of all methods; parameters are checked when an instance is created.

    Only `runner.py` calls `run` and `run_partition`.
    """

    title: ClassVar[str]
    paper: ClassVar[str]
    guarantee_summary: ClassVar[str]
    good_for: ClassVar[str] = ""
    # How a run can be distributed over machines. "steps": the method consists of operations of the
    # engine. "users": the released rows of a user depend on their own rows alone. "blocks": they
    # depend on the rows of a block of similar users. "no": the method needs one machine.
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "no"

    @abstractmethod
    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Anonymize a log."""

    def run_partition(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Anonymize one partition of a log as if it were the whole log."""
        return self.run(log, rng, progress)

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the guarantee, which depends on the parameters alone."""

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return the reasons against publishing any release with these parameters.

        They follow from the parameters alone, so `verify` computes them again.
        """
        return ()

    def output_files(self) -> frozenset[str]:
        """Return the data files that a release can have: log, queries, clicks, transitions.

        The guarantee would not cover any other file, so `verify` rejects it.
        """
        return frozenset({"log"})

    def warnings(self) -> tuple[str, ...]:
        """Return the warnings for these parameters, for the card and the screen."""
        return ()

    def alternatives(self, log: QueryLog) -> tuple[Alternative, ...]:  # noqa: ARG002
        """Return the effect of neighboring values of the main parameter, for `plan`.

        Empty where each other value would need a run of its own.
        """
        return ()

    def public_params(self) -> dict[str, Scalar]:
        """Return the parameters for the card: defaults resolved, files without their folders."""
        return self.params()

    def input_files(self) -> tuple[Path, ...]:
        """Return the files, besides the log, on which the release depends."""
        return ()

    def fit(self, log: QueryLog) -> Method:  # noqa: ARG002
        """Return the method with parameters that follow from the log, such as its language.

        It may refuse a log. A method that spends budget returns itself: whether it runs, and how,
        must not depend on the rows.
        """
        return self

    def check_ready(self) -> None:
        """Raise an error that a run would raise, before any budget is reserved."""

    def forecast(self, expected_users: int) -> Forecast | None:  # noqa: ARG002
        """Return the expected contents of a release, from public parameters alone, for `plan`."""
        return None

    def expected_queries(self) -> Callable[[int], int] | None:
        """Return a function from the number of users to the expected number of released queries.

        It uses public parameters alone. None where every user gets rows, for any parameters.
        """
        return None

    def coverage(self, dropped: Mapping[str, int]) -> float | None:  # noqa: ARG002
        """Return the fraction of rows with a concept, where the method drops the others.

        Only the data owner sees it. A method that spends budget never refuses a log because of it.
        """
        return None

    def table_noise(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...] | None:  # noqa: ARG002
        """Return the noise of the tables, from public parameters and their released `rows`.

        `verify` computes it again. None where that needs files which the card only names.
        """
        return ()

    def noise_statements(self) -> tuple[str, ...]:
        """Return sentences on the effect of noise on rows, from public parameters alone."""
        return ()

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:  # noqa: ARG002
        """Repartition a table so that each partition can be anonymized by itself."""
        return rows


METHODS: SpecRegistry[Method] = SpecRegistry(
    "method",
    "queryveil.methods",
    Method,  # type: ignore[type-abstract]
    __package__,
)
parse_method = METHODS.parse


def declared_parameters(name: str) -> tuple[Parameter, ...] | None:
    """Return the declared parameters of the method of a card; None if it is not known here."""
    return METHODS[name].parameters() if name in METHODS else None


EPSILON_HELP = "privacy loss of one user's whole log, at most; smaller is more private"
DELTA_HELP = "probability by which the bound of epsilon can be exceeded; far below 1 / users"
READ_ALONE = (
    "each row of the log was read from its own text alone: the file name, the header and the data "
    "owner determine how (format, columns, form of times), and no row does; the program that "
    "wrote the log separated its rows, so that no query ends its row or begins another"
)
FAILURES = (
    "that a run failed and nothing was published, because a file was damaged or too large as a "
    "whole, or a machine had too little memory; no run fails because of rows that cannot be read, "
    "or because there are no rows"
)
