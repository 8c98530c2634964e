"""What a mechanism costs: its privacy loss, and between which logs that is said.

A loss is that of approximate zCDP (Bun and Steinke 2016, Definition 8.1): for every pair of
neighboring logs the output is, but for a chance of `delta`, drawn from two distributions whose
Renyi divergence of every order a > 1 is at most a * rho. docs/ledger.md has what is proved of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Literal, get_args

from ..errors import UsageError
from .budget import stored_amount


# Add-remove: one of two logs has the whole log of one more user. Replace-one: the users are the
# same, and one of them has another log. The second is coarser: it is two steps of the first.
Relation = Literal["add-remove", "replace-one"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

_DIGITS = 12  # of a stored loss, rounded up
_EXACT = Context(prec=40, rounding=ROUND_CEILING, Emin=-(10**6), Emax=10**6)
_MOST = 1000  # an exponent beyond which a chance is 1 anyway


@dataclass(frozen=True)
class Loss:
    """The loss of a release between logs of one relation: rho, but for a chance of delta.

    >>> Loss("add-remove", Fraction(1, 3)).as_dict()
    {'relation': 'add-remove', 'rho': '0.333333333334', 'delta': '0'}
    """

    relation: Relation
    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS or self.rho < 0 or not 0 <= self.delta <= 1:
            raise UsageError(f"a loss cannot be {self.relation}, {self.rho}, {self.delta}")
        for name in ("rho", "delta"):
            object.__setattr__(self, name, rounded_up(getattr(self, name)))

    def as_dict(self) -> dict[str, str]:
        """Return the form that is stored and stands on the card."""
        return {"relation": self.relation, "rho": _text(self.rho), "delta": _text(self.delta)}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Loss:
        """Read the form that is stored; KeyError, TypeError or UsageError if it is none."""
        return cls(told["relation"], stored_amount(told["rho"]), stored_amount(told["delta"]))


def losses_of(rho: Fraction, delta: Fraction = Fraction(0)) -> tuple[Loss, Loss]:
    """Return the losses of independent noise on numbers to which each user only adds.

    Adding or removing a user moves the numbers by a vector u, which costs rho. Replacing a user
    moves them by u - v. As no entry of u or v is negative, |u - v|^2 <= |u|^2 + |v|^2: that costs
    2 rho, where two steps one after the other would cost 4.
    """
    return Loss("add-remove", rho, delta), Loss("replace-one", 2 * rho, delta)


def pure_rho(epsilon: Fraction) -> Fraction:
    """Bound rho of what keeps a pure epsilon (Bun and Steinke 2016, Proposition 3.3)."""
    return epsilon * epsilon / 2


def rounded_up(value: Fraction, digits: int = _DIGITS) -> Fraction:
    """Return a decimal of few digits that is not less.

    >>> rounded_up(Fraction(2, 3), 3), rounded_up(Fraction(1, 4), 3)
    (Fraction(667, 1000), Fraction(1, 4))
    """
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=-(10**6), Emax=10**6)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def exp_above(value: Fraction) -> Fraction:
    """Return a number that is at least e to this power, and little more.

    >>> 2.718281828459045 <= float(exp_above(Fraction(1))) < 2.71828182846
    True
    """
    if value > _MOST:
        raise OverflowError(value)
    power = _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    # Decimal rounds an exponential to the nearest whatever the context says.
    return rounded_up(Fraction(_EXACT.next_plus(_EXACT.exp(power))), 20)


def _text(value: Fraction) -> str:
    exact = Context(prec=2 * _DIGITS, Emin=-(10**6), Emax=10**6)
    found = exact.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(found.normalize(exact)) if found else "0"
