"""Check digits: IBAN (modulo 97) and payment cards (Luhn)."""

from __future__ import annotations

import polars as pl

# Countries by the length of their IBANs; other texts rarely have the right length.
_LENGTHS = {
    15: "no", 16: "be", 18: "dk fi fk fo gl nl sd", 19: "mk si", 20: "at ba ee kz lt lu mn xk",
    21: "ch hr li lv", 22: "bg bh cr de gb ge ie me rs va", 23: "ae gi il iq om so tl",
    24: "ad cz es md pk ro sa se sk tn vg", 25: "ly pt st", 26: "is tr",
    27: "bi dj fr gr it mc mr sm", 28: "al az by cy do gt hn hu lb ni pl sv",
    29: "br eg ps qa ua", 30: "jo kw mu ye", 31: "mt sc", 32: "lc", 33: "ru",
}  # fmt: skip
_COUNTRIES = "|".join(" ".join(_LENGTHS.values()).split())
_GAP = "[ -]?"
_IBAN_EDGE = r"(?-u:\b)"
_REST = rf"(?:[0-9a-z]{{1,4}}{_GAP}){{2,7}}[0-9a-z]{{1,4}}"
IBAN = rf"{_IBAN_EDGE}(?:{_COUNTRIES}){_GAP}[0-9]{{2}}{_GAP}{_REST}{_IBAN_EDGE}"
_SHAPE = "|".join(
    rf"^(?:{countries.replace(' ', '|')})[0-9]{{2}}[0-9a-z]{{{length - 4}}}"
    for length, countries in _LENGTHS.items()
)
_LETTER_VALUES = {chr(ord("a") + index): str(10 + index) for index in range(26)}
_MIN_DIGITS = 10  # bank codes may have letters, but words have no digits
_STEP = 12  # digits that are divided at once, so that 64 bits suffice
_MAX_DIGITS = 2 * 34


def is_iban(column: pl.Expr) -> pl.Expr:
    """Return whether a text has an IBAN with valid check digits (ISO 13616, modulo 97).

    >>> texts = pl.Series("q", ["gb33 bukb 2020 1555 5555 55", "gb33bukb20201555555556"])
    >>> pl.select(is_iban(pl.lit(texts))).to_series().to_list()
    [True, False]
    """
    # Words may follow without a separator: take as many characters as the country has.
    joined = pl.element().str.replace_all("[ -]", "").str.extract(f"({_SHAPE})")
    return (
        column.str.extract_all(IBAN)
        .list.eval(_has_valid_check_digits(joined).fill_null(False))
        .list.any()
    )


def _has_valid_check_digits(number: pl.Expr) -> pl.Expr:
    rotated = number.str.slice(4) + number.str.slice(0, 4)
    digits = rotated.str.replace_many(_LETTER_VALUES)
    remainder = pl.lit(0, pl.Int64)
    for start in range(0, _MAX_DIGITS, _STEP):
        part = digits.str.slice(start, _STEP)
        value = part.cast(pl.Int64, strict=False).fill_null(0)
        remainder = (remainder * pl.lit(10, pl.Int64).pow(part.str.len_chars()) + value) % 97
    has_digits = number.str.count_matches("[0-9]") >= _MIN_DIGITS
    return has_digits & (remainder == 1)


def passes_luhn(digits: pl.Expr) -> pl.Expr:
    """Return whether numbers of up to 19 digits have a valid Luhn check digit.

    >>> pl.select(passes_luhn(pl.lit("4111111111111111"))).item()
    True
    """
    number = digits.cast(pl.UInt64, strict=False)
    values = [number // 10**power % 10 for power in range(19)]
    doubled = [2 * digit // 10 + 2 * digit % 10 for digit in values[1::2]]
    return pl.sum_horizontal(values[::2] + doubled) % 10 == 0
