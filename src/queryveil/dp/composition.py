"""Composition of several releases: privacy losses added up at one Renyi order, exactly.

At an order a > 1 the Renyi divergence of a release is at most min(epsilon, a * rho). These bounds
are added. Proposition 12 of Canonne, Kamath and Steinke 2020 converts the sum to (epsilon, delta).
Every number here is a fraction that is rounded up where it is not exact. The proof is in
docs/explanation/ledger.md.
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

from .accounting import ORDERS
from .losses import pure_rho, rounded_up

_GRAIN = 1 << 20  # orders are multiples of 1 / 2^20, so that they can be stored exactly
_UP = Context(prec=40, rounding=ROUND_CEILING)
_DOWN = Context(prec=40, rounding=ROUND_FLOOR)


class AtOrder(NamedTuple):
    """Sums at one order: the Renyi divergence, and the probability that its bound fails."""

    divergence: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Charge:
    """The privacy loss of one release in one neighboring relation, in every form that is proved.

    The release is (epsilon, delta)-DP, and except with probability `rho_delta` it is rho-zCDP too.
    Without a recorded loss, rho follows from epsilon.
    """

    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None = None
    rho_delta: Fraction = Fraction(0)

    def at(self, order: Fraction) -> AtOrder:
        """Return the loss at an order, by whichever of the two forms is smaller there."""
        by_epsilon = min(self.epsilon, order * pure_rho(self.epsilon))
        if self.rho is not None and order * self.rho < by_epsilon:
            return AtOrder(rounded_up(order * self.rho, 18), self.rho_delta)
        return AtOrder(rounded_up(by_epsilon, 18), self.delta)


def added(charges: Iterable[Charge], order: Fraction) -> AtOrder:
    """Return the sum of charges at an order."""
    total = AtOrder(Fraction(0), Fraction(0))
    for charge in charges:
        loss = charge.at(order)
        total = AtOrder(total.divergence + loss.divergence, total.delta + loss.delta)
    return total


def price_of_delta(order: Fraction, delta: Fraction) -> Fraction:
    """Bound epsilon - divergence at this delta: ln(1 - 1/a) - ln(a delta) / (a - 1).

    >>> float(price_of_delta(Fraction(20), Fraction(1, 10**6))) < 0.52
    True
    """
    # Decimal rounds a logarithm to the nearest, so one unit in the last place is added.
    first = _UP.next_plus(_UP.ln(_UP.divide(*_to_decimals(1 - 1 / order))))
    product = _DOWN.divide(*_to_decimals(order * delta))
    second = _DOWN.next_minus(_DOWN.ln(product))
    return rounded_up(Fraction(first) - Fraction(second) / (order - 1), 18)


@lru_cache(maxsize=64)
def best_order(epsilon: Fraction, delta: Fraction) -> Fraction | None:
    """Return nearly the order at which epsilon and delta allow the largest rho.

    None if no rho above 0 fits at any order.
    """
    if not float(delta):  # 0, or too small for a float
        return None
    rho = (_to_float(epsilon) - _prices(float(delta))) / ORDERS
    best = int(rho.argmax())
    return _round_order(ORDERS[best]) if rho[best] > 0 else None


def composed(charges: Sequence[Charge], delta: Fraction) -> Fraction | None:
    """Bound the epsilon of all charges together at this delta; None if there is no such epsilon.

    It is the smaller of the plain sum and the bound at the best of many orders. The search for
    the order uses floats; the bound at that order is exact.
    """
    bounds = []
    if sum(charge.delta for charge in charges) <= delta:
        bounds.append(sum((charge.epsilon for charge in charges), Fraction(0)))
    order = _find_order(charges, float(delta))
    if order is not None:
        total = added(charges, order)
        if total.delta < delta:
            price = price_of_delta(order, delta - total.delta)
            bounds.append(max(Fraction(0), total.divergence + price))
    return min(bounds, default=None)


def _find_order(charges: Sequence[Charge], delta: float) -> Fraction | None:
    """Return the order with the smallest bound on epsilon, searched in floats."""
    if not charges or not delta:
        return None
    distinct = Counter(charges)  # many releases have equal charges: the matrices stay small
    times = np.array(list(distinct.values()), np.float64)
    epsilon = np.array([_to_float(c.epsilon) for c in distinct])
    recorded = np.array([np.inf if c.rho is None else _to_float(c.rho) for c in distinct])
    rho_delta = np.array([float(c.rho_delta) for c in distinct])
    plain_delta = np.array([float(c.delta) for c in distinct])
    by_loss = np.outer(ORDERS, recorded)
    by_epsilon = np.minimum(epsilon, np.outer(ORDERS, epsilon * epsilon / 2))
    remaining = delta - np.where(by_loss < by_epsilon, rho_delta, plain_delta) @ times
    bound = np.full(len(ORDERS), np.inf)
    feasible = remaining > 0
    bound[feasible] = (np.minimum(by_loss, by_epsilon) @ times + _prices(1.0))[feasible]
    bound[feasible] -= np.log(remaining[feasible]) / (ORDERS[feasible] - 1)
    best = int(bound.argmin())
    return _round_order(ORDERS[best]) if feasible[best] else None


def _to_float(value: Fraction) -> float:
    return float(min(value, Fraction(10**150)))  # the square of 10^150 is still a float


def _prices(delta: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return `price_of_delta` at all orders, in floats."""
    prices = np.log1p(-1 / ORDERS) - np.log(ORDERS * delta) / (ORDERS - 1)
    return np.asarray(prices, np.float64)


def _round_order(order: float) -> Fraction:
    return Fraction(max(_GRAIN + 1, round(order * _GRAIN)), _GRAIN)


def _to_decimals(value: Fraction) -> tuple[Decimal, Decimal]:
    return Decimal(value.numerator), Decimal(value.denominator)
