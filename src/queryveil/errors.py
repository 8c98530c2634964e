"""Define the errors that queryveil raises.

::

    QueryveilError            the problem, where it is, and a hint
    ├── UsageError            the call itself is wrong                    (exit code 2)
    │   ├── ArgumentError     a function has no such keyword argument
    │   └── ParameterError    a parameter of a method is unknown or out of range
    ├── InputError            an input file cannot be read or used
    │   ├── FormatError       the format is unknown, or not the one that was requested
    │   ├── ColumnError       a column is missing
    │   ├── TooManyRejectedError  more rows were rejected than `max_rejected` allows
    │   ├── CoverageError     too few queries have a concept for a semantic method
    │   └── EmptyReleaseError     the release would have no rows
    ├── OutputError           the release cannot be written
    ├── LowYieldError         a private release is expected to be almost empty; not confirmed
    ├── BudgetError           a release needs more budget than the ledger has left
    └── VerificationError     a release does not satisfy its guarantee
        └── UnknownVersionError   only the version that wrote it can check all (exit code 3)

Messages and hints name parameters as Python does, in backticks: `min_users`, `overwrite=True`. The
command line shows these as its options.

Beside these, `PopulationWarning` warns that the yield of a private release cannot be forecast, and
`PluginWarning` that a method or another item of an installed distribution cannot be used.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class QueryveilError(Exception):
    """An error with its message, the file or value concerned, and a hint.

    >>> print(QueryveilError("no such file", where="log.tsv", hint="check the path"))
    log.tsv: no such file. Hint: check the path
    """

    exit_code = 1

    def __init__(self, what: str, *, where: object = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = None if where is None else str(where)
        self.hint = hint

    def __str__(self) -> str:
        prefix = f"{self.where}: " if self.where else ""
        hint = f". Hint: {self.hint}" if self.hint else ""
        return f"{prefix}{self.what}{hint}"


class UsageError(QueryveilError):
    """The call itself is wrong."""

    exit_code = 2


class ArgumentError(UsageError, TypeError):
    """A function has no keyword argument of this name."""


class ParameterError(UsageError, ValueError):
    """A parameter of a method is unknown, of the wrong type or out of range.

    Attributes:
        parameter: Its name, if the error concerns a single one.
    """

    def __init__(
        self,
        what: str,
        *,
        parameter: str | None = None,
        where: object = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.parameter = parameter


class InputError(QueryveilError):
    """An input file cannot be read or used."""


class FormatError(InputError):
    """The format of a file is unknown, or not the one that was requested."""


class ColumnError(InputError):
    """A required column is missing."""


class TooManyRejectedError(InputError):
    """More rows were rejected than the data owner allows."""


class CoverageError(InputError):
    """Too few queries have a concept: to a semantic method all users would look equal."""


class LanguageError(CoverageError):
    """A log is in another language than its queries are mapped in."""


class EmptyReleaseError(InputError):
    """A method would release no row of this log."""


class OutputError(QueryveilError):
    """The release cannot be written."""


class LowYieldError(QueryveilError):
    """A private release is expected to be almost empty, and the owner has not confirmed it.

    The forecast uses public figures only: parameters and the declared population.
    """


class PopulationWarning(UserWarning):
    """The population was not declared, so the yield of a release cannot be forecast."""


class PluginWarning(UserWarning):
    """A method or another item of an installed distribution cannot be loaded, and is left out."""


class BudgetError(QueryveilError):
    """A release needs more privacy budget than the ledger has left."""


class VerificationError(QueryveilError):
    """A written release does not satisfy its guarantee."""


class UnknownVersionError(VerificationError):
    """No check fails, but only the version that wrote the release can run all of them."""

    exit_code = 3


def did_you_mean(word: str, known: Iterable[str], quote: str = '"') -> str:
    """Return a hint with the known word most similar to a misspelled one, or with all of them.

    >>> did_you_mean("qurey", ["user", "query", "time"])
    'did you mean "query"?'
    >>> did_you_mean("zzz", ["user", "query"])
    'known are: query, user'
    >>> did_you_mean("zzz", [])
    'there are none'
    """
    choices = sorted(known)
    if not choices:
        return "there are none"
    near = get_close_matches(word, choices, n=1, cutoff=0.5)
    if near:
        return f"did you mean {quote}{near[0]}{quote}?"
    marks = "" if quote == '"' else quote
    return f"known are: {', '.join(f'{marks}{choice}{marks}' for choice in choices)}"
