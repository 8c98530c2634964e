"""Epsilon and delta as exact fractions: read, checked and shown without any float."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

from ..errors import UsageError

_HINT = "write 0.1, 1e-7 or 1/3"
# No more than three digits of exponent: "1e999999999" would fill the memory.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?|[+-]?[0-9]+/[0-9]+")
# What is stored: whole numbers, or decimals of few digits. More would fill the memory too.
_STORED = re.compile(r"[0-9]{1,1300}(/[0-9]{1,1300})?|[0-9.]{1,40}(E[+-]?[0-9]{1,4})?")
_LONGEST = 200  # letters of a number that a person writes
_MOST_BITS = 4000  # of a numerator or denominator, so that each can be written as digits


def parse_epsilon(text: str) -> Fraction:
    """Read an epsilon, exactly.

    >>> parse_epsilon("0.1"), parse_epsilon("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    return check_epsilon(_read(text))


def parse_delta(text: str) -> Fraction:
    """Read a delta, exactly; 0 is allowed and means none.

    >>> parse_delta("1e-7"), parse_delta("0")
    (Fraction(1, 10000000), Fraction(0, 1))
    """
    return check_delta(_read(text))


def check_epsilon(value: Fraction) -> Fraction:
    """Give an epsilon back that is exact and above 0."""
    found = _exact(value, "epsilon")
    if found <= 0:
        raise UsageError(f"epsilon is {format_amount(found)}", hint="a number above 0")
    return found


def check_delta(value: Fraction) -> Fraction:
    """Give a delta back that is exact, from 0 and below 1."""
    found = _exact(value, "delta")
    if not 0 <= found < 1:
        raise UsageError(f"delta is {format_amount(found)}", hint="a number from 0, and below 1")
    return found


def format_exact(value: Fraction) -> str:
    """Give the form that is stored: a whole number, or two with a slash.

    >>> format_exact(Fraction("0.1")), format_exact(Fraction(2))
    ('1/10', '2')
    """
    # A sum of many odd fractions can be longer than Python agrees to write.
    return str(value) if _bits(value) <= 3 * _MOST_BITS else format_amount(value)


def stored_amount(text: str) -> Fraction:
    """Read an amount as it is stored; UsageError if it cannot have been written so.

    >>> stored_amount("1/10"), stored_amount("4.5E-10") == Fraction("4.5e-10")
    (Fraction(1, 10), True)
    """
    if not _STORED.fullmatch(text):
        raise UsageError(f'"{text[:40]}" is no stored amount')
    return Fraction(text)


def format_amount(value: Fraction) -> str:
    """Give the form that people read: short decimals, else a fraction, else about how much.

    >>> [format_amount(Fraction(text)) for text in ("0.4", "1e-7", "1/3", "20")]
    ['0.4', '1e-7', '1/3', '20']
    >>> format_amount(Fraction(10**30 + 1, 3 * 10**30))
    'about 0.333333'
    """
    if _bits(value) <= _MOST_BITS and _is_decimal(value.denominator):
        with localcontext() as context:
            context.prec = 2 * _MOST_BITS
            exact = (Decimal(value.numerator) / value.denominator).normalize()
        if len(exact.as_tuple().digits) <= 15 and abs(exact.adjusted()) < 15:
            small = exact.adjusted() < -4
            return f"{exact:e}" if small else f"{exact:f}"
    if _bits(value) <= 60:
        return str(value)
    return _about(value)


def _read(text: str) -> Fraction:
    short = text.strip()
    if len(short) > _LONGEST or not _NUMBER.fullmatch(short):
        raise UsageError(f'"{short[:40]}" is no exact number', hint=_HINT)
    if re.fullmatch(r".*/0+", short):
        raise UsageError(f'"{short[:40]}" divides by zero', hint=_HINT)
    return Fraction(short)


def _exact(value: Fraction, name: str) -> Fraction:
    if type(value) not in (int, Fraction):  # a float is not exact, and True no number
        raise UsageError(
            f"{name} is {value!r}, which is not exact", hint=f"a Fraction, as read_{name} gives"
        )
    found = Fraction(value)
    if _bits(found) > _MOST_BITS:
        raise UsageError(f"{name} has too many digits", hint=_HINT)
    return found


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _is_decimal(denominator: int) -> bool:
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator == 1


def _about(value: Fraction) -> str:
    try:
        return f"about {float(value):.6g}"
    except OverflowError:
        return "more than 1e308"
