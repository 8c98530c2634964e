"""Spellings of one word: without accents, with "ue" for an umlaut, with an article attached."""

from __future__ import annotations

import polars as pl

# Letters that Unicode does not decompose.
_LETTERS = {"ß": "ss", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d"}
# Two letters for one, as people type them on a foreign keyboard.
DIGRAPHS = {
    "german": {"ae": "a", "oe": "o", "ue": "u"},
    "danish": {"ae": "a", "oe": "o", "aa": "a"},
    "swedish": {"aa": "a"},
}


def fold(words: pl.Series, language: str) -> pl.Series:
    """Return words without accents; all usual spellings of a word become the same.

    >>> fold(pl.Series(["münchen", "muenchen", "munchen", "straße"]), "german").to_list()
    ['munchen', 'munchen', 'munchen', 'strasse']
    >>> fold(pl.Series(["cámara", "niño"]), "spanish").to_list()
    ['camara', 'nino']
    """
    folded = words.str.normalize("NFD").str.replace_all(r"\p{M}", "")
    folded = folded.str.replace_many(list(_LETTERS), list(_LETTERS.values()))
    digraphs = DIGRAPHS.get(language, {})
    return folded.str.replace_many(list(digraphs), list(digraphs.values())) if digraphs else folded


# An article or preposition before a vowel, with an apostrophe: "l'eau", "dell'acqua".
ELISIONS = {
    "french": r"(?i)\b(l|d|j|m|t|s|n|c|qu|jusqu|lorsqu|puisqu)['\u2019]",
    "italian": r"(?i)\b(l|d|un|all|dall|dell|nell|sull|coll|quell|quest|c|s|t|v)['\u2019]",
}


# The start of a compound whose end follows later: "Ski-" in "Ski- & Snowboardtaschen".
_SHORTENED = r"(?i)[\pL\pN]{2,}-\s*(?:[,&/+]|(?:und|oder|bzw|sowie|en|of|och|eller|og)\b\.?)\s*"
COMPOUNDING = ("german", "dutch", "swedish", "danish")


def drop_shortened(texts: pl.Series, language: str) -> pl.Series:
    """Return texts without the starts of compounds that share the end of a later one.

    >>> drop_shortened(pl.Series(["Ski- & Snowboardtaschen"]), "german").to_list()
    ['Snowboardtaschen']
    """
    if language not in COMPOUNDING:
        return texts
    return texts.str.replace_all(_SHORTENED, "").str.strip_chars_start(" ")


def split_elisions(texts: pl.Series, language: str) -> pl.Series:
    """Return texts without elided articles.

    >>> split_elisions(pl.Series(["bottes d'équitation"]), "french").to_list()
    ['bottes d équitation']
    """
    pattern = ELISIONS.get(language)
    if pattern is None:
        return texts
    return texts.str.replace_all(pattern, "$1 ")


# Endings of plurals and of their singulars, the more probable first.
_PLURALS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "french": (("eaux", ("eau",)), ("aux", ("al", "au", "ail")), ("oux", ("ou",)), ("s", ("",)),
               ("x", ("",))),
    "spanish": (("ces", ("z", "ce")), ("iones", ("ión",)), ("es", ("e", "")), ("s", ("",))),
    "portuguese": (("ões", ("ão",)), ("ães", ("ão",)), ("ãos", ("ão",)), ("ns", ("m",)),
                   ("éis", ("el",)), ("ais", ("al",)), ("óis", ("ol",)), ("is", ("il", "i")),
                   ("es", ("e", "")), ("s", ("",))),
    "italian": (("chi", ("co",)), ("che", ("ca",)), ("ghi", ("go",)), ("ghe", ("ga",)),
                ("i", ("o", "e", "io")), ("e", ("a",))),
    "german": (("en", ("e", "")), ("s", ("",))),
    "dutch": (("en", ("", "e")), ("s", ("",))),
}  # fmt: skip


def singulars(words: pl.Series, language: str) -> tuple[pl.Series, ...]:
    """Return the possible singulars of words by their endings, the most probable first.

    The word itself is the last one.

    >>> [form.to_list() for form in singulars(pl.Series(["bateaux", "jardins"]), "french")][0]
    ['bateau', 'jardin']
    """
    rules = _PLURALS.get(language, ())
    forms: list[pl.Series] = []
    for choice in range(max((len(endings) for _, endings in rules), default=0)):
        word = pl.col("word")
        form: pl.Expr | None = None
        for plural, endings in reversed(rules):
            ending = endings[min(choice, len(endings) - 1)]
            fits = word.str.ends_with(plural) & (word.str.len_chars() > len(plural) + 2)
            changed = word.str.strip_suffix(plural) + ending
            form = pl.when(fits).then(changed).otherwise(word if form is None else form)
        if form is not None:
            forms.append(pl.DataFrame({"word": words}).select(form).to_series())
    return (*forms, words)
