"""The advice: a verdict, proposals with their reasons and figures, and what was excluded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..core.records import Record, Scalar, json_field
from ..release.guarantee import Level
from .answers import Answers

Verdict: TypeAlias = Literal["yes", "with-care", "no", "depends-on-users"]


@dataclass(frozen=True, repr=False)
class Figure(Record):
    """What a method keeps or risks, by one measure, and where the value comes from.

    Attributes:
        measure: The spec of the measure.
        low: The smallest value; `high` is the largest. They are equal for a single log.
        origin: Measured on this log, or shipped with the program.
        basis: On what it was measured, in words.
    """

    shown = ("measure", "low", "high", "origin")

    measure: str
    title: str
    unit: str
    better: Literal["lower", "higher"]
    kind: Literal["risk", "utility"]
    low: float
    high: float
    origin: Literal["shipped", "measured"]
    basis: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Proposal(Record):
    """A method with parameters that fits the answers.

    Attributes:
        rule: The row of the table that proposes it.
        title: The method with its parameters, for people.
        method: The spec of the method.
        meaning: What k or epsilon means for a person; None where nothing is guaranteed.
        prevents: How it prevents each thing that must never happen.
        care: What the data owner must take care of; None if nothing special.
        expected_queries: The forecast of the number of released queries, from public figures.
        figures: What it keeps and risks, measured on this log or shipped.
        commands: Lines for a shell.
        python: Lines of Python.
    """

    shown = ("method", "standing")

    rule: str
    title: str
    method: str
    parameters: Mapping[str, Scalar]
    standing: Level
    why: str
    keeps: str
    loses: str
    meaning: str | None
    prevents: Mapping[str, str]
    care: str | None
    expected_queries: int | None
    figures: tuple[Figure, ...]
    commands: tuple[str, ...]
    python: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Exclusion(Record):
    """A method that fits recipient and purpose, and why it is not proposed.

    Attributes:
        users_needed: With how many users it would be proposed, if only that is missing.
    """

    shown = ("method",)

    rule: str
    method: str
    because: str
    users_needed: int | None = json_field(default=None, optional=True)


@dataclass(frozen=True, repr=False)
class RangeAdvice(Record):
    """The advice for logs of at least so many users, where the number is not known.

    Attributes:
        methods: The proposals with their parameters, for people.
    """

    shown = ("release",)

    from_users: int
    release: Verdict
    methods: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Look(Record):
    """What was seen in the log: exact figures, for the data owner only.

    Attributes:
        users: The users of the log; `sampled_users` of them were measured.
        coverage: The fraction of phrases with a concept of the taxonomy, if one was needed.
        changes: What the look changed in the proposals.
        notes: What was recorded in the ledger.
    """

    users: int
    sampled_users: int
    coverage: float | None
    changes: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class Advice(Record):
    """Whether to release a log, by which methods, and why.

    Attributes:
        release: The verdict.
        summary: The verdict in a sentence.
        proposals: At most three, the best first.
        by_users: Advice by the number of users, where it is not known.
        excluded: What fits recipient and purpose, but is not proposed.
        instead: What else can be done.
        look: What was seen in the log; None if it was not read.
    """

    schema_number = 1

    release: Verdict
    summary: str
    answers: Answers
    proposals: tuple[Proposal, ...]
    by_users: tuple[RangeAdvice, ...]
    excluded: tuple[Exclusion, ...]
    instead: tuple[str, ...]
    warnings: tuple[str, ...]
    look: Look | None

    def __repr__(self) -> str:
        titles = "; ".join(proposal.title for proposal in self.proposals) or "no proposal"
        return f"Advice(release: {self.release}; {titles})"

    def __str__(self) -> str:
        from .text import describe  # noqa: PLC0415  (it reads these classes)

        return describe(self)
