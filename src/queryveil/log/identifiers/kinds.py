"""The kinds of identifiers, and how each is recognized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from ...lexicons.people import KNOWN_NAME, OTHER_NAME
from .check_digits import IBAN, is_iban, passes_luhn
from .countries import EUROPEAN_PHONE, EUROPEAN_STREET
from .national import NATIONAL_IDS, VAT_NUMBERS, any_pattern, has_number
from .patterns import (
    CARD,
    CARD_SHAPES,
    DIGIT,
    EMAIL,
    IP,
    ISSUER,
    LONG_VALUE,
    NOT_PHONE,
    NOT_STREET,
    PHONE,
    PRIVATE,
    RANDOM,
    SECRET_URL,
    SSN,
    STREET,
    URL,
)

Test = Callable[[pl.Expr], pl.Expr]


@dataclass(frozen=True, slots=True)
class IdentifierKind:
    """A kind of identifier: its name, its title in reports, and an example."""

    name: str
    title: str
    example: str


@dataclass(frozen=True, slots=True)
class PatternKind(IdentifierKind):
    """A kind that is recognized by patterns: a query must match all of them and pass the test.

    Each pattern leaves fewer rows for the next one and for the test: the cheapest comes first.
    """

    patterns: tuple[str, ...]
    test: Test = pl.Expr.is_not_null

    def search(self, texts: pl.Series) -> pl.Series:
        """Return whether each text, in the form of `plain`, has such an identifier: never null."""
        # By rows that are left, because an expression cannot skip rows and would be slower.
        query = pl.col("query")
        rows = texts.alias("query").to_frame().with_row_index("row")
        for pattern in self.patterns:
            rows = rows.filter(query.str.contains(pattern))
        if not rows.height:
            return pl.repeat(False, len(texts), eager=True)
        indices = rows.filter(self.test(query))["row"]
        return pl.repeat(False, len(texts), eager=True).scatter(indices, True)


def _match_without(pattern: str, excluded: str) -> Test:
    """Return a test for a pattern that ignores matches of `excluded`."""
    return lambda column: column.str.replace_all(excluded, " ").str.contains(pattern)


def _has_card(column: pl.Expr) -> pl.Expr:
    digits = pl.element().str.replace_all("[^0-9]", "")
    candidates = pl.concat_list(column.str.extract_all(shape) for shape in CARD_SHAPES)
    return candidates.list.eval(digits.str.contains(ISSUER) & passes_luhn(digits)).list.any()


def _has_secret(column: pl.Expr) -> pl.Expr:
    values = column.str.replace_all("://", " ").str.extract_all(LONG_VALUE)
    random = values.list.eval(pl.element().str.contains(RANDOM)).list.any()
    return column.str.contains(SECRET_URL) | random


PATTERN_KINDS: tuple[PatternKind, ...] = (
    PatternKind("email", "e-mail address", "jane.doe@mail.example", ("@", EMAIL)),
    PatternKind(
        "phone",
        "phone number",
        "212-555-0123",
        (DIGIT, f"{PHONE}|{EUROPEAN_PHONE}"),
        _match_without(f"{PHONE}|{EUROPEAN_PHONE}", NOT_PHONE),
    ),
    PatternKind("card", "payment card number", "4111 1111 1111 1111", (DIGIT, CARD), _has_card),
    PatternKind(
        "iban", "bank account (IBAN)", "gb33 bukb 2020 1555 5555 55", (DIGIT, IBAN), is_iban
    ),
    PatternKind("ssn", "US social security number", "078-05-1120", (DIGIT, SSN)),
    PatternKind(
        "url-token", "web address with a secret", "a.example/?token=b7", ("[/=]", URL), _has_secret
    ),
    PatternKind("ip", "internet address", "203.0.113.7", (DIGIT, IP), _match_without(IP, PRIVATE)),
    PatternKind(
        "street",
        "street address",
        "12 main st",
        (DIGIT, f"{STREET}|{EUROPEAN_STREET}"),
        _match_without(f"{STREET}|{EUROPEAN_STREET}", NOT_STREET),
    ),
    PatternKind(
        "national-id",
        "national identity number",
        "00000001r",
        (DIGIT, any_pattern(NATIONAL_IDS)),
        has_number(NATIONAL_IDS),
    ),
    PatternKind(
        "vat",
        "VAT number",
        "de100000008",
        (DIGIT, any_pattern(VAT_NUMBERS)),
        has_number(VAT_NUMBERS),
    ),
)


@dataclass(frozen=True, slots=True)
class NameKind(IdentifierKind):
    """A kind of full names: `code` is what `classify_names` returns for it."""

    code: int


NAME = NameKind("name", "person's full name", "rosalind kowalczyk", OTHER_NAME)
# Released where enough users sent it: see `screening`. It is no identifier in a release.
KNOWN = NameKind("known-name", "full name of a known person", "abraham lincoln", KNOWN_NAME)
NAME_KINDS = (NAME, KNOWN)

IDENTIFIER_KINDS: tuple[IdentifierKind, ...] = (*PATTERN_KINDS, *NAME_KINDS)
