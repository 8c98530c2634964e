"""Words of product names: the main noun of a label, its parts, and the pieces of compounds.

A label of a product taxonomy names one or several products ("Scarves & Shawls", "Bolsas y estuches
para cámaras"). Each has a main noun: the last word of a Germanic name, the first of a Romance one,
always before a preposition. Compounds are cut into their known pieces, so that "Kinderbett" and
"Betten für Kinder" have the same ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from .language import Language, get_language
from .product_grammar import ProductGrammar, product_grammar

_ELIDED = r"\b(d|l|s|n|qu|un|all|dall|dell|nell|sull)['\u2019](\w)"
_LETTER = re.compile(r"[^\W\d_]")
_ELISION, _APOSTROPHE = re.compile(_ELIDED), re.compile("['\u2019]")
_TOKEN = re.compile(r"-?[^\W_]+-?|[,&/+()]")
_LINKS = ("", "s", "es", "n", "en", "er", "e", "ens")
_BARE_ENDING, _ACCENTS = re.compile("[aeiou]n$"), str.maketrans("aeiou", "áéíóú")
_BRACKETS = frozenset("()")
_MIN_PIECE, _MIN_TAIL, _MIN_STEM = (
    3,
    4,
    4,
)  # letters of a piece, and of a tail after an unknown front
# Plurals that the stemmers leave apart: "tuyaux", "jeux"; "altavoces"; "leder" is no plural.
_REWRITES = {
    "french": (("([ey])aux$", "${1}au"), ("([eo])ux$", "${1}u")),
    "spanish": (("ces$", "z"), ("([áéó])s$", "$1")),
    "portuguese": (("ns$", "m"), ("ões$", "ão")),
    "german": (("^leder", "ledder"), ("ium$", "i"), ("^bhs$", "bh")),
}
_FOREIGN_PLURAL = re.compile("([aiouy])s$")  # the stemmer leaves "bikinis"
# A compound that ends like this is an adjective and names no product; "Tisch" and "Fisch" do.
_ADJECTIVE = re.compile("(?:(?<![tf])isch|lich|ig|los|bar|fest|frei|dicht|iert|sam|haft)$")
_INFLECTED = re.compile("(?:(?<![tf])isch|lich|ig|los|bar|frei|iert)es?$")
_LETTERS = str.maketrans({"ł": "l", "ß": "ss", "ø": "o", "æ": "a", "œ": "oe"})


@dataclass(frozen=True)
class ProductPart:
    """One of the products that a label names.

    Attributes:
        head: The index of its main noun.
        words: Its own words.
        choices: Words of which one describes it: "Coat & Hat" in "Coat & Hat Racks".
        front: The index of a word whose front it shares: "Kamera" in "Kamerataschen & -koffer".
    """

    head: int
    words: frozenset[int]
    choices: frozenset[int] = frozenset()
    front: int | None = None


@dataclass(frozen=True)
class ProductLabel:
    """The words of a label, and the products that it names.

    `elided` is whether the front of a compound has alternatives: "Haar- & Bartschneider".
    """

    words: tuple[str, ...]
    parts: tuple[ProductPart, ...]
    elided: bool = False


def split_tokens(text: str) -> list[str]:
    """Return the words and signs of a text in lower case; elided articles are words of their own.

    >>> split_tokens("Housses d'oreiller & taies")
    ['housses', 'd', 'oreiller', '&', 'taies']
    """
    plain = text.lower()
    if _APOSTROPHE.search(plain):
        plain = _APOSTROPHE.sub("", _ELISION.sub(r"\1 \2", plain))
    return _TOKEN.findall(plain)


def split_words(texts: pl.Series) -> pl.Series:
    """Return the words of queries as `split_tokens` has them, without signs."""
    elided = texts.str.to_lowercase().str.replace_all(_ELIDED, "$1 $2")
    elided = elided.str.replace_all("['\u2019]", "")
    return elided.str.extract_all(r"[\pL\pM\pN]+")


def parse_label(text: str, grammar: ProductGrammar) -> ProductLabel:
    """Return the products that a label names.

    >>> english = product_grammar("english")
    >>> label = parse_label("Camera Bags & Cases", english)
    >>> [label.words[part.head] for part in label.parts]
    ['bags', 'cases']
    >>> label = parse_label("Coat & Hat Racks", english)
    >>> [label.words[part.head] for part in label.parts]
    ['racks']
    """
    words: list[str] = []
    chunks: list[list[int]] = [[]]
    leading: set[int] = set()  # words that may be a main noun
    shared: set[int] = set()  # words after "for", which describe all products of the label
    shortened: set[int] = set()  # "-koffer"
    after, purpose = False, False
    described = len(text)  # the first word after a preposition
    for token in split_tokens(text):
        if token in grammar.joiners or token in _BRACKETS:
            chunks.append([])
            after = purpose
        elif token in grammar.prepositions:
            after, purpose = True, purpose or token in grammar.purpose
            described = min(described, len(words))
        else:
            elided = grammar.compounds and (token.endswith("-") or _INFLECTED.search(token))
            if not after and not elided and _LETTER.search(token):
                leading.add(len(words))
            if purpose:
                shared.add(len(words))
            if token.startswith("-"):
                shortened.add(len(words))
            chunks[-1].append(len(words))
            words.append(token.strip("-"))
    chunks = [chunk for chunk in chunks if chunk]
    parts: list[ProductPart] = []
    for chunk in chunks:
        heads = [index for index in chunk if index in leading]
        if heads:
            head = heads[0] if grammar.head_first else heads[-1]
            front = parts[-1].head if parts and head in shortened else None
            # "alfombras" of "secadoras de suelos y alfombras" may describe the first noun.
            before = range(head) if grammar.head_first and described < head else ()
            own = frozenset(chunk) | shared
            parts.append(ProductPart(head, own, frozenset(before) - own, front))
    if not grammar.head_first and not grammar.compounds:
        parts = _join_modifiers(parts, words)
    has_choices = grammar.compounds and 0 < len(parts) < len(chunks)
    return ProductLabel(tuple(words), tuple(parts), has_choices)


def _join_modifiers(parts: list[ProductPart], words: list[str]) -> list[ProductPart]:
    """Join singulars with the plural after them: in "Coat & Hat Racks", "Coat" is no product.

    Then as many words of the plural's part are alternatives to them ("Hat").
    """
    if not parts or not _is_plural(words[parts[-1].head]):
        return parts
    kept: list[ProductPart] = []
    choices: list[int] = []
    for part in parts:
        if part is not parts[-1] and not _is_plural(words[part.head]):
            choices += sorted(part.words)
            continue
        own = sorted(part.words)
        if choices:
            choices += own[: min(len(choices), own.index(part.head))]
        kept.append(ProductPart(part.head, part.words - {*choices}, frozenset(choices)))
        choices = []
    return kept


def _is_plural(word: str) -> bool:
    return _english_singular(word) != word or word.endswith("wear")


class WordPieces:
    """The pieces of words: a stem without accents, or the stems of the parts of a compound.

    `known` are the words of labels. A word of a language with compounds is cut where a known word
    follows a known word, an English word only if no label has it ("bookshelf").
    """

    def __init__(self, language: Language | str, known: Iterable[str]) -> None:
        self._language = get_language(language) if isinstance(language, str) else language
        self._words = tuple(sorted(set(known)))
        self._compounds = product_grammar(self._language.name).compounds
        self._cache: dict[str, tuple[str, ...]] = {}
        self._known: frozenset[str] = frozenset()
        stems = self._stem(sorted({*self._words, *product_grammar(self._language.name).attributes}))
        self._known = frozenset(stem for stem in stems if len(stem) >= _MIN_PIECE)

    def __reduce__(self) -> tuple[type[WordPieces], tuple[Language | str, tuple[str, ...]]]:
        """Pickle the name of the language, since its stemmer cannot be pickled."""
        return WordPieces, (self._language.name, self._words)

    def stems(self, words: Sequence[str]) -> list[str]:
        """Return the stem of each word, not cut."""
        return self._stem(words)

    def of(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the pieces of each word, the main one last."""
        new = sorted({word for word in words if word not in self._cache})
        for word, stem in zip(new, self._known_stems(new), strict=True):
            self._cache[word] = tuple(self._split(stem)) if self._may_split(stem) else (stem,)
        return [self._cache[word] for word in words]

    def _known_stems(self, words: Sequence[str]) -> list[str]:
        """Return the stems; Spanish words that were typed without their accent get it back."""
        stems = self._stem(words)
        if self._language.name != "spanish":
            return stems
        accented = self._stem([_BARE_ENDING.sub(_accent, word) for word in words])
        return [
            other if stem not in self._known and other in self._known else stem
            for stem, other in zip(stems, accented, strict=True)
        ]

    def _may_split(self, stem: str) -> bool:
        if self._language.name == "english":
            return stem not in self._known
        return self._compounds

    def is_sure(self, words: Sequence[str]) -> list[bool]:
        """Return whether each word was not cut, or cut in a language of compounds at known words.

        Else its last piece may be there by chance: "screen" in "touchscreen".
        """
        return [
            len(pieces) == 1 or (self._compounds and all(piece in self._known for piece in pieces))
            for pieces in self.of(words)
        ]

    def _stem(self, words: Sequence[str]) -> list[str]:
        if self._language.name == "english":  # stems would join "bed" and "bedding"
            return [_fold(_english_singular(word)) for word in words]
        rewrites = _REWRITES.get(self._language.name, ())
        texts = pl.Series("word", list(words), dtype=pl.String)
        for pattern, replacement in rewrites:
            texts = texts.str.replace(pattern, replacement)
        stems = self._language.stem(texts).to_list()
        # A stem that lost its word's shape joins strangers: "cámara" and "cama" become "cam".
        pairs = zip(words, stems, strict=True)
        stems = [
            word.removesuffix("s") if len(stem) < _MIN_STEM and len(word) - len(stem) > 2 else stem
            for word, stem in pairs
        ]
        if self._language.name != "german":
            return [_fold(stem) for stem in stems]
        return [_FOREIGN_PLURAL.sub(r"\1", _fold(stem, german=True)) for stem in stems]

    def _split(self, stem: str) -> list[str]:
        """Return the parts of a stem: the longest known tail, after a known or a long front."""
        if not stem.isalpha() or _ADJECTIVE.search(stem):
            return [stem]
        cuts = [
            cut
            for cut in range(_MIN_PIECE, len(stem) - _MIN_PIECE + 1)
            if stem[cut:] in self._known
        ]
        for cut in cuts:
            front = self._find_front(stem[:cut])
            if front is not None:
                return [*self._split(front), *self._split(stem[cut:])]
        long = [cut for cut in cuts if len(stem) - cut >= _MIN_TAIL]
        if self._compounds and long and stem not in self._known:
            return [stem[: long[0]], *self._split(stem[long[0] :])]
        return [stem]

    def _find_front(self, front: str) -> str | None:
        """Return a known front without the letters that link it to the next part."""
        links = _LINKS if self._compounds else ("",)
        bare = (front.removesuffix(link) for link in links if front.endswith(link))
        return next((text for text in bare if text in self._known), None)


