"""Languages of the concept mapping: stop words, stemmers, plurals and compounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import Stemmer
from stop_words import AVAILABLE_LANGUAGES, get_stop_words

from ...errors import UsageError, did_you_mean
from ..taxonomy.arrays import IntArray, StringArray
from ..taxonomy.storage import Arrays, read_arrays
from .accents import COMPOUNDING, drop_shortened, fold, singulars, split_elisions
from .stop_words import LISTS
from .tokens import Vocabulary, tokenize

_FILE = Path(__file__).parents[1] / "data" / "english.words"


@cache
def load_word_list(name: str) -> tuple[str, ...]:
    """Return one of the stored lists: plurals, given names, surnames, cities, towns.

    >>> load_word_list("irregular plurals")[:2]
    ('aardwolves aardwolf', 'abaci abacus')
    """
    return tuple(StringArray(_read_lists()[name]).series())


@cache
def _read_lists() -> Arrays:
    return read_arrays(_FILE)[1]


# Plural endings and their singular endings, the more probable first.
_PLURALS = (("ies", ("y", "ie")), ("men", ("man", "men")), ("es", ("e", "")), ("s", ("", "s")))


@dataclass(frozen=True)
class Language:
    """A language and its rules for noun phrases.

    Attributes:
        name: The English name, in lower case.
        stop_words: Words without a meaning of their own.
        stem: Returns the stems of words.
        singulars: Returns the possible singulars of words, the most probable first.
        has_tagger: Whether the built-in tagger knows the language; other words are all nouns.
        head_first: Whether the first noun of a phrase is its head: "chaise de jardin".
        linkers: Stop words inside of a phrase, such as "de".
        has_compounds: Whether nouns are written as one word: "gartenstuhl".
        is_folded: Whether accents can be missing in queries.
    """

    name: str
    stop_words: frozenset[str]
    stem: Callable[[pl.Series], pl.Series]
    singulars: Callable[[pl.Series], tuple[pl.Series, ...]]
    has_tagger: bool
    head_first: bool = False
    linkers: frozenset[str] = frozenset()
    has_compounds: bool = False
    is_folded: bool = False

    def fold(self, words: pl.Series) -> pl.Series:
        """Return words without accents, if they can be missing."""
        return fold(words, self.name) if self.is_folded else words

    def rewrite(self, texts: pl.Series) -> pl.Series:
        """Return texts in which articles are words of their own, and compounds whole ones."""
        return drop_shortened(split_elisions(texts, self.name), self.name)


# The codes of languages by ISO 639-1.
LANGUAGE_CODES = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian",
    "nl": "dutch", "pt": "portuguese", "pl": "polish", "sv": "swedish", "da": "danish",
    "no": "norwegian", "nb": "norwegian", "ro": "romanian", "ru": "russian", "fi": "finnish",
    "el": "greek", "ca": "catalan", "hu": "hungarian", "tr": "turkish", "ar": "arabic",
}  # fmt: skip
_LINKERS = {
    "french": "d de des du à au aux",
    "spanish": "de del",
    "portuguese": "da das de do dos",
    "italian": "a d da dal dalla degli dei del dell della delle dello di",
    "polish": "",
}


@cache
def get_language(name: str) -> Language:
    """Return a language by its code or its English name.

    >>> get_language("german").stem(pl.Series(["katzen"])).to_list()
    ['katz']
    >>> get_language("fr").name
    'french'
    """
    known = sorted({*AVAILABLE_LANGUAGES} & {*Stemmer.algorithms()})
    key = LANGUAGE_CODES.get(name.strip().lower(), name.strip().lower())
    if key not in known:
        raise UsageError(
            f'no stop words and stemmer for the language "{name}"',
            hint=did_you_mean(name, [*known, *LANGUAGE_CODES]),
        )
    # The papers use Porter's original algorithm; other languages have Snowball stemmers.
    stemmer = Stemmer.Stemmer("porter" if key == "english" else key)

    def stem(words: pl.Series) -> pl.Series:
        return pl.Series(words.name, stemmer.stemWords(words.to_list()), pl.String)

    if key == "english":
        return Language(key, frozenset(LISTS[key].split()), stem, english_singulars, True)
    listed = LISTS[key].split() if key in LISTS else get_stop_words(key)
    words = _normalize_stop_words(listed)
    return Language(
        key,
        frozenset([*words, *fold(pl.Series(words), key), "and"]),  # "&" is read as "and"
        lambda words: fold(stem(words), key),
        lambda words: singulars(words, key),
        False,
        head_first=key in _LINKERS,
        linkers=frozenset(_LINKERS.get(key, "").split()),
        has_compounds=key in COMPOUNDING,
        is_folded=True,
    )


def language_code(name: str) -> str:
    """Return the code of a language, or its name if it has none.

    >>> language_code("german")
    'de'
    """
    codes = {language: code for code, language in reversed(LANGUAGE_CODES.items())}
    return codes.get(name, name)


def _normalize_stop_words(words: list[str]) -> list[str]:
    """Tokenize stop words as queries; drop those that are not a single word then."""
    return [tokens[0] for tokens in tokenize(pl.Series(words)).to_list() if len(tokens) == 1]


def english_singulars(words: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the two most probable singulars of English words, by their endings.

    >>> for form in english_singulars(pl.Series(["universities", "glass", "buses", "mice"])):
    ...     print(form.to_list())
    ['university', 'glass', 'buse', 'mouse']
    ['universitie', 'glass', 'bus', 'mice']
    """
    word = pl.col("word")
    forms = []
    for choice_index in (0, 1):
        choice: Any = pl.when(word.str.ends_with("ss") | (word.str.len_chars() < 3)).then(word)
        for plural, singular in _PLURALS:
            ended = word.str.strip_suffix(plural) + singular[choice_index]
            choice = choice.when(word.str.ends_with(plural)).then(ended)
        forms.append(pl.DataFrame({"word": words}).select(choice.otherwise(word)).to_series())
    irregular = dict(line.split() for line in load_word_list("irregular plurals"))
    known = words.replace_strict(irregular, default=None, return_dtype=pl.String)
    regular = pl.DataFrame({"known": known, "form": forms[0]})
    return regular.select(pl.coalesce("known", "form")).to_series(), forms[1]


