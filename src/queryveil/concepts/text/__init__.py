"""The text way: words, tags, stop words, stems and names."""

from .kinds import MODIFIER, NOUN, OTHER, VERB, Tagger
from .language import Language, language_named
from .words import PerWord, Vocabulary, normalise

__all__ = [
    "MODIFIER",
    "NOUN",
    "OTHER",
    "VERB",
    "Language",
    "PerWord",
    "Tagger",
    "Vocabulary",
    "language_named",
    "normalise",
]
