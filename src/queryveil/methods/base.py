"""What a method is: a small frozen object with declared parameters (see `engine/declared.py`).

The help of the commands, the errors, the docs and the cards are made from the declaration.

A method prints as one line and parses back from it::

    frequent-queries:n=20:link=session
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl

from ..core.parameters import Parametrized, discover, parse_spec
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.table import RemoteTable
from ..errors import ParameterError, UsageError, did_you_mean
from ..log.query_log import QueryLog
from ..release.guarantee import Guarantee
from ..release.noise import CountNoise
from ..release.release import Release
from .replacement.phrases import PreviousContributions


@dataclass(frozen=True)
class Method(Parametrized, ABC):
    """The base of every method: parameters are checked when it is made."""

    title: ClassVar[str]
    paper: ClassVar[str]
    guarantee_summary: ClassVar[str]
    # How a run can be spread over machines: it is made of the engine's steps; or what becomes of
    # a user depends on her own rows alone, or on those of a block of similar users; or not at all.
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "no"

    @abstractmethod
    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Protect a log."""

    def run_share(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Protect some users of a log as if they were all."""
        return self.run(log, chance, progress)

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Say what these parameters promise; the same parameters always promise the same."""

    def unfit(self) -> tuple[str, ...]:
        """Return why no release with these parameters is for publication, or nothing.

        `verify` asks it again: it follows from the parameters alone.
        """
        return ()

    def gives(self) -> frozenset[str]:
        """Return which data files a release can have: log, queries, clicks, transitions.

        Another file would be under no promise, so `verify` refuses it.
        """
        return frozenset({"log"})

    def warnings(self) -> tuple[str, ...]:
        """Return what to warn of, on the card and on the screen, with these parameters."""
        return ()

    def alternatives(self, log: QueryLog) -> list[dict[str, Any]]:  # noqa: ARG002
        """Say what neighbouring values of the main parameter would give; for `plan`."""
        return []

    def input_files(self) -> tuple[Path, ...]:
        """List the files, besides the log, on which the outcome depends."""
        return ()

    def check_ready(self) -> None:
        """Refuse what a run would stumble over; asked before anything is paid for."""

    def forecast(self, population: int) -> dict[str, Any]:  # noqa: ARG002
        """Say what a release would hold, from public parameters alone; for `plan`."""
        return {}

    def expected_queries(self) -> Callable[[int], int] | None:
        """Return what tells about how many queries a table shows, by the number of people.

        From public parameters alone. None where everybody gets rows, whatever the parameters.
        """
        return None

    def coverage(self, dropped: Mapping[str, int]) -> float | None:  # noqa: ARG002
        """Return the share of rows that have a concept, where the method drops the others.

        It is for the owner alone. A method that spends never refuses by it.
        """
        return None

    def noises(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...] | None:  # noqa: ARG002
        """Return the noise of the tables, from public parameters and their released `rows`.

        `verify` asks it again. None where it needs files that the card only names.
        """
        return ()

    def noise_says(self) -> tuple[str, ...]:
        """Return what noise does to rows, in words, from public parameters alone."""
        return ()

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:  # noqa: ARG002
        """Cut a table into the shares that can each be protected by a run of its own."""
        return rows

    def continue_release(
        self,
        log: QueryLog,  # noqa: ARG002
        earlier: PreviousContributions,  # noqa: ARG002
        chance: RandomSource,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> Release:
        """Protect what came after an earlier release, with its pseudonyms and what it left.

        The mapping of the release has all users, those of `earlier` too, and the slots that
        each has used in all: `earlier.after(self.slots(log, earlier), chance)`.
        """
        raise self.cannot_extend()

    def count_contributions(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:  # noqa: ARG002
        """Tell how many slots `extend` uses for whom: user, slots. No chance is in it.

        It is asked before noise is drawn, and again for a run that was killed.
        """
        raise self.cannot_extend()

    def cannot_extend(self) -> ParameterError:
        """Make the error that says so."""
        return ParameterError(
            f"{self.name} cannot extend an earlier release",
            hint="only a method that pays for queries one by one can: make a new release instead",
        )


@cache
def all_methods() -> dict[str, type[Method]]:
    """Give every method by its name."""
    return discover(Method, __name__, __file__)  # type: ignore[type-abstract]


def get_method(name: str) -> type[Method]:
    """Give the method of that name, or say which name is near."""
    methods = all_methods()
    if name not in methods:
        raise UsageError(f'unknown method "{name}"', hint=did_you_mean(name, methods))
    return methods[name]


def parse_method(text: str) -> Method:
    """Read a method from its one line.

    >>> str(parse_method("frequent-queries:n=20:link=user"))
    'frequent-queries:n=20'
    """
    name, values = parse_spec(text)
    return get_method(name).from_params(dict(values))


READ_ALONE = (
    "each row of the log was read by its own text alone: the file's name, its header and the owner "
    "say how (format, columns, form of times), and no row does; what wrote the log kept rows "
    "apart, so that no query ends its row or begins another"
)
FAILURES = (
    "that a run failed and nothing was published, because a file was damaged or too large as a "
    "whole, or a machine had not enough memory; rows that cannot be read, or none at all, stop none"
)
