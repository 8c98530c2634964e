"""Detect identifiers in queries: patterns with check digits, and full names of people.

The rules miss rare names, most addresses, account names, anything misspelled; and they flag some
harmless numbers and titles. A query that none of them flags may still name a person: a clean
result is not a guarantee. Texts are normalized by `plain` first, so that simple variations of
spelling do not hide an identifier.

>>> import polars as pl
>>> flags = flag_identifiers(pl.Series(["cheap flights", "call 212-555-0123 jane@mail.example"]))
>>> [kind.name for kind in IDENTIFIER_KINDS if flags[kind.name].any()]
['email', 'phone']
"""

from .check_digits import IBAN, is_iban, passes_luhn
from .detection import flag_identifiers, kinds_of, kinds_of_urls
from .kinds import IDENTIFIER_KINDS, KNOWN, NAME, IdentifierKind
from .masking import mask, mask_identifiers
from .normalization import plain, plain_url

__all__ = [
    "IBAN",
    "IDENTIFIER_KINDS",
    "KNOWN",
    "NAME",
    "IdentifierKind",
    "flag_identifiers",
    "is_iban",
    "kinds_of",
    "kinds_of_urls",
    "mask",
    "mask_identifiers",
    "passes_luhn",
    "plain",
    "plain_url",
]
