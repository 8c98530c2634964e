"""Lists of English words that come with the program; see tools/make_words.py."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..taxonomy.arrays import StringArray
from ..taxonomy.storage import read_arrays

__all__ = ["load_word_list"]

_FILE = Path(__file__).parents[1] / "data" / "english.words"


@cache
def load_word_list(name: str) -> tuple[str, ...]:
    """Give one of the lists: plurals, given names, surnames, cities, towns.

    >>> english_words("irregular plurals")[:2]
    ('aardwolves aardwolf', 'abaci abacus')
    """
    _, arrays = read_arrays(_FILE)
    return tuple(StringArray(arrays[name]).series())
