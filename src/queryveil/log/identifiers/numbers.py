"""Check digits of tax and identity numbers, as expressions on texts of one length.

Each function takes normalized numbers: lower case, without gaps. Numbers that are too short give
null, which counts as invalid.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_DNI_LETTERS = "trwagmyfpdxbnjzsqvhlcke"
_CIF_LETTERS = "jabcdefghi"
_ODD = dict(
    zip(
        "0123456789abcdefghijklmnopqrstuvwxyz",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3,
         6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
        strict=True,
    )
)  # fmt: skip
_EVEN = {sign: int(sign, 36) - (10 if sign.isalpha() else 0) for sign in _ODD}


def digit(number: pl.Expr, place: int) -> pl.Expr:
    """Return the digit at a place, or null."""
    return number.str.slice(place, 1).cast(pl.Int64, strict=False)


def weigh(number: pl.Expr, weights: Sequence[int]) -> pl.Expr:
    """Return the sum of the first digits, each times its weight."""
    terms = [digit(number, place) * weight for place, weight in enumerate(weights)]
    return pl.sum_horizontal(terms, ignore_nulls=False)


def value(number: pl.Expr, start: int, length: int | None = None) -> pl.Expr:
    """Return a part of a number as an integer, or null."""
    return number.str.slice(start, length).cast(pl.Int64, strict=False)


def passes_luhn_left(number: pl.Expr, length: int) -> pl.Expr:
    """Return whether the first digits pass the Luhn check.

    >>> pl.select(passes_luhn_left(pl.lit("8112189876"), 10)).item()
    True
    """
    total = pl.lit(0, pl.Int64)
    for place in range(length):
        term = digit(number, place) * (2 - (length - place) % 2)
        total += term // 10 + term % 10
    return total % 10 == 0


def passes_mod_11_10(number: pl.Expr, length: int) -> pl.Expr:
    """Return whether a number has the check digit of ISO 7064 modulo 11, 10.

    >>> pl.select(passes_mod_11_10(pl.lit("36574261809"), 11)).item()
    True
    """
    product = pl.lit(10, pl.Int64)
    for place in range(length - 1):
        # A sum of 0 counts as 10. Each term is used once: an expression is a tree.
        product = 2 * ((digit(number, place) + product + 9) % 10 + 1) % 11
    return (11 - product) % 10 == digit(number, length - 1)


def is_german_tax_id(number: pl.Expr) -> pl.Expr:
    """Return whether 11 digits are a tax number of Germany: one digit repeats, the check fits."""
    counts = [number.str.slice(0, 10).str.count_matches(str(sign)) for sign in range(10)]
    repeated = pl.sum_horizontal([(count > 1).cast(pl.Int64) for count in counts])
    fits = (repeated == 1) & (pl.max_horizontal(counts) <= 3)
    return fits & ~number.str.starts_with("0") & passes_mod_11_10(number, 11)


def is_french_nir(number: pl.Expr) -> pl.Expr:
    """Return whether 15 signs are a social security number of France (modulo 97)."""
    body = number.str.replace("^(.{5})2a", "${1}19").str.replace("^(.{5})2b", "${1}18")
    return 97 - value(body, 0, 13) % 97 == value(body, 13, 2)


def is_spanish_id(number: pl.Expr) -> pl.Expr:
    """Return whether signs are a DNI or NIE of Spain: the letter is the remainder by 23."""
    digits = number.str.replace("^x", "0").str.replace("^y", "1").str.replace("^z", "2")
    letter = (value(digits, 0, 8) % 23).replace_strict(
        range(23), list(_DNI_LETTERS), default=None, return_dtype=pl.String
    )
    return letter == number.str.slice(8, 1)


def is_spanish_company(number: pl.Expr) -> pl.Expr:
    """Return whether signs are a CIF of Spain: a letter, seven digits, a digit or letter."""
    total = pl.lit(0, pl.Int64)
    for place in range(1, 8):
        term = digit(number, place) * (1 + place % 2)
        total += term // 10 + term % 10
    check = (10 - total % 10) % 10
    letter = check.replace_strict(
        range(10), list(_CIF_LETTERS), default=None, return_dtype=pl.String
    )
    last = number.str.slice(8, 1)
    return (last == check.cast(pl.String)) | (last == letter)


def is_codice_fiscale(number: pl.Expr) -> pl.Expr:
    """Return whether 16 signs are a codice fiscale of Italy, by its check letter."""
    total = pl.lit(0, pl.Int64)
    for place in range(15):
        table = _EVEN if place % 2 else _ODD
        sign = number.str.slice(place, 1)
        total += sign.replace_strict(table, default=None, return_dtype=pl.Int64)
    last = number.str.slice(15, 1).replace_strict(_EVEN, default=None, return_dtype=pl.Int64)
    return total % 26 == last


def is_nhs_number(number: pl.Expr) -> pl.Expr:
    """Return whether 10 digits are a number of the NHS (modulo 11)."""
    check = 11 - weigh(number, range(10, 1, -1)) % 11
    return pl.when(check == 11).then(0).otherwise(check) == digit(number, 9)


def is_bsn(number: pl.Expr) -> pl.Expr:
    """Return whether 9 digits are a BSN of the Netherlands (modulo 11)."""
    return (weigh(number, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0) & (value(number, 0, 9) > 0)


def is_pesel(number: pl.Expr) -> pl.Expr:
    """Return whether 11 digits are a PESEL of Poland: a date of birth and a check digit."""
    check = (10 - weigh(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10) % 10
    return _is_date(value(number, 4, 2), value(number, 2, 2) % 20) & (check == digit(number, 10))


def is_personnummer(number: pl.Expr) -> pl.Expr:
    """Return whether 10 digits are a personnummer of Sweden: a date of birth, Luhn."""
    return _is_date(value(number, 4, 2), value(number, 2, 2)) & passes_luhn_left(number, 10)


def is_cpr(number: pl.Expr) -> pl.Expr:
    """Return whether 10 digits begin with a date, as a CPR of Denmark; it has no check digit."""
    return _is_date(value(number, 0, 2), value(number, 2, 2))


def is_belgian_id(number: pl.Expr) -> pl.Expr:
    """Return whether 11 digits are a national number of Belgium (modulo 97)."""
    body, check = value(number, 0, 9), value(number, 9, 2)
    fits = (97 - body % 97 == check) | (97 - (body + 2_000_000_000) % 97 == check)
    return fits & _is_date(value(number, 4, 2), value(number, 2, 2))


def is_portuguese_nif(number: pl.Expr) -> pl.Expr:
    """Return whether 9 digits are a NIF of Portugal (modulo 11)."""
    check = 11 - weigh(number, range(9, 1, -1)) % 11
    return pl.when(check > 9).then(0).otherwise(check) == digit(number, 8)


def is_french_vat(number: pl.Expr) -> pl.Expr:
    """Return whether 11 digits are a VAT number of France: a key, and a SIREN that passes Luhn."""
    siren = value(number, 2, 9)
    fits = (12 + 3 * (siren % 97)) % 97 == value(number, 0, 2)
    return fits & passes_luhn_left(number.str.slice(2), 9)


def is_british_vat(number: pl.Expr) -> pl.Expr:
    """Return whether 9 digits are a VAT number of the United Kingdom (modulo 97)."""
    total = weigh(number, (8, 7, 6, 5, 4, 3, 2, 10, 1)) % 97
    return (total == 0) | (total.is_in([42, 55]) & (value(number, 0, 3) >= 100))


def is_italian_vat(number: pl.Expr) -> pl.Expr:
    """Return whether 11 digits are a VAT number of Italy: a province, and Luhn."""
    province = value(number, 7, 3)
    fits = province.is_between(1, 100) | province.is_in([120, 121, 888, 999])
    return fits & (value(number, 0, 7) > 0) & passes_luhn_left(number, 11)


def _is_date(day: pl.Expr, month: pl.Expr) -> pl.Expr:
    return day.is_between(1, 31) & month.is_between(1, 12)
