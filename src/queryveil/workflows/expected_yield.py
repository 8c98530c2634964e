"""Whether a private release would hold anything, asked before it is paid for.

Only public figures have a say: the method's parameters and the number of people that the owner
declared. The log is not opened for it, so the answer is the same for every log.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from ..errors import LowYieldError, PopulationWarning
from ..methods.base import Method
from .budget import is_differentially_private

HANDFUL = 5  # queries
_MOST_PEOPLE = 10**10


def people_needed(expected: Callable[[int], int]) -> int | None:
    """Return the least number of people that are enough for a handful of queries.

    >>> people_needed(lambda people: people // 1_000)
    5000
    """
    low, high = 0, _MOST_PEOPLE
    if expected(high) < HANDFUL:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected(middle) >= HANDFUL else (middle, high)
    return high


def low_yield(method: Method, population: int | None) -> LowYieldError | None:
    """Return why a release should not be paid for without a yes; nothing if it may be."""
    expected = method.expected_queries() if is_differentially_private(method) else None
    if expected is None or (population is not None and expected(population) >= HANDFUL):
        return None
    needed = people_needed(expected)
    enough = f"about {_rounded(needed):,} people" if needed else "more people than there are"
    needs = f"{enough} are needed for {HANDFUL} queries with these parameters"
    if population is None:
        return LowYieldError(
            f"how many people there are was not declared, and {needs}",
            hint="--population N, a public figure that is not counted in the log; or --yes "
            "(Python: population=N, yes=True)",
        )
    return LowYieldError(
        f"about {expected(population)} queries would show for {population:,} people; {needs}",
        hint="take a larger epsilon or delta, or fewer queries a user (see `plan`); or --yes "
        "(Python: yes=True) to pay all the same",
    )


def check_yield(method: Method, population: int | None, *, yes: bool = False) -> None:
    """Raise an error where a private release would hold next to nothing and nobody said yes."""
    problem = None if yes else low_yield(method, population)
    if problem is not None:
        raise problem


def warn_of_yield(method: Method, population: int | None, *, yes: bool = False) -> None:
    """Check the yield, but only warn where the number of people was not declared."""
    problem = None if yes else low_yield(method, population)
    if problem is not None and population is not None:
        raise problem
    if problem is not None:
        warnings.warn(f"{problem.what}; population=N checks that", PopulationWarning, stacklevel=3)


def _rounded(number: int) -> int:
    """Round to two digits: a forecast is no better."""
    digits = max(0, len(str(number)) - 2)
    return int(round(number, -digits))
