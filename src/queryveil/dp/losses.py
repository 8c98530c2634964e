"""The privacy loss of a mechanism, and the neighboring relation in which it holds.

A loss is that of approximate zCDP (Bun and Steinke 2016, Definition 8.1): for every pair of
neighboring logs the output is, except with probability `delta`, drawn from two distributions whose
Renyi divergence of every order a > 1 is at most a * rho. docs/explanation/ledger.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Literal, get_args

from ..core.records import Record
from ..errors import UsageError

# Add-remove: one of two logs has the whole log of one more user. Replace-one: the users are the
# same, and one of them has another log. The second is coarser: it is two steps of the first.
Relation = Literal["add-remove", "replace-one"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

_DIGITS = 12  # of a stored loss, rounded up
_EXACT = Context(prec=40, rounding=ROUND_CEILING, Emin=-(10**6), Emax=10**6)
_MAX_EXPONENT = 1000  # for larger epsilons the bound on a delta is 1 anyway


@dataclass(frozen=True, repr=False)
class Loss(Record):
    """The loss of a release in one neighboring relation: rho, except with probability delta.

    >>> Loss("add-remove", Fraction(1, 3)).to_dict()
    {'relation': 'add-remove', 'rho': '0.333333333334', 'delta': '0'}
    """

    shown = ("relation", "rho", "delta")

    relation: Relation
    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS or self.rho < 0 or not 0 <= self.delta <= 1:
            raise UsageError(
                f"not a privacy loss: relation {self.relation}, rho {self.rho}, delta {self.delta}",
                hint=f"a relation of {', '.join(RELATIONS)}, rho from 0, delta from 0 to 1",
            )
        for name in ("rho", "delta"):
            object.__setattr__(self, name, rounded_up(getattr(self, name)))

    def to_dict(self) -> dict[str, str]:
        """Return the form in the ledger and on the card: the amounts as decimals."""
        return {
            "relation": self.relation,
            "rho": _format_decimal(self.rho),
            "delta": _format_decimal(self.delta),
        }


def losses_of(rho: Fraction, delta: Fraction = Fraction(0)) -> tuple[Loss, Loss]:
    """Return the losses of independent noise on counts to which each user only adds.

    Adding or removing a user moves the counts by a vector u, which costs rho. Replacing a user
    moves them by u - v. As no entry of u or v is negative, |u - v|^2 <= |u|^2 + |v|^2: that costs
    2 rho, whereas group privacy for two steps would give 4 rho.
    """
    return Loss("add-remove", rho, delta), Loss("replace-one", 2 * rho, delta)


def pure_rho(epsilon: Fraction) -> Fraction:
    """Bound rho of a pure epsilon-DP mechanism (Bun and Steinke 2016, Proposition 3.3)."""
    return epsilon * epsilon / 2


def rounded_up(value: Fraction, digits: int = _DIGITS) -> Fraction:
    """Return the smallest decimal of so many significant digits that is not below the value.

    >>> rounded_up(Fraction(2, 3), 3), rounded_up(Fraction(1, 4), 3)
    (Fraction(667, 1000), Fraction(1, 4))
    """
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=-(10**6), Emax=10**6)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def exp_above(value: Fraction) -> Fraction:
    """Return a tight upper bound on e to this power.

    >>> 2.718281828459045 <= float(exp_above(Fraction(1))) < 2.71828182846
    True
    """
    if value > _MAX_EXPONENT:
        raise OverflowError(value)
    power = _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    # Decimal rounds an exponential to the nearest, whatever the rounding mode of the context.
    return rounded_up(Fraction(_EXACT.next_plus(_EXACT.exp(power))), 20)


def _format_decimal(value: Fraction) -> str:
    exact = Context(prec=2 * _DIGITS, Emin=-(10**6), Emax=10**6)
    decimal = exact.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(decimal.normalize(exact)) if decimal else "0"
