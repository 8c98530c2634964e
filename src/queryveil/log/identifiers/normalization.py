"""Bring texts to the normal form that the patterns expect."""

from __future__ import annotations

import unicodedata
from functools import cache

import polars as pl

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
