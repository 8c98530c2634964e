"""What in a query looks like a personal identifier.

These are patterns. They miss names, most addresses, account names, anything
misspelt, and phone numbers written without their country code outside North
America; and they flag some harmless numbers. A query that none of them flags may
still name a person: a clean result is not a promise. Texts are read as `spelling`
has them, so that the cheap ways of writing an identifier differently do not help.

>>> log = pl.DataFrame({"query": ["cheap flights", "call 212-555-0123 jane@mail.example"]})
>>> marked = log.select(flag_identifiers(pl.col("query")))
>>> [kind.name for kind in IDENTIFIER_KINDS if marked[kind.name].any()]
['email', 'phone']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import polars as pl

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


_AT = r" ?[(\[{<] ?(?:at|a|@) ?[)\]}>] ?|&(?:#0*64|#x0*40|commat);"
_DOT = r" ?[(\[{<] ?(?:dot|\.) ?[)\]}>] ?"
_SPELLED = r"([^ ]) at ((?:[\w-]+ dot )+\p{L}{2,})"
_ODD = rf"[^\x20-\x40\x5b-\x7e]|%[0-9a-f]{{2}}|{_AT}|{_DOT}| dot "
_UNSEEN = r"[\p{Cf}\x{34f}\x{115f}\x{1160}\x{3164}\x{fe00}-\x{fe0f}]"
_FOREIGN = r"[^\x00-\x7f]"
_ANY_DIGIT = r"[\p{Nd}&&[^0-9]]"
_DASH = r"[\p{Pd}\x{2212}]"
_STOP = r"[\x{3002}\x{2024}\x{b7}]"

_ESCAPES = {f"%{sign:02x}": chr(sign) for sign in range(0x20, 0x7F)}

_FIRST, _LAST = 0x660, 0x1FBFF  # all decimal digits beyond ASCII lie here


def plain(texts: pl.Series) -> pl.Series:
    r"""Return the texts as patterns read them.

    >>> plain(pl.Series(["cheap flights", "Jane(at)mail.example", "\uff12\uff11"])).to_list()
    ['cheap flights', 'jane@mail.example', '21']
    """
    odd = texts.str.contains(_ODD).fill_null(False).arg_true()
    return texts.scatter(odd, _read(texts.gather(odd))) if len(odd) else texts


def plain_url(urls: pl.Series) -> pl.Series:
    """Return web addresses as patterns read them: there a plus sign is a blank.

    >>> plain_url(pl.Series(["http://a.example/?to=Jane%40mail.example+now"])).to_list()
    ['http://a.example/?to=jane@mail.example now']
    """
    return plain(urls.str.replace_all("+", " ", literal=True))


def _read(texts: pl.Series) -> pl.Series:
    for _ in range(2):  # what was encoded twice is decoded twice
        if texts.str.contains("%", literal=True).any():
            texts = texts.str.replace_many(_ESCAPES, ascii_case_insensitive=True)
    if texts.str.contains(_FOREIGN).any():
        texts = texts.str.normalize("NFKC").str.replace_all(_UNSEEN, "")
        texts = texts.str.replace_all(_DASH, "-").str.replace_all(_STOP, ".")
    if texts.str.contains(_ANY_DIGIT).any():
        texts = texts.str.replace_many(_digits())
    texts = texts.str.to_lowercase().str.replace_all(r"\s+", " ")
    texts = texts.str.replace_all(_AT, "@").str.replace_all(_DOT, ".")
    spelled = texts.str.contains(_SPELLED)
    if not spelled.any():
        return texts
    some = texts.filter(spelled).str.replace_all(_SPELLED, "$1@$2")
    return texts.scatter(spelled.arg_true(), some.str.replace_all(" dot ", ".", literal=True))


@cache
def _digits() -> dict[str, str]:
    signs = map(chr, range(_FIRST, _LAST + 1))
    return {sign: str(unicodedata.decimal(sign)) for sign in signs if sign.isdecimal()}


Test = Callable[[pl.Expr], pl.Expr]


@dataclass(frozen=True, slots=True)
class IdentifierKind:
    """One kind of identifier, and what a query must pass to hold one.

    Each pattern leaves fewer rows to the next and to the test, so the cheapest comes first.
    """

    name: str
    title: str
    example: str
    patterns: tuple[str, ...]
    test: Test = pl.Expr.is_not_null

    def extract(self, column: pl.Expr) -> pl.Expr:
        """Tell which queries hold one: Booleans, never null."""
        # A batch, because an expression cannot skip rows: it would be three times slower.
        return column.map_batches(self.search, return_dtype=pl.Boolean, is_elementwise=True)

    def search(self, batch: pl.Series) -> pl.Series:
        """Do the same for a column at hand."""
        return self.find_in_plain(plain(batch))

    def find_in_plain(self, batch: pl.Series) -> pl.Series:
        """Do the same for texts that are plain already."""
        query = pl.col("query")
        rows = batch.alias("query").to_frame().with_row_index("row")
        for pattern in self.patterns:
            rows = rows.filter(query.str.contains(pattern))
        found = rows.filter(self.test(query))["row"]
        return pl.repeat(False, len(batch), eager=True).scatter(found, True)


# The regex engine has no look-around, so what may stand next to a number is spelt out:
# no letter, no digit, and no dot or hyphen that joins it to a digit.
_START = r"(?:^|[^0-9a-z.-]|(?:^|[^0-9])[.-])"
_END = r"(?:$|[^0-9a-z.-]|[.-](?:$|[^0-9]))"
_EDGE = r"(?-u:\b)"  # the Unicode word boundary is slow on text beyond ASCII

_ANY = "[0-9@=]"  # no kind is without any of these, and most texts are
_DIGIT = "[0-9]"  # comes first for every number: most queries have no digit

# Blanks beside the sign, and a dot that was lost, as old logs have it.
_EMAIL = (
    r"[^ @] ?@ ?(?:[\w-]+\.)+\p{L}{2,}"
    r"|[^ @]@\p{L}[\w-]{2,}[ ,](?:com|net|org|edu|co uk|de|fr|es|it)\b"
)

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IP = rf"{_START}{_OCTET}(?:\.{_OCTET}){{3}}{_END}"
# Router and loopback addresses and netmasks are popular queries and name nobody.
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
# Nine digits are anything, unless they are named.
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
_CARD = "[0-9]{4}(?:[ ._-]{0,3}[0-9]){9}"  # what all of them have
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
        # Without gaps it must not be a part of an address on the web or of a product code.
        rf"(?:^|[^0-9a-z./_-])1?[2-9][0-9]{{2}}[2-9][0-9]{{6}}{_END}",
        # From nine digits on: "+2024-05-01" asks for pages with that date.
        r"(?:^|[^0-9a-z])\+[1-9](?:[ .()-]{0,2}[0-9]){8,14}(?:$|[^0-9])",
        # With two zeros for the plus sign it needs a gap: codes of products begin with them, too.
        r"(?:^|[^0-9a-z])00 ?[1-9][0-9]{0,2}[ .()-]{1,2}(?:[ .()-]{0,2}[0-9]){7,12}(?:$|[^0-9])",
        rf"{_START}[2-9][0-9]{{2}}(?: [*-] |[*_])[2-9][0-9]{{2}}(?: [*-] |[*_])[0-9]{{4}}{_END}",
    )
)
_NOT_PHONE = "|".join(
    (r"isbn(?:[ -]?1[03])?[: ]*[0-9x-]+", rf"{_EDGE}97[89][- ]?[0-9]{{10}}{_EDGE}", _FOURS, _IP)
)

_IBAN_SIGNS = IBAN.replace("(?-u:\\b)", r"\b")  # for Python's own patterns

_HOST = r"(?:[a-z0-9]\.[a-z]{2,}|[0-9]\.[0-9]{1,3}|localhost)(?::[0-9]+)?"
_URL = rf"{_HOST}[/?#;]|://"
_NAMED = (  # a short name such as "key" counts only with a value of some length
    r"(?:[a-z0-9_.-]*(?:token|secret|passw(?:or)?d|pwd|sess(?:ion)?[_-]?id|api[_-]?key|jwt)=[^ &]"
    r"|(?:sid|session|auth|(?:access|auth)?[_-]?key|(?:auth[_-]?)?code|sig|signature)=[^ &]{6})"
)
_SECRET_URL = rf"{_HOST}[/?#;](?:[^ ]*[/?&#;])?{_NAMED}|://[^ /@]*:[^ /@]+@"
_LONG_VALUE = r"[/=][a-z0-9_%+~.-]{20,}"
# Unlike random characters, words seldom mix with digits twice or run five consonants together.
_KNOT = "[bcdfghjklmnpqrstvwxz]{5}"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-"
_RANDOM = rf"(?:[a-z]+[0-9]+){{2}}|{_KNOT}.*[0-9]|[0-9].*{_KNOT}|{_UUID}"

_SIDE = r"(?:(?:[nsew]|[ns][ew]|north|south|east|west)\.? )?"
_WORD = "(?:[a-z][a-z']+|[0-9]{1,3}(?:st|nd|rd|th)) "
_STREET = (  # "10 hotels bourbon street" is a list, so small numbers take one word only
    rf"\b(?:[1-9][0-9]{{2,4}} {_SIDE}(?:{_WORD}){{1,2}}|[1-9][0-9]? {_SIDE}{_WORD})"
    r"(?:st|street|ave?|avenue|blvd|boulevard|rd|road|ln|lane|dr|drive|ct|pkwy)\b"
)
_NOT_STREET = (
    r"\b(?:(?:hard|flash|thumb|disk|disc|usb|pen|wheel|test|state) drive"
    r"|st (?:louis|paul|petersburg|john|george|patrick|lucia|thomas|augustine|joseph|charles)"
    r"|dr (?:phil|oz|who|seuss|dre|house|pepper))"
)


def _still(pattern: str, without: str) -> Test:
    """Test for a pattern once its lookalikes are blanked out."""
    return lambda column: column.str.replace_all(without, " ").str.contains(pattern)


def passes_luhn(digits: pl.Expr) -> pl.Expr:
    """Test the check digit of numbers of up to 19 digits.

    >>> pl.select(passes_luhn(pl.lit("4111111111111111"))).item()
    True
    """
    number = digits.cast(pl.UInt64, strict=False)
    places = [number // 10**place % 10 for place in range(19)]
    doubled = [2 * digit // 10 + 2 * digit % 10 for digit in places[1::2]]
    return pl.sum_horizontal(places[::2] + doubled) % 10 == 0


def _card(column: pl.Expr) -> pl.Expr:
    digits = pl.element().str.replace_all("[^0-9]", "")
    candidates = pl.concat_list(column.str.extract_all(shape) for shape in _CARD_SHAPES)
    return candidates.list.eval(digits.str.contains(_ISSUER) & passes_luhn(digits)).list.any()


def _secret(column: pl.Expr) -> pl.Expr:
    values = column.str.replace_all("://", " ").str.extract_all(_LONG_VALUE)
    random = values.list.eval(pl.element().str.contains(_RANDOM)).list.any()
    return column.str.contains(_SECRET_URL) | random


IDENTIFIER_KINDS: tuple[IdentifierKind, ...] = (
    IdentifierKind("email", "e-mail address", "jane.doe@mail.example", ("@", _EMAIL)),
    IdentifierKind(
        "phone", "phone number", "212-555-0123", (_DIGIT, _PHONE), _still(_PHONE, _NOT_PHONE)
    ),
    IdentifierKind("card", "payment card number", "4111 1111 1111 1111", (_DIGIT, _CARD), _card),
    IdentifierKind(
        "iban", "bank account (IBAN)", "gb33 bukb 2020 1555 5555 55", (_DIGIT, IBAN), is_iban
    ),
    IdentifierKind("ssn", "US social security number", "078-05-1120", (_DIGIT, _SSN)),
    IdentifierKind(
        "url-token", "web address with a secret", "a.example/?token=b7", ("[/=]", _URL), _secret
    ),
    IdentifierKind("ip", "internet address", "203.0.113.7", (_DIGIT, _IP), _still(_IP, _PRIVATE)),
    IdentifierKind(
        "street", "street address", "12 main st", (_DIGIT, _STREET), _still(_STREET, _NOT_STREET)
    ),
)


def flag_identifiers(column: pl.Expr) -> list[pl.Expr]:
    """Tell for each kind whether a query holds one: Booleans, never null, named by kind.

    >>> pl.DataFrame({"q": ["078-05-1120", None]}).select(flag_identifiers(pl.col("q")))["ssn"].to_list()
    [True, False]
    """
    return [kind.extract(column).alias(kind.name) for kind in IDENTIFIER_KINDS]


def kinds_of(texts: pl.Series) -> pl.Series:
    """Return the place in `KINDS` of the first kind that each text holds, null where none is.

    >>> kinds_of(pl.Series(["weather", "078-05-1120"])).to_list()
    [None, 4]
    """
    return _first_kind(plain(texts), texts)


def kinds_of_urls(urls: pl.Series) -> pl.Series:
    """Return the same for web addresses.

    >>> IDENTIFIER_KINDS[kinds_of_urls(pl.Series(["http://a.example/?to=jane%40mail.example"]))[0]].name
    'email'
    """
    return _first_kind(plain_url(urls), urls.str.to_lowercase())


def _first_kind(texts: pl.Series, written: pl.Series) -> pl.Series:
    """Find the first kind; a secret in an address is looked for as it is written, too."""
    some = texts.str.contains(_ANY).fill_null(False).arg_true()
    first = pl.repeat(None, len(some), dtype=pl.Int8, eager=True)
    few, as_written = texts.gather(some), written.gather(some)
    for place, kind in reversed(tuple(enumerate(IDENTIFIER_KINDS))):
        holds = kind.find_in_plain(few)
        if kind.name == "url-token":
            holds |= kind.find_in_plain(as_written)
        first = first.scatter(holds.arg_true(), place)
    return pl.repeat(None, len(texts), dtype=pl.Int8, eager=True).scatter(some, first)


def mask(text: str) -> str:
    """Return a text that holds an identifier without its signs; more is masked than need be.

    >>> mask("call Jane(at)mail.example or 212-555-0123")
    'call •••@••• or •••-•••-••••'
    """
    (read,) = plain(pl.Series([text]))
    masked = re.sub(r"[^ ]* ?@ ?[^ ]*", "•••@•••", read)
    masked = re.sub(_IBAN_SIGNS, lambda match: re.sub(r"\w", "•", match[0]), masked)
    return mask_identifiers(masked)


def mask_identifiers(query: str) -> str:
    """Mask what may identify a person, to show an example on a screen.

    It masks more than the kinds find: every digit, long word and value after "=".

    >>> mask_identifiers("jane.doe@mail.example"), mask_identifiers("call 212-555-0123")
    ('j•••@•••', 'call •••-•••-••••')
    """
    words = re.sub(_STREET, lambda match: re.sub(r"\w", "•", match[0]), query).split(" ")
    masked = " ".join(_masked_mail(word) if "@" in word else word for word in words)
    masked = re.sub(rf"=[^ &]+|(?<!/){_LONG_VALUE}", lambda match: match[0][0] + "•••", masked)
    return re.sub(r"\d", "•", re.sub(r"[a-z0-9_%+~-]{20,}", "•••", masked))


def _masked_mail(word: str) -> str:
    return word if word.startswith("•") else f"{word[0]}•••@•••"
