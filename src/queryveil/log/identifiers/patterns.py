"""The regular expressions of identifiers."""

from __future__ import annotations

from .check_digits import IBAN

# The regex engine has no look-around, so the allowed neighbors of a number are spelled out:
# no letter, no digit, and no dot or hyphen that joins it to a digit.
START = r"(?:^|[^0-9a-z.-]|(?:^|[^0-9])[.-])"
END = r"(?:$|[^0-9a-z.-]|[.-](?:$|[^0-9]))"
EDGE = r"(?-u:\b)"  # the Unicode word boundary is slow on text beyond ASCII

ANY = "[0-9@=]"  # every identifier has one of these, and few other texts do
DIGIT = "[0-9]"  # the first test for every number: most queries have no digit

# Also blanks beside the at sign and a missing dot, as in old logs.
EMAIL = (
    r"[^ @] ?@ ?(?:[\w-]+\.)+\p{L}{2,}"
    r"|[^ @]@\p{L}[\w-]{2,}[ ,](?:com|net|org|edu|co uk|de|fr|es|it)\b"
)

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IP = rf"{START}{_OCTET}(?:\.{_OCTET}){{3}}{END}"
# Router and loopback addresses and netmasks are popular queries and identify nobody.
PRIVATE = (
    rf"{EDGE}(?:(?:0|10|127|255)\.[0-9]{{1,3}}|192\.168|169\.254|172\.(?:1[6-9]|2[0-9]|3[01]))"
    rf"(?:\.[0-9]{{1,3}}){{2}}{EDGE}"
)

_SSN_AREA = "(?:00[1-9]|0[1-9][0-9]|[1-57-9][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])"
_SSN_GROUP = "(?:0[1-9]|[1-9][0-9])"
_SSN_SERIAL = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
SSN = "|".join(f"{START}{_SSN_AREA}{gap}{_SSN_GROUP}{gap}{_SSN_SERIAL}{END}" for gap in ("-", " "))
# Nine digits alone are ambiguous: they count only after the name of the number.
SSN += rf"|(?:{EDGE}ssn|social security)[^0-9]{{0,12}}[0-9]{{9}}{END}"

# A card is written without gaps or in the groups embossed on it; 16 digits may be followed by
# three more that are either the card's own or its security code, so both readings are tried.
_FOURS = "[0-9]{4}(?:-[0-9]{4}){3}|[0-9]{4}(?: [0-9]{4}){3}"
CARD_SHAPES = (
    rf"{EDGE}(?:[0-9]{{13,19}}|{_FOURS}|[0-9]{{4}}[ -][0-9]{{6}}[ -][0-9]{{4,5}}){EDGE}",
    rf"{EDGE}(?:{_FOURS})[ -][0-9]{{3}}{EDGE}",
    # In other groups, with other gaps, or beside a word: "visa4111.1111.1111.1111".
    r"(?:^|[^0-9a-z]|visa|card|amex)[0-9]{4,12}(?:[ ._-]{0,3}[0-9]{3,12}){0,3}(?:$|[^0-9a-z])",
)
CARD = "[0-9]{4}(?:[ ._-]{0,3}[0-9]){9}"  # a necessary condition for all of them
ISSUER = "|".join(
    (
        "^4[0-9]{12}(?:[0-9]{3}){0,2}$",  # Visa
        "^(?:5[1-5]|2[2-7])[0-9]{14}$",  # Mastercard
        "^3[47][0-9]{13}$",  # American Express
        "^3(?:0[0-5]|[689][0-9])[0-9]{11}$",  # Diners Club
        "^(?:35|5[06-8]|6[0-9])[0-9]{14,17}$",  # JCB, Maestro, Discover, UnionPay
    )
)

PHONE = "|".join(
    (
        rf"{START}(?:\+?1[ .-]?)?(?:\([2-9][0-9]{{2}}\)[ .-]?|[2-9][0-9]{{2}}[ ./-])"
        rf"[2-9][0-9]{{2}}[ .-]?[0-9]{{4}}{END}",
        # Without gaps it must not be a part of a URL or of a product code.
        rf"(?:^|[^0-9a-z./_-])1?[2-9][0-9]{{2}}[2-9][0-9]{{6}}{END}",
        # At least nine digits: "+2024-05-01" is a search operator with a date.
        r"(?:^|[^0-9a-z])\+[1-9](?:[ .()-]{0,2}[0-9]){8,14}(?:$|[^0-9])",
        # With two zeros in place of the plus sign a gap is needed: product codes begin so, too.
        r"(?:^|[^0-9a-z])00 ?[1-9][0-9]{0,2}[ .()-]{1,2}(?:[ .()-]{0,2}[0-9]){7,12}(?:$|[^0-9])",
        rf"{START}[2-9][0-9]{{2}}(?: [*-] |[*_])[2-9][0-9]{{2}}(?: [*-] |[*_])[0-9]{{4}}{END}",
    )
)
NOT_PHONE = "|".join(
    (r"isbn(?:[ -]?1[03])?[: ]*[0-9x-]+", rf"{EDGE}97[89][- ]?[0-9]{{10}}{EDGE}", _FOURS, IP)
)

IBAN_PYTHON = IBAN.replace("(?-u:\\b)", r"\b")  # in the syntax of `re`

_HOST = r"(?:[a-z0-9]\.[a-z]{2,}|[0-9]\.[0-9]{1,3}|localhost)(?::[0-9]+)?"
URL = rf"{_HOST}[/?#;]|://"
_NAMED = (  # a short name such as "key" counts only with a longer value
    r"(?:[a-z0-9_.-]*(?:token|secret|passw(?:or)?d|pwd|sess(?:ion)?[_-]?id|api[_-]?key|jwt)=[^ &]"
    r"|(?:sid|session|auth|(?:access|auth)?[_-]?key|(?:auth[_-]?)?code|sig|signature)=[^ &]{6})"
)
SECRET_URL = rf"{_HOST}[/?#;](?:[^ ]*[/?&#;])?{_NAMED}|://[^ /@]*:[^ /@]+@"
LONG_VALUE = r"[/=][a-z0-9_%+~.-]{20,}"
# Words rarely alternate with digits twice or have five consonants in a row; tokens do.
_KNOT = "[bcdfghjklmnpqrstvwxz]{5}"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-"
RANDOM = rf"(?:[a-z]+[0-9]+){{2}}|{_KNOT}.*[0-9]|[0-9].*{_KNOT}|{_UUID}"

_SIDE = r"(?:(?:[nsew]|[ns][ew]|north|south|east|west)\.? )?"
_WORD = "(?:[a-z][a-z']+|[0-9]{1,3}(?:st|nd|rd|th)) "
STREET = (  # "10 hotels bourbon street" is a list, so a small number allows one word only
    rf"\b(?:[1-9][0-9]{{2,4}} {_SIDE}(?:{_WORD}){{1,2}}|[1-9][0-9]? {_SIDE}{_WORD})"
    r"(?:st|street|ave?|avenue|blvd|boulevard|rd|road|ln|lane|dr|drive|ct|pkwy)\b"
)
NOT_STREET = (
    r"\b(?:(?:hard|flash|thumb|disk|disc|usb|pen|wheel|test|state) drive"
    r"|st (?:louis|paul|petersburg|john|george|patrick|lucia|thomas|augustine|joseph|charles)"
    r"|dr (?:phil|oz|who|seuss|dre|house|pepper))"
)
