"""Detect identifier patterns in queries.

The patterns miss names, most addresses, account names, anything misspelled, and phone
numbers written without their country code outside North America; and they flag some
harmless numbers. A query that none of them flags may still name a person: a clean result
is not a guarantee. Texts are normalized by `plain` first, so that simple variations of
spelling do not hide an identifier.

>>> log = pl.DataFrame({"query": ["cheap flights", "call 212-555-0123 jane@mail.example"]})
>>> flags = log.select(flag_identifiers(pl.col("query")))
>>> [kind.name for kind in IDENTIFIER_KINDS if flags[kind.name].any()]
['email', 'phone']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

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


_AT = r" ?[(\[{<] ?(?:at|a|@) ?[)\]}>] ?|&(?:#0*64|#x0*40|commat);"
_DOT = r" ?[(\[{<] ?(?:dot|\.) ?[)\]}>] ?"
_SPELLED = r"([^ ]) at ((?:[\w-]+ dot )+\p{L}{2,})"
_ODD = rf"[^\x20-\x40\x5b-\x7e]|%[0-9a-f]{{2}}|{_AT}|{_DOT}| dot "
_UNSEEN = r"[\p{Cf}\x{34f}\x{115f}\x{1160}\x{3164}\x{fe00}-\x{fe0f}]"
_FOREIGN = r"[^\x00-\x7f]"
_ANY_DIGIT = r"[\p{Nd}&&[^0-9]]"
_DASH = r"[\p{Pd}\x{2212}]"
_STOP = r"[\x{3002}\x{2024}\x{b7}]"

_ESCAPES = {f"%{code:02x}": chr(code) for code in range(0x20, 0x7F)}

_FIRST, _LAST = 0x660, 0x1FBFF  # the range of all decimal digits beyond ASCII


def plain(texts: pl.Series) -> pl.Series:
    r"""Return texts in the normal form that the patterns expect.

    >>> plain(pl.Series(["cheap flights", "Jane(at)mail.example", "\uff12\uff11"])).to_list()
    ['cheap flights', 'jane@mail.example', '21']
    """
    odd = texts.str.contains(_ODD).fill_null(False).arg_true()
    return texts.scatter(odd, _normalize(texts.gather(odd))) if len(odd) else texts


def plain_url(urls: pl.Series) -> pl.Series:
    """Return URLs in the normal form that the patterns expect; a plus sign becomes a blank.

    >>> plain_url(pl.Series(["http://a.example/?to=Jane%40mail.example+now"])).to_list()
    ['http://a.example/?to=jane@mail.example now']
    """
    return plain(urls.str.replace_all("+", " ", literal=True))


def _normalize(texts: pl.Series) -> pl.Series:
    for _ in range(2):  # a text may be encoded twice
        if texts.str.contains("%", literal=True).any():
            texts = texts.str.replace_many(_ESCAPES, ascii_case_insensitive=True)
    if texts.str.contains(_FOREIGN).any():
        texts = texts.str.normalize("NFKC").str.replace_all(_UNSEEN, "")
        texts = texts.str.replace_all(_DASH, "-").str.replace_all(_STOP, ".")
    if texts.str.contains(_ANY_DIGIT).any():
        texts = texts.str.replace_many(_foreign_digits())
    texts = texts.str.to_lowercase().str.replace_all(r"\s+", " ")
    texts = texts.str.replace_all(_AT, "@").str.replace_all(_DOT, ".")
    spelled = texts.str.contains(_SPELLED)
    if not spelled.any():
        return texts
    addresses = texts.filter(spelled).str.replace_all(_SPELLED, "$1@$2")
    return texts.scatter(spelled.arg_true(), addresses.str.replace_all(" dot ", ".", literal=True))


@cache
def _foreign_digits() -> dict[str, str]:
    characters = map(chr, range(_FIRST, _LAST + 1))
    return {char: str(unicodedata.decimal(char)) for char in characters if char.isdecimal()}


Test = Callable[[pl.Expr], pl.Expr]


@dataclass(frozen=True, slots=True)
class IdentifierKind:
    """A kind of identifier: a query must match all its patterns and pass its test.

    Each pattern leaves fewer rows for the next one and for the test: the cheapest comes first.
    """

    name: str
    title: str
    example: str
    patterns: tuple[str, ...]
    test: Test = pl.Expr.is_not_null

    def extract(self, column: pl.Expr) -> pl.Expr:
        """Return whether each query has such an identifier: Booleans, never null."""
        # By batch, because an expression cannot skip rows and would be three times slower.
        return column.map_batches(self.search, return_dtype=pl.Boolean, is_elementwise=True)

    def search(self, batch: pl.Series) -> pl.Series:
        """Return whether each text of a column has such an identifier."""
        return self.find_in_plain(plain(batch))

    def find_in_plain(self, batch: pl.Series) -> pl.Series:
        """Return whether each text has such an identifier; `plain` was applied already."""
        query = pl.col("query")
        rows = batch.alias("query").to_frame().with_row_index("row")
        for pattern in self.patterns:
            rows = rows.filter(query.str.contains(pattern))
        indices = rows.filter(self.test(query))["row"]
        return pl.repeat(False, len(batch), eager=True).scatter(indices, True)


# The regex engine has no look-around, so the allowed neighbors of a number are spelled out:
# no letter, no digit, and no dot or hyphen that joins it to a digit.
_START = r"(?:^|[^0-9a-z.-]|(?:^|[^0-9])[.-])"
_END = r"(?:$|[^0-9a-z.-]|[.-](?:$|[^0-9]))"
_EDGE = r"(?-u:\b)"  # the Unicode word boundary is slow on text beyond ASCII

_ANY = "[0-9@=]"  # every identifier has one of these, and few other texts do
_DIGIT = "[0-9]"  # the first test for every number: most queries have no digit

# Also blanks beside the at sign and a missing dot, as in old logs.
_EMAIL = (
    r"[^ @] ?@ ?(?:[\w-]+\.)+\p{L}{2,}"
    r"|[^ @]@\p{L}[\w-]{2,}[ ,](?:com|net|org|edu|co uk|de|fr|es|it)\b"
)

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IP = rf"{_START}{_OCTET}(?:\.{_OCTET}){{3}}{_END}"
# Router and loopback addresses and netmasks are popular queries and identify nobody.
_PRIVATE = (
    rf"{_EDGE}(?:(?:0|10|127|255)\.[0-9]{{1,3}}|192\.168|169\.254|172\.(?:1[6-9]|2[0-9]|3[01]))"
    rf"(?:\.[0-9]{{1,3}}){{2}}{_EDGE}"
)

_SSN_AREA = "(?:00[1-9]|0[1-9][0-9]|[1-57-9][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])"
_SSN_GROUP = "(?:0[1-9]|[1-9][0-9])"
_SSN_SERIAL = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_SSN = "|".join(
    f"{_START}{_SSN_AREA}{gap}{_SSN_GROUP}{gap}{_SSN_SERIAL}{_END}" for gap in ("-", " ")
)
# Nine digits alone are ambiguous: they count only after the name of the number.
_SSN += rf"|(?:{_EDGE}ssn|social security)[^0-9]{{0,12}}[0-9]{{9}}{_END}"

# A card is written without gaps or in the groups embossed on it; 16 digits may be followed by
# three more that are either the card's own or its security code, so both readings are tried.
_FOURS = "[0-9]{4}(?:-[0-9]{4}){3}|[0-9]{4}(?: [0-9]{4}){3}"
_CARD_SHAPES = (
    rf"{_EDGE}(?:[0-9]{{13,19}}|{_FOURS}|[0-9]{{4}}[ -][0-9]{{6}}[ -][0-9]{{4,5}}){_EDGE}",
    rf"{_EDGE}(?:{_FOURS})[ -][0-9]{{3}}{_EDGE}",
    # In other groups, with other gaps, or beside a word: "visa4111.1111.1111.1111".
    r"(?:^|[^0-9a-z]|visa|card|amex)[0-9]{4,12}(?:[ ._-]{0,3}[0-9]{3,12}){0,3}(?:$|[^0-9a-z])",
)
_CARD = "[0-9]{4}(?:[ ._-]{0,3}[0-9]){9}"  # a necessary condition for all of them
_ISSUER = "|".join(
    (
        "^4[0-9]{12}(?:[0-9]{3}){0,2}$",  # Visa
        "^(?:5[1-5]|2[2-7])[0-9]{14}$",  # Mastercard
        "^3[47][0-9]{13}$",  # American Express
        "^3(?:0[0-5]|[689][0-9])[0-9]{11}$",  # Diners Club
        "^(?:35|5[06-8]|6[0-9])[0-9]{14,17}$",  # JCB, Maestro, Discover, UnionPay
    )
)

_PHONE = "|".join(
    (
        rf"{_START}(?:\+?1[ .-]?)?(?:\([2-9][0-9]{{2}}\)[ .-]?|[2-9][0-9]{{2}}[ ./-])"
        rf"[2-9][0-9]{{2}}[ .-]?[0-9]{{4}}{_END}",
        # Without gaps it must not be a part of a URL or of a product code.
        rf"(?:^|[^0-9a-z./_-])1?[2-9][0-9]{{2}}[2-9][0-9]{{6}}{_END}",
        # At least nine digits: "+2024-05-01" is a search operator with a date.
        r"(?:^|[^0-9a-z])\+[1-9](?:[ .()-]{0,2}[0-9]){8,14}(?:$|[^0-9])",
        # With two zeros in place of the plus sign a gap is needed: product codes begin so, too.
        r"(?:^|[^0-9a-z])00 ?[1-9][0-9]{0,2}[ .()-]{1,2}(?:[ .()-]{0,2}[0-9]){7,12}(?:$|[^0-9])",
        rf"{_START}[2-9][0-9]{{2}}(?: [*-] |[*_])[2-9][0-9]{{2}}(?: [*-] |[*_])[0-9]{{4}}{_END}",
    )
)
_NOT_PHONE = "|".join(
    (r"isbn(?:[ -]?1[03])?[: ]*[0-9x-]+", rf"{_EDGE}97[89][- ]?[0-9]{{10}}{_EDGE}", _FOURS, _IP)
)

_IBAN_PYTHON = IBAN.replace("(?-u:\\b)", r"\b")  # in the syntax of `re`

_HOST = r"(?:[a-z0-9]\.[a-z]{2,}|[0-9]\.[0-9]{1,3}|localhost)(?::[0-9]+)?"
_URL = rf"{_HOST}[/?#;]|://"
_NAMED = (  # a short name such as "key" counts only with a longer value
    r"(?:[a-z0-9_.-]*(?:token|secret|passw(?:or)?d|pwd|sess(?:ion)?[_-]?id|api[_-]?key|jwt)=[^ &]"
    r"|(?:sid|session|auth|(?:access|auth)?[_-]?key|(?:auth[_-]?)?code|sig|signature)=[^ &]{6})"
)
_SECRET_URL = rf"{_HOST}[/?#;](?:[^ ]*[/?&#;])?{_NAMED}|://[^ /@]*:[^ /@]+@"
_LONG_VALUE = r"[/=][a-z0-9_%+~.-]{20,}"
# Words rarely alternate with digits twice or have five consonants in a row; tokens do.
_KNOT = "[bcdfghjklmnpqrstvwxz]{5}"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-"
_RANDOM = rf"(?:[a-z]+[0-9]+){{2}}|{_KNOT}.*[0-9]|[0-9].*{_KNOT}|{_UUID}"

_SIDE = r"(?:(?:[nsew]|[ns][ew]|north|south|east|west)\.? )?"
_WORD = "(?:[a-z][a-z']+|[0-9]{1,3}(?:st|nd|rd|th)) "
_STREET = (  # "10 hotels bourbon street" is a list, so a small number allows one word only
    rf"\b(?:[1-9][0-9]{{2,4}} {_SIDE}(?:{_WORD}){{1,2}}|[1-9][0-9]? {_SIDE}{_WORD})"
    r"(?:st|street|ave?|avenue|blvd|boulevard|rd|road|ln|lane|dr|drive|ct|pkwy)\b"
)
_NOT_STREET = (
    r"\b(?:(?:hard|flash|thumb|disk|disc|usb|pen|wheel|test|state) drive"
    r"|st (?:louis|paul|petersburg|john|george|patrick|lucia|thomas|augustine|joseph|charles)"
    r"|dr (?:phil|oz|who|seuss|dre|house|pepper))"
)


def _match_without(pattern: str, excluded: str) -> Test:
    """Return a test for a pattern that ignores matches of `excluded`."""
    return lambda column: column.str.replace_all(excluded, " ").str.contains(pattern)


def passes_luhn(digits: pl.Expr) -> pl.Expr:
    """Return whether numbers of up to 19 digits have a valid Luhn check digit.

    >>> pl.select(passes_luhn(pl.lit("4111111111111111"))).item()
    True
    """
    number = digits.cast(pl.UInt64, strict=False)
    values = [number // 10**power % 10 for power in range(19)]
    doubled = [2 * digit // 10 + 2 * digit % 10 for digit in values[1::2]]
    return pl.sum_horizontal(values[::2] + doubled) % 10 == 0


def _has_card(column: pl.Expr) -> pl.Expr:
    digits = pl.element().str.replace_all("[^0-9]", "")
    candidates = pl.concat_list(column.str.extract_all(shape) for shape in _CARD_SHAPES)
    return candidates.list.eval(digits.str.contains(_ISSUER) & passes_luhn(digits)).list.any()


def _has_secret(column: pl.Expr) -> pl.Expr:
    values = column.str.replace_all("://", " ").str.extract_all(_LONG_VALUE)
    random = values.list.eval(pl.element().str.contains(_RANDOM)).list.any()
    return column.str.contains(_SECRET_URL) | random


IDENTIFIER_KINDS: tuple[IdentifierKind, ...] = (
    IdentifierKind("email", "e-mail address", "jane.doe@mail.example", ("@", _EMAIL)),
    IdentifierKind(
        "phone",
        "phone number",
        "212-555-0123",
        (_DIGIT, _PHONE),
        _match_without(_PHONE, _NOT_PHONE),
    ),
    IdentifierKind(
        "card", "payment card number", "4111 1111 1111 1111", (_DIGIT, _CARD), _has_card
    ),
    IdentifierKind(
        "iban", "bank account (IBAN)", "gb33 bukb 2020 1555 5555 55", (_DIGIT, IBAN), is_iban
    ),
    IdentifierKind("ssn", "US social security number", "078-05-1120", (_DIGIT, _SSN)),
    IdentifierKind(
        "url-token", "web address with a secret", "a.example/?token=b7", ("[/=]", _URL), _has_secret
    ),
    IdentifierKind(
        "ip", "internet address", "203.0.113.7", (_DIGIT, _IP), _match_without(_IP, _PRIVATE)
    ),
    IdentifierKind(
        "street",
        "street address",
        "12 main st",
        (_DIGIT, _STREET),
        _match_without(_STREET, _NOT_STREET),
    ),
)


def flag_identifiers(column: pl.Expr) -> list[pl.Expr]:
    """Return whether a query has an identifier of each kind: Booleans, named by kind.

    >>> table = pl.DataFrame({"q": ["078-05-1120", None]})
    >>> table.select(flag_identifiers(pl.col("q")))["ssn"].to_list()
    [True, False]
    """
    return [kind.extract(column).alias(kind.name) for kind in IDENTIFIER_KINDS]


def kinds_of(texts: pl.Series) -> pl.Series:
    """Return the index in `IDENTIFIER_KINDS` of the first kind in each text, or null.

    >>> kinds_of(pl.Series(["weather", "078-05-1120"])).to_list()
    [None, 4]
    """
    return _first_kind(plain(texts), texts)


def kinds_of_urls(urls: pl.Series) -> pl.Series:
    """Return the index in `IDENTIFIER_KINDS` of the first kind in each URL, or null.

    >>> kinds = kinds_of_urls(pl.Series(["http://a.example/?to=jane%40mail.example"]))
    >>> IDENTIFIER_KINDS[kinds[0]].name
    'email'
    """
    return _first_kind(plain_url(urls), urls.str.to_lowercase())


def _first_kind(texts: pl.Series, written: pl.Series) -> pl.Series:
    """Return the first kind; for secrets in URLs the original text is searched, too."""
    indices = texts.str.contains(_ANY).fill_null(False).arg_true()
    first = pl.repeat(None, len(indices), dtype=pl.Int8, eager=True)
    candidates, originals = texts.gather(indices), written.gather(indices)
    for number, kind in reversed(tuple(enumerate(IDENTIFIER_KINDS))):
        matches = kind.find_in_plain(candidates)
        if kind.name == "url-token":
            matches |= kind.find_in_plain(originals)
        first = first.scatter(matches.arg_true(), number)
    return pl.repeat(None, len(texts), dtype=pl.Int8, eager=True).scatter(indices, first)


def mask(text: str) -> str:
    """Mask the identifiers of a text; more is masked than necessary.

    >>> mask("call Jane(at)mail.example or 212-555-0123")
    'call •••@••• or •••-•••-••••'
    """
    (normalized,) = plain(pl.Series([text]))
    masked = re.sub(r"[^ ]* ?@ ?[^ ]*", "•••@•••", normalized)
    masked = re.sub(_IBAN_PYTHON, lambda match: re.sub(r"\w", "•", match[0]), masked)
    return mask_identifiers(masked)


def mask_identifiers(query: str) -> str:
    """Mask what may identify a user, to show an example on a screen.

    More is masked than the kinds detect: every digit, long word and value after "=".

    >>> mask_identifiers("jane.doe@mail.example"), mask_identifiers("call 212-555-0123")
    ('j•••@•••', 'call •••-•••-••••')
    """
    words = re.sub(_STREET, lambda match: re.sub(r"\w", "•", match[0]), query).split(" ")
    masked = " ".join(_mask_email(word) if "@" in word else word for word in words)
    masked = re.sub(rf"=[^ &]+|(?<!/){_LONG_VALUE}", lambda match: match[0][0] + "•••", masked)
    return re.sub(r"\d", "•", re.sub(r"[a-z0-9_%+~-]{20,}", "•••", masked))


def _mask_email(word: str) -> str:
    return word if word.startswith("•") else f"{word[0]}•••@•••"
