"""What several releases cost together: added up at one Renyi order, in exact numbers.

At an order a > 1 a release costs at most min(epsilon, a * rho). These costs are added. What they
mean as (epsilon, delta) is Proposition 12 of Canonne, Kamath and Steinke 2020. Every number here is
a fraction that is rounded up where it is not exact. docs/ledger.md has the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .losses import pure_rho, rounded_up


_ORDERS = 1 + np.logspace(-2, 5, 1500)  # those by which methods choose their noise, too
_GRAIN = 1 << 20  # orders are whole numbers of 1 / 2^20
_UP = Context(prec=40, rounding=ROUND_CEILING)
_DOWN = Context(prec=40, rounding=ROUND_FLOOR)


class AtOrder(NamedTuple):
    """Sums at one order: the Renyi divergence, and the chance that it is not so."""

    divergence: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Charge:
    """What one release costs between logs of one relation, in all the ways that are proved.

    It is (epsilon, delta), and with a chance of `chance` aside it is rho-zCDP too. Without a
    recorded loss rho follows from epsilon.
    """

    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None = None
    chance: Fraction = Fraction(0)

    def at(self, order: Fraction) -> AtOrder:
        """Return what it costs at an order: whichever of its two forms is less there."""
        by_epsilon = min(self.epsilon, order * pure_rho(self.epsilon))
        if self.rho is not None and order * self.rho < by_epsilon:
            return AtOrder(rounded_up(order * self.rho, 18), self.chance)
        return AtOrder(rounded_up(by_epsilon, 18), self.delta)


def added(charges: Iterable[Charge], order: Fraction) -> AtOrder:
    """Add up charges at an order."""
    total = AtOrder(Fraction(0), Fraction(0))
    for charge in charges:
        more = charge.at(order)
        total = AtOrder(total.divergence + more.divergence, total.delta + more.delta)
    return total


def price_of_delta(order: Fraction, delta: Fraction) -> Fraction:
    """Bound epsilon - divergence at this delta: ln(1 - 1/a) - ln(a delta) / (a - 1).

    >>> float(price_of_delta(Fraction(20), Fraction(1, 10**6))) < 0.52
    True
    """
    # Decimal rounds a logarithm to the nearest, so one unit in the last place is added.
    first = _UP.next_plus(_UP.ln(_UP.divide(*_parts(1 - 1 / order))))
    below = _DOWN.divide(*_parts(order * delta))
    second = _DOWN.next_minus(_DOWN.ln(below))
    return rounded_up(Fraction(first) - Fraction(second) / (order - 1), 18)


@lru_cache(maxsize=64)
def best_order(epsilon: Fraction, delta: Fraction) -> Fraction | None:
    """Return the order at which most noise fits into epsilon and delta, nearly; none if nothing."""
    if not float(delta):  # none, or too small for a float
        return None
    room = (_near(epsilon) - _prices(float(delta))) / _ORDERS
    best = int(room.argmax())
    return _grained(_ORDERS[best]) if room[best] > 0 else None


def composed(charges: Sequence[Charge], delta: Fraction) -> Fraction | None:
    """Bound the epsilon of all charges together at this delta; none if there is no such epsilon.

    That is the least of the plain sum and of the bounds at many orders. The order is sought in
    floats, and the bound at the one that is found is exact.
    """
    found = []
    if sum(charge.delta for charge in charges) <= delta:
        found.append(sum((charge.epsilon for charge in charges), Fraction(0)))
    order = _least(charges, float(delta))
    if order is not None:
        total = added(charges, order)
        if total.delta < delta:
            price = price_of_delta(order, delta - total.delta)
            found.append(max(Fraction(0), total.divergence + price))
    return min(found, default=None)


def _least(charges: Sequence[Charge], delta: float) -> Fraction | None:
    """Seek the order with the least bound, in floats."""
    if not charges or not delta:
        return None
    alike = Counter(charges)
    times = np.array(list(alike.values()), np.float64)
    epsilon = np.array([_near(c.epsilon) for c in alike])
    recorded = np.array([np.inf if c.rho is None else _near(c.rho) for c in alike])
    chance, plain = (np.array([float(d) for d in ds]) for ds in _deltas(list(alike)))
    by_loss = np.outer(_ORDERS, recorded)
    by_epsilon = np.minimum(epsilon, np.outer(_ORDERS, epsilon * epsilon / 2))
    aside = delta - np.where(by_loss < by_epsilon, chance, plain) @ times
    bound = np.full(len(_ORDERS), np.inf)
    some = aside > 0
    bound[some] = (np.minimum(by_loss, by_epsilon) @ times + _prices(1.0))[some]
    bound[some] -= np.log(aside[some]) / (_ORDERS[some] - 1)
    best = int(bound.argmin())
    return _grained(_ORDERS[best]) if some[best] else None


def _deltas(charges: Sequence[Charge]) -> tuple[list[Fraction], list[Fraction]]:
    return [charge.chance for charge in charges], [charge.delta for charge in charges]


def _near(value: Fraction) -> float:
    return float(min(value, Fraction(10**150)))  # whose square is still a float


def _prices(delta: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = np.log1p(-1 / _ORDERS) - np.log(_ORDERS * delta) / (_ORDERS - 1)
    return np.asarray(found, np.float64)


def _grained(order: float) -> Fraction:
    return Fraction(max(_GRAIN + 1, round(order * _GRAIN)), _GRAIN)


def _parts(value: Fraction) -> tuple[Decimal, Decimal]:
    return Decimal(value.numerator), Decimal(value.denominator)
