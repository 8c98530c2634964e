"""Forecast the yield of a private release before it is charged.

The forecast uses only public figures: the parameters of the method and the population that the
data owner declared. The log is not opened, so the forecast is the same for every log.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from ..errors import LowYieldError, PopulationWarning
from ..methods.base import Method
from .budget import is_differentially_private

HANDFUL = 5  # queries; a release with fewer counts as almost empty
_MAX_POPULATION = 10**10


def people_needed(expected: Callable[[int], int]) -> int | None:
    """Return the smallest population that is expected to yield `HANDFUL` queries.

    None if even the largest possible population is not enough. `expected` must not decrease.

    >>> people_needed(lambda people: people // 1_000)
    5000
    """
    low, high = 0, _MAX_POPULATION
    if expected(high) < HANDFUL:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected(middle) >= HANDFUL else (middle, high)
    return high


def low_yield(method: Method, expected_users: int | None) -> LowYieldError | None:
    """Return an error if a release is expected to be almost empty, else None."""
    expected = method.expected_queries() if is_differentially_private(method) else None
    if expected is None or (expected_users is not None and expected(expected_users) >= HANDFUL):
        return None
    needed = people_needed(expected)
    users = f"about {_round_to_two_digits(needed):,} users" if needed else "more users than exist"
    requirement = f"{users} are needed for {HANDFUL} queries with these parameters"
    if expected_users is None:
        return LowYieldError(
            f"the number of users was not declared, and {requirement}",
            hint="`expected_users=N`, a public figure that is not counted in the log; or "
            "`yes=True` to pay nevertheless",
        )
    return LowYieldError(
        f"about {expected(expected_users)} queries would be released for {expected_users:,} users; "
        f"{requirement}",
        hint="choose a larger epsilon or delta, or fewer queries per user (see `plan()`); or "
        "`yes=True` to pay nevertheless",
    )


def check_yield(method: Method, expected_users: int | None, *, yes: bool = False) -> None:
    """Raise an error if a private release is expected to be almost empty, unless confirmed."""
    problem = None if yes else low_yield(method, expected_users)
    if problem is not None:
        raise problem


def warn_of_yield(method: Method, expected_users: int | None, *, yes: bool = False) -> None:
    """Check the yield, but only warn if the population was not declared."""
    problem = None if yes else low_yield(method, expected_users)
    if problem is not None and expected_users is not None:
        raise problem
    if problem is not None:
        warnings.warn(
            f"{problem.what}; expected_users=N checks that", PopulationWarning, stacklevel=3
        )


def _round_to_two_digits(number: int) -> int:
    """Round to two significant digits, the precision of a forecast."""
    digits = max(0, len(str(number)) - 2)
    return int(round(number, -digits))
