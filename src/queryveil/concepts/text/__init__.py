"""The text way: words, tags, stop words, stems and names."""

from .kinds import MODIFIER, NOUN, OTHER, VERB, Tagger
from .language import Language, get_language
from .words import Vocabulary, WordFeature, tokenize

__all__ = [
    "MODIFIER",
    "NOUN",
    "OTHER",
    "VERB",
    "Language",
    "Tagger",
    "Vocabulary",
    "WordFeature",
    "get_language",
    "tokenize",
]
