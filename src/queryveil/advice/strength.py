"""Choose the parameters of a rule's method, from answers and forecasts alone.

No figure of a log enters here, so the parameters of a private release are never chosen by its
data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from ..methods.base import METHODS, Method, parse_method
from ..workflows.expected_yield import HANDFUL, people_needed
from .answers import MAX_USERS, Answers, Recipient
from .rules import (
    ENOUGH_QUERIES,
    ENOUGH_SAVED_LOSS,
    FEWEST_QUERIES,
    STRENGTHS,
    Rule,
)

_MAX_DELTA = 1e-6
_PERSONS_PER_DELTA = 100  # delta is at most 1 / (100 users)
_MAX_SYNTHETIC_USERS = 100_000


@dataclass(frozen=True)
class Chosen:
    """A rule with the parameters for these answers.

    Attributes:
        expected_queries: The expected number of released queries, where it is known before a run.
        users_needed: With fewer users too little is left; None if no number is enough.
        is_enough: Whether the number of users is enough.
        is_little: Whether something is left, but little.
    """

    rule: Rule
    method: Method
    users_needed: int | None
    is_enough: bool
    is_little: bool = False
    expected_queries: int | None = None


def choose(rule: Rule, answers: Answers, users: int) -> Chosen:
    """Return the method of a rule with parameters for these answers and so many users."""
    return _choose(rule, answers.recipient, answers.taxonomy, answers.query_language, users)


@cache
def _choose(
    rule: Rule, recipient: Recipient, taxonomy: str | None, language: str | None, users: int
) -> Chosen:
    if rule.chosen != "epsilon":
        strength = STRENGTHS[recipient]
        threshold = strength.k if rule.chosen == "k" else strength.min_users
        needed = threshold * rule.users_per_threshold
        return Chosen(rule, _build(rule, taxonomy, language, threshold), needed, users >= needed)
    methods = list(private_methods(rule, recipient, taxonomy, language, users))
    if methods[0].expected_queries() is None:  # every user gets rows, whatever epsilon is
        return _choose_by_saved_loss(rule, methods, users)
    return _choose_by_expected_queries(rule, methods, users)


def private_methods(
    rule: Rule, recipient: Recipient, taxonomy: str | None, language: str | None, users: int
) -> Iterator[Method]:
    """Yield the method with each allowed epsilon, the smallest first."""
    for epsilon in STRENGTHS[recipient].epsilons:
        yield _build(rule, taxonomy, language, epsilon, users)


def _build(
    rule: Rule,
    taxonomy: str | None,
    language: str | None,
    value: float,
    users: int | None = None,
) -> Method:
    """Return the method of a rule; a taxonomy, delta and a synthetic log follow from answers."""
    method = parse_method(rule.method)
    values = method.params() | {rule.chosen.replace("-", "_"): value}
    if rule.needs_taxonomy and taxonomy is not None:
        values["taxonomy"] = taxonomy
    if rule.needs_taxonomy and language is not None:
        values["language"] = language
    if users is not None and values.get("delta"):
        values["delta"] = delta_for(users)
    if users is not None and values.get("synthetic_users"):
        values["synthetic_users"] = min(users, _MAX_SYNTHETIC_USERS)
    return METHODS.find(method.name).from_params(values)


def delta_for(users: int) -> float:
    """Return a delta far below 1 / users: a power of ten, at most 1 / (100 users) and 1e-6.

    >>> delta_for(1_000), delta_for(200_000)
    (1e-06, 1e-08)
    """
    digits = math.ceil(math.log10(users * _PERSONS_PER_DELTA) - 1e-9)
    return min(_MAX_DELTA, float(f"1e-{digits}"))


def _choose_by_expected_queries(rule: Rule, methods: list[Method], users: int) -> Chosen:
    """Return the smallest epsilon with enough expected queries, else the largest epsilon."""
    needed = users_for_queries(methods[-1])
    for method in methods:
        expected = expected_queries(method, users)
        if expected >= ENOUGH_QUERIES:
            return Chosen(rule, method, needed, True, expected_queries=expected)
    return Chosen(
        rule,
        method,
        needed,
        expected >= FEWEST_QUERIES,
        is_little=True,
        expected_queries=expected,
    )


@cache
def users_for_queries(method: Method) -> int | None:
    """Return with how many users the fewest queries of a proposal are expected."""
    expected = _expected(method)
    return people_needed(lambda users: expected(users) * HANDFUL // FEWEST_QUERIES)


@cache
def expected_queries(method: Method, users: int) -> int:
    """Return how many queries a method is expected to release."""
    return _expected(method)(users)


@cache
def _expected(method: Method) -> Callable[[int], int]:
    return method.expected_queries() or (lambda _: 0)


def _choose_by_saved_loss(rule: Rule, methods: list[Method], users: int) -> Chosen:
    """Return the smallest epsilon at which profiles are useful, else the largest epsilon."""
    needed = _users_for_saved_loss(methods[-1])
    for method in methods:
        if _saved_loss(method, users) >= ENOUGH_SAVED_LOSS:
            return Chosen(rule, method, needed, True)
    return Chosen(rule, method, needed, False)


def _saved_loss(method: Method, users: int) -> float:
    forecast = method.forecast(users)
    facts = {fact.name: fact.value for fact in forecast.facts} if forecast else {}
    return float(facts.get("saved_loss", 0.0))


@cache
def _users_for_saved_loss(method: Method) -> int | None:
    """Return with how many users profiles are useful, in steps of 1, 2, 5, 10, ..."""
    steps = [n * 10**power for power in range(1, 9) for n in (1, 2, 5)]
    useful = (n for n in steps if n <= MAX_USERS and _saved_loss(method, n) >= ENOUGH_SAVED_LOSS)
    return next(useful, None)
