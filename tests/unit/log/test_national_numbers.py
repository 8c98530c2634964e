"""Identity and VAT numbers of European countries: check digits, names that are needed, harmless.

Every number is made up: zeros, and the check digits that belong to them.
"""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.log.identifiers import IDENTIFIER_KINDS, flag_identifiers, kinds_of, mask

NATIONAL = [
    "steuer-id 12 345 678 911", "steuernummer 12345678911",
    "1 01 01 99 000 001 56", "101019900000156",
    "00000001r", "00000001-r", "x0000001r", "dni 00000001r madrid",
    "aaaaaa00a01a000h", "codice fiscale AAAAAA00A01A000H",
    "jz 00 00 01 a", "jz000001a",
    "nhs number 999 000 0018", "nhs 9990000018",
    "bsn 1234.56.782", "burgerservicenummer: 123456782",
    "pesel 00010100008", "00010100008",
    "000101-0008", "20000101-0008",
    "010100-0001", "cpr 010100 0001",
    "00.01.01-001.05", "00010100105",
    "nif 100000002", "contribuinte 100 000 002",
]  # fmt: skip
NOT_NATIONAL = [
    "steuer-id 12 345 678 912", "12345678911", "101019900000157", "00000001s", "x0000001s",
    "aaaaaa00a01a000i", "gb 00 00 01 a", "nhs number 999 000 0019", "9990000018", "bsn 123456783",
    "123456782", "00010100009", "00990100008", "000101-0009", "990199-0001", "00.01.01-001.06",
    "nif 100000003", "100000002", "windows 10", "2006 03 01", "wd40", "iphone 14 128gb",
    "isbn 9780131103627", "0-13-110362-8", "12345678 seconds", "kb4512345", "rtx 3080 10 gb",
]  # fmt: skip
VAT = [
    "de100000008", "de 100 000 008", "ust-id DE100000008", "fr66000000018", "fr 66 000 000 018",
    "gb100000034", "gb 100 0000 34", "es00000001r", "esx0000001r", "esa00000018", "it00000010017",
]  # fmt: skip
NOT_VAT = [
    "de100000009", "fr67000000018", "gb100000035", "esa00000019", "it00000010018", "100000008",
    "de 2006", "gb 16", "fr 66",
]  # fmt: skip


def kinds(texts: list[str]) -> list[str | None]:
    numbers = kinds_of(pl.Series(texts))
    return [None if number is None else IDENTIFIER_KINDS[number].name for number in numbers]


@pytest.mark.parametrize(
    ("kind", "valid", "invalid"),
    [("national-id", NATIONAL, NOT_NATIONAL), ("vat", VAT, NOT_VAT)],
)
def test_check_digits_decide(kind: str, valid: list[str], invalid: list[str]) -> None:
    flags = flag_identifiers(pl.Series([*valid, *invalid]))[kind]
    assert [text for text, flag in zip(valid, flags, strict=False) if not flag] == []
    missed = zip(invalid, flags[len(valid) :], strict=True)
    assert [text for text, flag in missed if flag] == []


def test_masked_numbers_are_clean() -> None:
    masked = mask(pl.Series([*NATIONAL, *VAT]))
    assert kinds_of(masked).is_null().all()
    assert not masked.str.contains("[0-9]").any()


PHONES = [
    "089 1234567", "089/1234567", "0171 1234567", "0171-12345678", "(030) 123456", "01 23 45 67 89",
    "01.23.45.67.89", "0612345678", "020 7946 0958", "07700 900123", "01632 960001", "612 345 678",
    "91 234 56 78", "347 1234567", "06 12345678", "telefon 040 123456",
]  # fmt: skip
STREETS = [
    "hauptstr. 12 80331 m\u00fcnchen", "hauptstra\u00dfe 12", "Hauptstrasse 5a", "berliner str. 7",
    "marktplatz 3 bremen", "12 rue de la paix paris", "3 bis rue victor hugo", "221b baker street",
    "10 avenue des champs", "calle mayor 5", "avenida de la constituci\u00f3n 12", "via roma 10",
    "via giuseppe verdi 3, milano", "piazza garibaldi 4", "742 evergreen terrace",
]  # fmt: skip
HARMLESS = [
    "spring 2024", "02139-4307", "0800", "rue 21", "calle 13", "via rail 6 day trip", "string 5",
    "flights to rome via london 5 days", "boulevard 12", "12 place settings", "plaza hotel 2006",
    "12 avenue q songs", "3 rue", "007 goldeneye", "weg 5", "01/03/2006", "0 60 mph",
    "2001 2002 2003", "65 roses", "corso 2019 opel", "allee 2000 movie",
]  # fmt: skip


def test_phones_and_streets_of_europe() -> None:
    assert kinds([*PHONES]) == ["phone"] * len(PHONES)
    assert kinds([*STREETS]) == ["street"] * len(STREETS)
    assert dict(zip(HARMLESS, kinds(HARMLESS), strict=True)) == dict.fromkeys(HARMLESS)
