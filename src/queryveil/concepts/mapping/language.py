"""Languages of the concept mapping: stop words, stemmers, plurals and compounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import Stemmer
from stop_words import AVAILABLE_LANGUAGES, get_stop_words

from ...errors import UsageError, did_you_mean
from ..taxonomy.arrays import StringArray
from ..taxonomy.storage import Arrays, read_arrays
from .tokens import tokenize

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


# Common lists of English stop words hold words that users search for ("area", "act", "home").
# This list has only words without a meaning of their own.
_ENGLISH = """
a about above across after again against all along also am among an and another any anyone
anything are around as at away back be because been before behind being below beneath beside
between beyond both but by can cannot could did do does doing done down during each either else
ever every everyone everything for from get had has have having he her here hers herself him
himself his how i if im in into is isnt it its itself just let like many may me might mine more
most much must my myself near neither never no nor not of off on once one only onto or other our
ours ourselves out over own per please same shall she should since so some someone something
such than that the their theirs them themselves then there these they this those though through
thru to too toward towards under until up upon us very via vs was wasnt we were what whatever
when where wherever whether which while who whom whose why will with within without would you
your yours yourself dont doesnt didnt cant wont ive youre whats theres thats
"""
# Plural endings and their singular endings, the more probable first.
_PLURALS = (("ies", ("y", "ie")), ("men", ("man", "men")), ("es", ("e", "")), ("s", ("", "s")))


@dataclass(frozen=True)
class Language:
    """A language; `stem` returns the stems of words, `singulars` the possible singulars."""

    name: str
    stop_words: frozenset[str]
    stem: Callable[[pl.Series], pl.Series]
    singulars: Callable[[pl.Series], tuple[pl.Series, ...]]
    has_tagger: bool


# The codes of languages by ISO 639-1.
LANGUAGE_CODES = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian",
    "nl": "dutch", "pt": "portuguese", "pl": "polish", "sv": "swedish", "da": "danish",
    "no": "norwegian", "nb": "norwegian", "ro": "romanian", "ru": "russian", "fi": "finnish",
    "el": "greek", "ca": "catalan", "hu": "hungarian", "tr": "turkish", "ar": "arabic",
}  # fmt: skip


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
            f'no stop words and stemmer for the language "{name}"', hint=did_you_mean(name, known)
        )
    english = key == "english"
    listed = _ENGLISH.split() if english else _normalize_stop_words(get_stop_words(key))
    # The papers use Porter's original algorithm; other languages have Snowball stemmers.
    stemmer = Stemmer.Stemmer("porter" if english else key)
    return Language(
        key,
        frozenset(listed),
        lambda words: pl.Series(words.name, stemmer.stemWords(words.to_list()), pl.String),
        english_singulars if english else lambda words: (words,),
        english,
    )


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
