"""What an entry costs between logs of one relation.

A replacement of one user is a removal and an addition. So what is (epsilon, delta) for adding or
removing a user is (2 epsilon, (1 + e^epsilon) delta) for replacing one. There is no way back: a
method that takes the users as known may tell for certain whether somebody is among them.
"""

from __future__ import annotations

from fractions import Fraction

from ...ledger.entries import LedgerEntry
from ..composition import Charge
from ..losses import Loss, Relation, exp_above, rounded_up

__all__ = ["charge_in", "replaced_delta"]


def charge_in(entry: LedgerEntry, relation: Relation) -> Charge | None:
    """Return what an entry costs in a relation; none if it promises nothing there.

    An entry of which nobody knows the relation is counted as the dearest that it can be.
    """
    if entry.epsilon is None or entry.delta is None:
        return Charge(Fraction(0), Fraction(0))
    own = {loss.relation: loss for loss in entry.losses}
    if entry.relation == relation:
        return _charge(entry.epsilon, entry.delta, own.get(relation))
    if relation == "add-remove":
        return None
    loss = own.get("replace-one") or _twice(own.get("add-remove"))
    known = loss if entry.relation == "add-remove" else None
    return _charge(2 * entry.epsilon, replaced_delta(entry.epsilon, entry.delta), known)


def replaced_delta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Bound (1 + e^epsilon) delta; more than 1 is as good as 1.

    >>> float(replaced_delta(Fraction(1), Fraction(1, 10**9)))
    3.71828182846e-09
    """
    if not delta:
        return Fraction(0)
    try:
        return min(Fraction(1), rounded_up((1 + exp_above(epsilon)) * delta))
    except OverflowError:
        return Fraction(1)


def _charge(epsilon: Fraction, delta: Fraction, loss: Loss | None) -> Charge:
    return Charge(epsilon, delta, *((loss.rho, loss.delta) if loss else ()))


def _twice(loss: Loss | None) -> Loss | None:
    """Return the loss of two steps; with a chance aside that is not known to be one."""
    if loss is None or loss.delta:
        return None
    return Loss("replace-one", 4 * loss.rho)
