"""The records of a demo. They hold queries of synthetic users only."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.records import Record
from ..release.cards import PrivateCard
from ..synthetic.output import SyntheticLogSummary
from ..workflows.log_profile import LogProfile
from ..workflows.verification import VerificationReport


@dataclass(frozen=True, repr=False)
class DemoRelease(Record):
    """A release of the demo.

    Attributes:
        meaning: What the guarantee means for a person.
        command: The command that writes such a release.
    """

    shown = ("folder",)

    folder: str
    meaning: str
    command: str
    card: PrivateCard
    verify: VerificationReport


@dataclass(frozen=True, repr=False)
class UserExample(Record):
    """The queries of one synthetic user, before and after.

    Attributes:
        user: The user in the log.
        group_size: Number of users who share the log in `grouped`.
        before: Distinct queries of the user, in the order of the log.
        grouped: The log that the user's group shares after microaggregation.
        replaced: What a user with the pseudonym of this one has after replacement.
    """

    shown = ("group_size",)

    user: str
    group_size: int
    before: tuple[str, ...]
    grouped: tuple[str, ...]
    replaced: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class NoisyCount(Record):
    """A released count; the noise is within plus or minus `interval` in 95 of 100 cases."""

    shown = ("interval",)

    query: str
    count: int
    interval: int


@dataclass(frozen=True, repr=False)
class DemoComparison(Record):
    """Where the comparison of methods was written."""

    shown = ("folder", "users")

    folder: str
    report: str
    picture: str
    users: int
    command: str


@dataclass(frozen=True, repr=False)
class Demonstration(Record):
    """The results of all steps on a synthetic log.

    Attributes:
        page: The page that links everything.
        counts: The largest released counts of queries.
        released_queries: How many queries the private statistics have.
        together: What the ledger's sum of both private releases means for a person.
    """

    shown = ("folder", "page")
    schema_number = 2

    folder: str
    page: str
    log: SyntheticLogSummary
    profile: LogProfile
    example: UserExample
    counts: tuple[NoisyCount, ...]
    released_queries: int
    together: str
    microaggregation: DemoRelease
    statistics: DemoRelease
    replacement: DemoRelease
    comparison: DemoComparison

    @property
    def releases(self) -> tuple[DemoRelease, ...]:
        """The three releases, in the order in which they were written."""
        return self.microaggregation, self.statistics, self.replacement

    @property
    def risks(self) -> tuple[tuple[int, str], ...]:
        """How many users have which risk, the most frequent first."""
        risks = self.profile.risks
        kinds = risks.identifiers.values()
        lines = [(risks.users_with_unique_query, "sent a query that nobody else sent")]
        lines += [(kind.users, f"typed an identifier: {kind.title}") for kind in kinds]
        return tuple(sorted((line for line in lines if line[0]), key=lambda line: -line[0]))
