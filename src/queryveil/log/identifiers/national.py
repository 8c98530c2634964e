"""Identity numbers and VAT numbers of European countries: their forms, with their check digits.

A number whose form and check digit are weak counts only after its name ("bsn 123456782"): one of
ten or eleven product numbers of the same length would pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from . import numbers

_EDGE = r"(?-u:\b)"
_GAP = "[ .-]?"
_BETWEEN = "[^0-9]{0,12}"


@dataclass(frozen=True, slots=True)
class NumberRule:
    """The form of a number in a text, what to take out of it, and its check.

    Attributes:
        pattern: Finds the number, with its name if it needs one.
        part: The signs of the number, after blanks, dots, slashes and hyphens were removed.
    """

    pattern: str
    part: str
    check: Callable[[pl.Expr], pl.Expr]

    def matches(self, column: pl.Expr) -> pl.Expr:
        """Return whether each text has such a number."""
        joined = pl.element().str.replace_all("[ ./+-]", "").str.extract(f"({self.part})$")
        valid = self.check(joined).fill_null(False)
        return column.str.extract_all(self.pattern).list.eval(valid).list.any()


_DATE = rf"[0-9]{{2}}{_GAP}[0-9]{{2}}{_GAP}[0-9]{{2}}"
_NINO = "[abceghj-prstw-z][abceghj-nprstw-z]"
_NO_NINO = "^(?:bg|gb|kn|nk|nt|tn|zz)"
_TAX_ID = r"(?:steuer-?(?:id|nr|nummer|identifikationsnummer)|idnr|tax id)"

NATIONAL_IDS = (
    # Germany
    NumberRule(
        rf"{_TAX_ID}{_BETWEEN}[0-9]{{2}} ?[0-9]{{3}} ?[0-9]{{3}} ?[0-9]{{3}}{_EDGE}",
        "[0-9]{11}",
        numbers.is_german_tax_id,
    ),
    # France
    NumberRule(
        rf"{_EDGE}[1278]{_GAP}[0-9]{{2}}{_GAP}[0-9]{{2}}{_GAP}[0-9][0-9ab]{_GAP}[0-9]{{3}}{_GAP}"
        rf"[0-9]{{3}}{_GAP}[0-9]{{2}}{_EDGE}",
        "[0-9]{6}[0-9ab][0-9]{8}",
        numbers.is_french_nir,
    ),
    # Spain: DNI, NIE
    NumberRule(
        rf"{_EDGE}(?:[0-9]{{8}}|[xyz]{_GAP}[0-9]{{7}}){_GAP}[a-z]{_EDGE}",
        "[0-9xyz][0-9]{7}[a-z]",
        numbers.is_spanish_id,
    ),
    # Italy
    NumberRule(
        rf"{_EDGE}[a-z]{{6}}[0-9]{{2}}[a-ehlmprst][0-9]{{2}}[a-z][0-9]{{3}}[a-z]{_EDGE}",
        "[a-z]{6}[0-9]{2}[a-z][0-9]{2}[a-z][0-9]{3}[a-z]",
        numbers.is_codice_fiscale,
    ),
    # United Kingdom: national insurance number, which has no check digit, and number of the NHS
    NumberRule(
        rf"{_EDGE}{_NINO} ?[0-9]{{2}} ?[0-9]{{2}} ?[0-9]{{2}} ?[a-d]{_EDGE}",
        "[a-z]{2}[0-9]{6}[a-d]",
        lambda number: ~number.str.contains(_NO_NINO),
    ),
    NumberRule(
        rf"nhs{_BETWEEN}[0-9]{{3}}[ -]?[0-9]{{3}}[ -]?[0-9]{{4}}{_EDGE}",
        "[0-9]{10}",
        numbers.is_nhs_number,
    ),
    # Netherlands
    NumberRule(
        rf"(?:bsn|burgerservicenummer|sofinummer){_BETWEEN}[0-9]{{4}}{_GAP}[0-9]{{2}}{_GAP}"
        rf"[0-9]{{3}}{_EDGE}",
        "[0-9]{9}",
        numbers.is_bsn,
    ),
    # Poland
    NumberRule(rf"{_EDGE}[0-9]{{11}}{_EDGE}", "[0-9]{11}", numbers.is_pesel),
    # Sweden: with its hyphen, or with the century
    NumberRule(
        rf"{_EDGE}(?:(?:19|20)?[0-9]{{6}}[-+][0-9]{{4}}|(?:19|20)[0-9]{{10}}){_EDGE}",
        "[0-9]{10}",
        numbers.is_personnummer,
    ),
    # Denmark: with its hyphen, or after its name
    NumberRule(
        rf"{_EDGE}(?:[0-9]{{6}}-[0-9]{{4}}|cpr{_BETWEEN}[0-9]{{6}} ?[0-9]{{4}}){_EDGE}",
        "[0-9]{10}",
        numbers.is_cpr,
    ),
    # Belgium
    NumberRule(
        rf"{_EDGE}{_DATE}{_GAP}[0-9]{{3}}{_GAP}[0-9]{{2}}{_EDGE}",
        "[0-9]{11}",
        numbers.is_belgian_id,
    ),
    # Portugal
    NumberRule(
        rf"(?:nif|contribuinte){_BETWEEN}[0-9]{{3}} ?[0-9]{{3}} ?[0-9]{{3}}{_EDGE}",
        "[0-9]{9}",
        numbers.is_portuguese_nif,
    ),
)

VAT_NUMBERS = (
    NumberRule(
        rf"{_EDGE}de ?[0-9]{{3}} ?[0-9]{{3}} ?[0-9]{{3}}{_EDGE}",
        "[0-9]{9}",
        lambda number: numbers.passes_mod_11_10(number, 9),
    ),
    NumberRule(
        rf"{_EDGE}fr ?[0-9]{{2}} ?[0-9]{{3}} ?[0-9]{{3}} ?[0-9]{{3}}{_EDGE}",
        "[0-9]{11}",
        numbers.is_french_vat,
    ),
    NumberRule(
        rf"{_EDGE}gb ?[0-9]{{3}} ?[0-9]{{4}} ?[0-9]{{2}}{_EDGE}",
        "[0-9]{9}",
        numbers.is_british_vat,
    ),
    NumberRule(
        rf"{_EDGE}es ?-?(?:[0-9]{{8}}|[xyz][0-9]{{7}})[a-z]{_EDGE}",
        "[0-9xyz][0-9]{7}[a-z]",
        numbers.is_spanish_id,
    ),
    NumberRule(
        rf"{_EDGE}es ?-?[abcdefghjnpqrsuvw][0-9]{{7}}[0-9a-j]{_EDGE}",
        "[a-w][0-9]{7}[0-9a-j]",
        numbers.is_spanish_company,
    ),
    NumberRule(
        rf"{_EDGE}it ?[0-9]{{11}}{_EDGE}",
        "[0-9]{11}",
        numbers.is_italian_vat,
    ),
)


def any_pattern(rules: tuple[NumberRule, ...]) -> str:
    """Return a pattern that matches the form of any of the numbers."""
    return "|".join(rule.pattern for rule in rules)


def has_number(rules: tuple[NumberRule, ...]) -> Callable[[pl.Expr], pl.Expr]:
    """Return a test for texts with a valid number of any of the rules."""
    return lambda column: pl.any_horizontal([rule.matches(column) for rule in rules])
