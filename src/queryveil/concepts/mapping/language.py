"""What the text way needs to know of a language: stop words, a stemmer, plurals."""

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
from ..taxonomy.storage import read_arrays
from .tokens import tokenize

_FILE = Path(__file__).parents[1] / "data" / "english.words"


@cache
def load_word_list(name: str) -> tuple[str, ...]:
    """Give one of the lists: plurals, given names, surnames, cities, towns.

    >>> load_word_list("irregular plurals")[:2]
    ('aardwolves aardwolf', 'abaci abacus')
    """
    _, arrays = read_arrays(_FILE)
    return tuple(StringArray(arrays[name]).series())


# The usual lists of English stop words hold words that people search for ("area", "act", "home").
# These are the words that carry no meaning of their own.
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
# Plural endings and what stands for each in the singular, the likelier first.
_PLURALS = (("ies", ("y", "ie")), ("men", ("man", "men")), ("es", ("e", "")), ("s", ("", "s")))


@dataclass(frozen=True)
class Language:
    """A language: `stem` gives the stems of words; `singulars` what each may be the plural of."""

    name: str
    stop_words: frozenset[str]
    stem: Callable[[pl.Series], pl.Series]
    singulars: Callable[[pl.Series], tuple[pl.Series, ...]]
    has_tagger: bool


def get_language(name: str) -> Language:
    """Give a language by its English name.

    >>> get_language("german").stem(pl.Series(["katzen"])).to_list()
    ['katz']
    """
    known = sorted({*AVAILABLE_LANGUAGES} & {*Stemmer.algorithms()})
    wanted = name.lower()
    if wanted not in known:
        raise UsageError(
            f'no stop words and stemmer for the language "{name}"', hint=did_you_mean(name, known)
        )
    english = wanted == "english"
    listed = _ENGLISH.split() if english else _folded(get_stop_words(wanted))
    # The papers stem by Porter's first algorithm; Snowball's is its successor elsewhere.
    stemmer = Stemmer.Stemmer("porter" if english else wanted)
    return Language(
        wanted,
        frozenset(listed),
        lambda words: pl.Series(words.name, stemmer.stemWords(words.to_list()), pl.String),
        english_singulars if english else lambda words: (words,),
        english,
    )


def _folded(words: list[str]) -> list[str]:
    """Write stop words as queries are written; what is then several words, or none, goes."""
    return [found[0] for found in tokenize(pl.Series(words)).to_list() if len(found) == 1]


def english_singulars(words: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Give the two likeliest singulars of English words, by their endings.

    >>> for form in english_singulars(pl.Series(["universities", "glass", "buses", "mice"])):
    ...     print(form.to_list())
    ['university', 'glass', 'buse', 'mouse']
    ['universitie', 'glass', 'bus', 'mice']
    """
    word = pl.col("word")
    forms = []
    for which in (0, 1):
        choice: Any = pl.when(word.str.ends_with("ss") | (word.str.len_chars() < 3)).then(word)
        for plural, singular in _PLURALS:
            ended = word.str.strip_suffix(plural) + singular[which]
            choice = choice.when(word.str.ends_with(plural)).then(ended)
        forms.append(pl.DataFrame({"word": words}).select(choice.otherwise(word)).to_series())
    irregular = dict(line.split() for line in load_word_list("irregular plurals"))
    known = words.replace_strict(irregular, default=None, return_dtype=pl.String)
    regular = pl.DataFrame({"known": known, "form": forms[0]})
    return regular.select(pl.coalesce("known", "form")).to_series(), forms[1]


_LEAST, _MOST = 7, 30
_LEAST_PART, _LEAST_HEAD = 3, 4


class CompoundSplitter:
    """Finds the last word of glued ones.

    `heads` are the words that may come last, `words` all that may stand before, `whole` the
    words that are not to be taken apart.

    >>> gluing = CompoundSplitter({"games", "mower"}, {"free", "bingo", "lawn"}, {"pergames"})
    >>> [gluing.last_word(word) for word in ("freebingogames", "lawnmower", "pergames", "xyzgames")]
    ['games', 'mower', '', '']
    """

    def __init__(self, heads: Iterable[str], words: Iterable[str], whole: Iterable[str]) -> None:
        self._heads = {head for head in heads if len(head) >= _LEAST_HEAD}
        self._words = {word for word in words if len(word) >= _LEAST_PART} | self._heads
        self._whole = frozenset(whole)

    def last_word(self, word: str) -> str:
        """Give the longest known last word after known words, or an empty text."""
        if not _LEAST <= len(word) <= _MOST or word in self._whole or not word.isalpha():
            return ""
        for cut in range(_LEAST_PART, len(word) - _LEAST_HEAD + 1):
            if word[cut:] in self._heads and self._known(word[:cut]):
                return word[cut:]
        return ""

    def _known(self, start: str) -> bool:
        """Tell whether this is a known word, or two."""
        return start in self._words or any(
            start[:cut] in self._words and start[cut:] in self._words
            for cut in range(_LEAST_PART, len(start) - _LEAST_PART + 1)
        )
