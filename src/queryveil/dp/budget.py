"""Epsilon and delta as exact fractions: parsed, checked and formatted without floats."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

from ..errors import UsageError

_HINT = "write 0.1, 1e-7 or 1/3"
# At most three digits of exponent: "1e999999999" would fill the memory.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?|[+-]?[0-9]+/[0-9]+")
# The stored form: integers, fractions, or decimals of few digits. More would fill the memory too.
_STORED = re.compile(r"[0-9]{1,1300}(/[0-9]{1,1300})?|[0-9.]{1,40}(E[+-]?[0-9]{1,4})?")
_MAX_LENGTH = 200  # characters of a number that a user types
_MAX_BITS = 4000  # of a numerator or denominator: Python refuses to format longer integers


def parse_epsilon(text: str) -> Fraction:
    """Parse an epsilon, exactly.

    >>> parse_epsilon("0.1"), parse_epsilon("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    return check_epsilon(_parse_number(text))


def parse_delta(text: str) -> Fraction:
    """Parse a delta, exactly; 0 is allowed.

    >>> parse_delta("1e-7"), parse_delta("0")
    (Fraction(1, 10000000), Fraction(0, 1))
    """
    return check_delta(_parse_number(text))


def check_epsilon(value: Fraction) -> Fraction:
    """Return epsilon as a Fraction; raise UsageError unless it is exact and above 0."""
    epsilon = _check_exact(value, "epsilon")
    if epsilon <= 0:
        raise UsageError(f"epsilon is {format_amount(epsilon)}", hint="a number above 0")
    return epsilon


def check_delta(value: Fraction) -> Fraction:
    """Return delta as a Fraction; raise UsageError unless it is exact, from 0 and below 1."""
    delta = _check_exact(value, "delta")
    if not 0 <= delta < 1:
        raise UsageError(f"delta is {format_amount(delta)}", hint="a number from 0, and below 1")
    return delta


def format_exact(value: Fraction) -> str:
    """Return the stored form: an integer, or numerator and denominator with a slash.

    >>> format_exact(Fraction("0.1")), format_exact(Fraction(2))
    ('1/10', '2')
    """
    # A sum of many fractions can have more digits than Python agrees to write.
    return str(value) if _bits(value) <= 3 * _MAX_BITS else format_amount(value)


def stored_amount(text: str) -> Fraction:
    """Parse an amount in its stored form; raise UsageError if the text has another form.

    >>> stored_amount("1/10"), stored_amount("4.5E-10") == Fraction("4.5e-10")
    (Fraction(1, 10), True)
    """
    if not _STORED.fullmatch(text):
        raise UsageError(f'"{text[:40]}" is not a stored amount')
    return Fraction(text)


def format_amount(value: Fraction) -> str:
    """Return a readable form: a short decimal, else a fraction, else a rounded value.

    >>> [format_amount(Fraction(text)) for text in ("0.4", "1e-7", "1/3", "20")]
    ['0.4', '1e-7', '1/3', '20']
    >>> format_amount(Fraction(10**30 + 1, 3 * 10**30))
    'about 0.333333'
    """
    if _bits(value) <= _MAX_BITS and _is_decimal(value.denominator):
        with localcontext() as context:
            context.prec = 2 * _MAX_BITS
            exact = (Decimal(value.numerator) / value.denominator).normalize()
        if len(exact.as_tuple().digits) <= 15 and abs(exact.adjusted()) < 15:
            small = exact.adjusted() < -4
            return f"{exact:e}" if small else f"{exact:f}"
    if _bits(value) <= 60:
        return str(value)
    return _format_rounded(value)


def _parse_number(text: str) -> Fraction:
    short = text.strip()
    if len(short) > _MAX_LENGTH or not _NUMBER.fullmatch(short):
        raise UsageError(f'"{short[:40]}" is no exact number', hint=_HINT)
    if re.fullmatch(r".*/0+", short):
        raise UsageError(f'"{short[:40]}" divides by zero', hint=_HINT)
    return Fraction(short)


def _check_exact(value: Fraction, name: str) -> Fraction:
    if type(value) not in (int, Fraction):  # a float is not exact, and a bool is no number
        raise UsageError(
            f"{name} must be a Fraction or an int, got {value!r}, which is not exact",
            hint=f"parse_{name} makes a Fraction of a text",
        )
    exact = Fraction(value)
    if _bits(exact) > _MAX_BITS:
        raise UsageError(f"{name} has too many digits", hint=_HINT)
    return exact


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _is_decimal(denominator: int) -> bool:
    """Return whether fractions with this denominator are finite decimals."""
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator == 1


def _format_rounded(value: Fraction) -> str:
    try:
        return f"about {float(value):.6g}"
    except OverflowError:
        return "more than 1e308"
