"""What a word can be in a noun phrase, by its part of speech."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..taxonomy.arrays import ByteArray, RaggedArray

__all__ = ["MODIFIER", "NOUN", "OTHER", "VERB", "Tagger", "word_classes"]

OTHER, MODIFIER, NOUN, VERB = 0, 1, 2, 3
# Penn's tags; a gerund counts as a noun ("windsurfing").
_KINDS = {
    NOUN: ("NN", "NNS", "NNP", "NNPS", "VBG"),
    MODIFIER: ("JJ", "JJR", "JJS", "VBN", "CD", "POS"),
    VERB: ("VB", "VBD", "VBP", "VBZ"),
}


class Tagger(Protocol):
    """What the way from text to concepts needs of a tagger."""

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        ...

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name."""
        ...


def word_classes(tags: Sequence[str]) -> ByteArray:
    """Give the kind of each tag.

    >>> kinds_of(["NN", "JJ", "VBG", "VBZ", "IN"]).tolist()
    [2, 1, 2, 3, 0]
    """
    table = {tag: kind for kind, members in _KINDS.items() for tag in members}
    return np.array([table.get(tag, OTHER) for tag in tags], np.uint8)
