"""Numbers of bank accounts (ISO 13616): a country, its length, and check digits modulo 97."""

from __future__ import annotations

import polars as pl

__all__ = ["IBAN", "is_iban"]

# Countries by the length of their numbers; a text that only looks like one seldom fits.
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
_NUMBERS = {chr(ord("a") + place): str(10 + place) for place in range(26)}
_LEAST_DIGITS = 10  # some banks have letters, words have no digits
_STEP = 12  # digits that are divided at once
_MOST = 2 * 34


def is_iban(column: pl.Expr) -> pl.Expr:
    """Return whether a text holds a number whose check digits are right.

    >>> texts = pl.Series("q", ["gb33 bukb 2020 1555 5555 55", "gb33bukb20201555555556"])
    >>> pl.select(is_iban(pl.lit(texts))).to_series().to_list()
    [True, False]
    """
    # Words may follow it without a sign between: as many signs as the country has count.
    joined = pl.element().str.replace_all("[ -]", "").str.extract(f"({_SHAPE})")
    return column.str.extract_all(IBAN).list.eval(_checks(joined).fill_null(False)).list.any()


def _checks(number: pl.Expr) -> pl.Expr:
    turned = number.str.slice(4) + number.str.slice(0, 4)
    digits = turned.str.replace_many(_NUMBERS)
    rest = pl.lit(0, pl.Int64)
    for start in range(0, _MOST, _STEP):
        part = digits.str.slice(start, _STEP)
        value = part.cast(pl.Int64, strict=False).fill_null(0)
        rest = (rest * pl.lit(10, pl.Int64).pow(part.str.len_chars()) + value) % 97
    enough = number.str.count_matches("[0-9]") >= _LEAST_DIGITS
    return enough & (rest == 1)
