"""Phone numbers and street addresses as they are written in Europe.

House numbers follow the street in most of these countries, and phone numbers begin with a zero.
The patterns are for texts in the form of `plain`.
"""

from __future__ import annotations

_LETTER = "[a-z\u00df-\u00f6\u00f8-\u00ff]"
# Words are bounded, because `re` would look for the end of a long one from each of its letters.
_WORD = rf"(?:{_LETTER}|['-]){{1,25}}"
_START = r"(?:^|[^0-9a-z./_+-])"
_END = r"(?:$|[^0-9a-z./_-])"

# Germany, Italy and others: an area code, a gap, then at least six digits.
_AREA_CODE = "0[1-9][0-9]{1,3}(?: ?[/-] ?| )"
_PHONES = (
    rf"\(0[1-9][0-9]{{1,4}}\) ?[1-9](?: ?[0-9]){{4,7}}{_END}",
    rf"{_START}0[26] [0-9]{{8}}{_END}",  # Italy: "06 12345678"
    rf"{_START}{_AREA_CODE}[1-9](?: ?[0-9]){{5,7}}{_END}",
    rf"{_START}0[1-9](?:[ .-][0-9]{{2}}){{4}}{_END}",  # France: "01 23 45 67 89"
    rf"{_START}0[67][0-9]{{8}}{_END}",  # France, mobile
    rf"{_START}0[0-9]{{2}} [0-9]{{4}} [0-9]{{4}}{_END}",  # United Kingdom: "020 7946 0958"
    rf"{_START}07[0-9]{{3}} ?[0-9]{{3}} ?[0-9]{{3}}{_END}",  # United Kingdom, mobile
    rf"{_START}[67][0-9]{{2}} [0-9]{{3}} [0-9]{{3}}{_END}",  # Spain: "612 345 678"
    rf"{_START}9[0-9] [0-9]{{3}} [0-9]{{2}} [0-9]{{2}}{_END}",  # Spain: "91 234 56 78"
    rf"{_START}3[2-9][0-9][ /-][0-9]{{6,7}}{_END}",  # Italy, mobile
)
EUROPEAN_PHONE = "|".join(_PHONES)

_HOUSE = r"[1-9][0-9]{0,2} ?[a-f]?(?:$|[^0-9a-z%.])"
_GERMAN = (
    rf"(?:{_LETTER}{{3,25}}(?:str\.?|stra\u00dfe|strasse|allee|gasse|platz|weg)"
    rf"|{_WORD} (?:str\.|stra\u00dfe|strasse)) {_HOUSE}"
)
_FRENCH = (
    r"(?:^|[^0-9a-z])[1-9][0-9]{0,3}(?: ?(?:bis|ter))?,? (?:(?:rue|chemin|impasse|all[e\u00e9]e)"
    rf"|(?:av\.?|avenue|boulevard|bd|place|quai|cours) (?:de|du|des|d')) ?{_LETTER}{{2,}}"
)
_SPANISH = (
    rf"(?:^|[^a-z])(?:calle|c/|avenida|avda\.?|plaza|paseo|carrer|rua) ?(?:{_WORD} ){{1,4}}"
    rf"(?:n[o\u00ba\u00b0]?\.? ?)?{_HOUSE}"
)
# English sentences have "via" as well: there the address must be all, or have a postal code.
_ITALIAN = (
    rf"(?:^|[^a-z])(?:viale|piazza|corso|vicolo) (?:{_WORD} ){{1,3}}{_HOUSE}"
    rf"|^via (?:{_WORD} ){{1,3}}[1-9][0-9]{{0,2}}(?:$|, ?| [0-9]{{5}}\b)"
)
_BRITISH = (
    r"(?:^|[^0-9a-z])[1-9][0-9]{0,3}[a-d] (?:[a-z][a-z']+ ){1,2}(?:street|road|avenue|lane|st|rd)"
    r"(?:$|[^a-z])"
    r"|(?:^|[^0-9a-z])[1-9][0-9]{0,3} [a-z][a-z']+ (?:terrace|crescent|mews)(?:$|[^a-z])"
)
EUROPEAN_STREET = "|".join((_GERMAN, _FRENCH, _SPANISH, _ITALIAN, _BRITISH))
