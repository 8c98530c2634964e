"""Explain k, epsilon and delta in words that a reader without statistics understands.

The sentences follow from the definitions alone and promise nothing beyond them. Help, pages,
`advise` and the demo all take them from here, so that a number is explained in one way.
"""

from __future__ import annotations

import math

from ..dp.losses import Relation
from .guarantee import Guarantee

_LARGEST_FACTOR = 1e6  # above it a factor is written as a power of ten
_UNITS = ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"))
_ACTIONS: dict[Relation, str] = {
    "add-remove": "adding or removing one person's whole log",
    "replace-one": "exchanging one person's whole log for another",
}


def explain_k(k: int) -> str:
    """Return what k-anonymity with this k means for a person.

    >>> explain_k(5)
    'every released log is shared by at least 5 users, and nothing in it separates them'
    """
    return f"every released log is shared by at least {k:,} users, and nothing in it separates them"


def explain_epsilon(
    epsilon: float, delta: float | None = None, relation: Relation = "add-remove"
) -> str:
    """Return what epsilon and delta mean for a person.

    >>> explain_epsilon(1, 1e-9)  # doctest: +NORMALIZE_WHITESPACE
    "adding or removing one person's whole log makes no result more than 2.72 times as likely,
    plus at most one in a billion"
    >>> explain_epsilon(0.1, relation="replace-one")  # doctest: +NORMALIZE_WHITESPACE
    "exchanging one person's whole log for another makes no result more than 1.11 times as likely"
    """
    text = f"{_ACTIONS[relation]} makes no result more than {factor_of(epsilon)} times as likely"
    return f"{text}, plus at most {explain_probability(delta)}" if delta else text


def factor_of(epsilon: float) -> str:
    """Return e to the power of epsilon, rounded up to three digits.

    >>> factor_of(1), factor_of(10), factor_of(0.01), factor_of(1000)
    ('2.72', '22,100', '1.02', '10^435')
    """
    if epsilon > math.log(_LARGEST_FACTOR):
        return f"10^{math.ceil(epsilon / math.log(10))}"
    factor = math.exp(epsilon)
    digits = 2 - math.floor(math.log10(factor))
    rounded = math.ceil(factor * 10**digits - 1e-9) / 10**digits
    return f"{rounded:,.{max(digits, 0)}f}"


def explain_probability(probability: float) -> str:
    """Return a small probability as "one in ...", rounded up.

    >>> explain_probability(1e-9), explain_probability(2e-6), explain_probability(0.01)
    ('one in a billion', 'one in 500 thousand', 'one in 100')
    """
    inverse = math.floor(1 / probability * (1 + 1e-9))
    if inverse >= 10**12:
        return f"one in 10^{math.floor(math.log10(inverse))}"
    for size, name in _UNITS:
        if inverse >= size:
            count = inverse // size
            return f"one in a {name}" if count == 1 else f"one in {count} {name}"
    return f"one in {inverse}"


def explain_guarantee(guarantee: Guarantee) -> str | None:
    """Return what a guarantee means for a person; None where nothing is guaranteed.

    >>> explain_guarantee(Guarantee("none", "")) is None
    True
    """
    if guarantee.model == "none":
        return None
    if guarantee.model == "k-anonymity":
        return None if guarantee.k is None else explain_k(guarantee.k)
    if guarantee.epsilon is None:  # on a forged card alone
        return None
    relation = guarantee.relation or "replace-one"
    text = explain_epsilon(guarantee.epsilon, guarantee.delta, relation)
    return text + explain_condition(guarantee)


def explain_condition(guarantee: Guarantee) -> str:
    """Return the condition of a guarantee, to be added to a sentence; empty without a condition."""
    return f", only if this is public already: {guarantee.given}" if guarantee.given else ""