class FoldedWords:
    """Look up words in a vocabulary; where accents are missing, the first word that fits."""

    def __init__(self, words: Vocabulary, language: Language) -> None:
        self._words, self._language = words, language
        folded = language.fold(words.words) if language.is_folded else words.words
        table = pl.DataFrame({"folded": folded}).with_row_index("number")
        self._folded = table.unique("folded", keep="first", maintain_order=True)

    def known(self, words: pl.Series) -> IntArray:
        """Return the numbers of words, or -1 for unknown ones."""
        numbers = self._words.known(words)
        if not self._language.is_folded:
            return numbers
        # A word with an accent is spelled in full: "schränke" is no "schranke".
        plain = words.str.normalize("NFD") == words
        asked = pl.DataFrame({"folded": self._language.fold(words).set(~plain, "")})
        others = asked.join(self._folded, on="folded", how="left", maintain_order="left")
        folded = others["number"].cast(pl.Int32).fill_null(-1).to_numpy()
        return np.where(numbers >= 0, numbers, folded)


_MIN_WORD, _MAX_WORD = 7, 30
_MIN_PART, _MIN_HEAD = 3, 4


class CompoundSplitter:
    """Split compounds written as one word, to find the last word.

    `heads` are the words that may come last, `words` those that may precede them, and `whole` the
    words that are not split.

    >>> gluing = CompoundSplitter({"games", "mower"}, {"free", "bingo", "lawn"}, {"pergames"})
    >>> [gluing.last_word(word) for word in ("freebingogames", "lawnmower", "pergames", "xyzgames")]
    ['games', 'mower', '', '']
    """

    def __init__(self, heads: Iterable[str], words: Iterable[str], whole: Iterable[str]) -> None:
        self._heads = {head for head in heads if len(head) >= _MIN_HEAD}
        self._words = {word for word in words if len(word) >= _MIN_PART} | self._heads
        self._whole = frozenset(whole)

    def last_words(self, words: pl.Series) -> list[str]:
        """Return the last word of each word."""
        return [self.last_word(word) for word in words]

    def last_word(self, word: str) -> str:
        """Return the longest known last word that follows known words, or an empty string."""
        if not _MIN_WORD <= len(word) <= _MAX_WORD or word in self._whole or not word.isalpha():
            return ""
        for cut in range(_MIN_PART, len(word) - _MIN_HEAD + 1):
            if word[cut:] in self._heads and self._is_known(word[:cut]):
                return word[cut:]
        return ""

    def _is_known(self, start: str) -> bool:
        """Return whether this is a known word, or two known words."""
        return start in self._words or any(
            start[:cut] in self._words and start[cut:] in self._words
            for cut in range(_MIN_PART, len(start) - _MIN_PART + 1)
        )