def _accent(ending: re.Match[str]) -> str:
    return ending[0].translate(_ACCENTS)


def _english_singular(word: str) -> str:
    """Return the singular of an English word by its ending.

    >>> [_english_singular(word) for word in ("dresses", "shoes", "knives", "womens", "glass")]
    ['dress', 'shoe', 'knife', 'woman', 'glass']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if (
        len(word) < 4
        or not word.endswith("s")
        or word.endswith(("ss", "us"))
        or word in _NO_PLURALS
    ):
        return word
    for plural, singular in _ENGLISH_PLURALS:
        if word.endswith(plural):
            return word.removesuffix(plural) + singular
    return _IRREGULAR.get(word[:-1], word[:-1])


_NO_PLURALS = {"tennis", "chassis", "iris", "axis", "basis", "trellis", "cannabis", "gas", "lens"}
_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "kids": "child", "kid": "child",
    "mice": "mouse", "feet": "foot", "teeth": "tooth", "knives": "knife", "shelves": "shelf",
    "scarves": "scarf", "leaves": "leaf", "wolves": "wolf", "halves": "half", "loaves": "loaf",
    "calves": "calf", "shoes": "shoe", "toes": "toe", "canoes": "canoe", "movies": "movie",
    "cookies": "cookie", "brownies": "brownie", "hoodies": "hoodie", "beanies": "beanie",
    "onesies": "onesie", "smoothies": "smoothie", "selfies": "selfie", "pies": "pie",
    "ties": "tie", "dies": "die", "axes": "axe", "lenses": "lens",
}  # fmt: skip
_ENGLISH_PLURALS = (
    ("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z"),
    ("oes", "o"), ("ss", "ss"),
)  # fmt: skip


def _fold(word: str, *, german: bool = False) -> str:
    """Return a word without accents; in German "ae" is a typed "ä"."""
    letters = unicodedata.normalize("NFKD", word.translate(_LETTERS))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    if german:
        plain = plain.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    return plain
