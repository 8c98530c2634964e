"""Web addresses typed as queries: which queries are one, and the name of the site in it.

Logs write addresses in many ways: "www.ebay.com", "ebay.com", "http //ebay.com", "www ebay com",
"www.bank of america.com". Each is reduced to a key, the letters and digits of the name.
"""

from __future__ import annotations

import polars as pl

_SUFFIX_LIST = (
    "com|net|org|edu|gov|mil|info|biz|tv|co|us|uk|de|ca|au|fr|es|it|nl|be|at|ch|pl|se|dk|pt|br|mx|"
    "jp|ru|in|eu|io|me|fm|cc|to|ly|app|dev|shop|online|site|xyz|example"
)
_START = r"^\s*(?:https?\b[\s:/]*)?(?:www?w?\d?[\s.,;]+|ww\.)?"
_PREFIXED = r"^\s*(?:https?\b|www\d?\b)"
# Without a dot only the suffixes that are no words: "yahoo com".
_END = (
    rf"(?:\s*\.\s*(?:{_SUFFIX_LIST})(?:\s*\.\s*[a-z]{{2}})?|\s+(?:dot\s+)?(?:com|net|org|edu|gov)|,com)"
    r"(?:\s*[/?:#].*)?\s*\.?$"
)
_DOTTED = rf"[a-z0-9]\s?\.\s?(?:{_SUFFIX_LIST})(?:\.[a-z]{{2}})?(?:$|[\s/?:#])"
_HOST = rf"([a-z0-9-]+)\s?\.\s?(?:{_SUFFIX_LIST})(?:\.[a-z]{{2}})?(?:$|[\s/?:#])"
_KINDS = {
    "edu": r"\.\s?edu\b|\sedu$|\.ac\.[a-z]{2}\b",
    "gov": r"\.\s?gov\b|\sgov$",
    "mil": r"\.\s?mil\b|\smil$",
}
_NOT_KEY = r"[^\pL\pM\pN]+"
# Words beside the name of a site or a brand that do not change what is meant.
_EXTRA = (
    r"\s+(?:log\s?in(?:\s?page)?|sign\s?(?:in|on|up)|log\s?on|web\s?site|home\s?page|site|app|web|"
    r"official\s?(?:web\s?)?site|my account|account|customer service|phone number|near me|"
    r"hours|tv|download|free|premium|plus|tracking|returns|gas|console|web player|player|"
    r"online|inc|corp|corporation|co|company|usa|stores?|shop|international)$"
)


def address_keys(queries: pl.Series) -> pl.DataFrame:
    """Return for each query whether it is an address, and keys of the name in it.

    The columns are `address` (the whole query is one), `inside` (a part of it is one), `key` (all
    of the name), `host` (its last part: "yahoo" in "mail.yahoo.com"), `core` (without words such
    as "login") and `suffix` (edu, gov, mil or null).

    >>> keys = address_keys(pl.Series(["www.bank of america.com", "mail.yahoo.com", "ebay login"]))
    >>> keys.rows()[1]
    (True, False, 'mailyahoo', 'yahoo', 'mailyahoo', None)
    >>> keys["key"].to_list(), keys["core"][2]
    (['bankofamerica', 'mailyahoo', 'ebaylogin'], 'ebay')
    """
    text = queries.str.to_lowercase().str.strip_chars().alias("text")
    is_mail = text.str.contains("@", literal=True).fill_null(False)
    address = text.str.contains(rf"{_PREFIXED}|{_END}").fill_null(False) & ~is_mail
    inside = text.str.contains(_DOTTED).fill_null(False) & ~is_mail & ~address
    name = text.clone().scatter(address.arg_true(), _strip(text.filter(address)))
    host = name.str.extract(r"([^\s.]+)$")
    host = host.scatter(inside.arg_true(), text.filter(inside).str.extract(_HOST))
    table = pl.DataFrame(
        {"text": text, "name": name, "host": host, "address": address, "inside": inside}
    )
    core = pl.col("name").str.replace(r"^the\s+", "").str.replace(_EXTRA, "")
    return table.select(
        "address",
        "inside",
        _key(pl.col("name")).alias("key"),
        _key(pl.col("host")).alias("host"),
        _key(core).alias("core"),
        pl.coalesce(_suffix(kind, pattern) for kind, pattern in _KINDS.items()).alias("suffix"),
    )


def _suffix(kind: str, pattern: str) -> pl.Expr:
    return pl.when(pl.col("address") & pl.col("text").str.contains(pattern)).then(pl.lit(kind))


def _strip(addresses: pl.Series) -> pl.Series:
    """Remove scheme, "www" and suffix."""
    rest = addresses.str.replace(_START, "").str.replace(_END, "")
    return rest.str.replace(rf"^(?:{_SUFFIX_LIST})$", "")


def _key(text: pl.Expr) -> pl.Expr:
    spelled = text.str.replace_many(["&", "+"], ["and", "plus"])
    return spelled.str.replace_all(_NOT_KEY, "").fill_null("")
