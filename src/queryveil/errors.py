"""Every error that queryveil raises on purpose.

::

    QueryveilError            what went wrong, where, and a hint
    ├── UsageError            the call itself is wrong                    (exit code 2)
    │   └── ParameterError    a method's parameter is unknown or out of range
    ├── InputError            the log cannot be read
    │   ├── FormatError       not in the format that was asked for or found
    │   ├── ColumnError       a column is missing
    │   ├── RejectedError     more rows were rejected than --max-rejected allows
    │   ├── CoverageError     too little of the log has a meaning for a semantic method
    │   └── NothingLeftError  a method would release nothing of this log
    ├── OutputError           the release cannot be written
    ├── LowYieldError         a private release would hold next to nothing, and nobody said yes
    ├── BudgetError           a release needs more than the ledger has left
    └── VerificationError     what was written does not keep its promise
        └── UnknownVersionError   another version wrote it, and is needed to tell (exit code 3)
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class QueryveilError(Exception):
    """An error that a person can act on: what happened, where, and what to try.

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
        place = f"{self.where}: " if self.where else ""
        hint = f". Hint: {self.hint}" if self.hint else ""
        return f"{place}{self.what}{hint}"


class UsageError(QueryveilError):
    """The call itself is wrong."""

    exit_code = 2


class ParameterError(UsageError):
    """A method's parameter is unknown, of the wrong type or out of range."""


class InputError(QueryveilError):
    """The log cannot be read."""


class FormatError(InputError):
    """The file is not in the format that was asked for, or in none that is known."""


class ColumnError(InputError):
    """A column that is needed is missing."""


class TooManyRejectedError(InputError):
    """More rows were rejected than the owner allows."""


class CoverageError(InputError):
    """Too little of the log has a meaning: a semantic method would treat all users alike."""


class EmptyReleaseError(InputError):
    """A method would release nothing of this log: no query passes its rule."""


class OutputError(QueryveilError):
    """The release cannot be written."""


class LowYieldError(QueryveilError):
    """A private release would hold next to nothing, by public figures, and nobody said yes."""


class PopulationWarning(UserWarning):
    """Nobody declared how many people there are, so a yield cannot be forecast."""


class BudgetError(QueryveilError):
    """A release needs more privacy budget than the ledger has left."""


class VerificationError(QueryveilError):
    """What was written does not keep its promise."""


class UnknownVersionError(VerificationError):
    """Nothing fails, and only the version that wrote a release could compare all of it."""

    exit_code = 3


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Name the known words nearest to a misspelt one, or list them all.

    >>> did_you_mean("qurey", ["user", "query", "time"])
    'did you mean "query"?'
    >>> did_you_mean("zzz", ["user", "query"])
    'known are: query, user'
    """
    choices = sorted(known)
    near = get_close_matches(word, choices, n=1, cutoff=0.5)
    return f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(choices)}"
