"""Taggers beside Brill's: spaCy, for who has it, and none, for other languages."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import UsageError
from ..mapping.tokens import Vocabulary
from ..taxonomy.arrays import ByteArray, RaggedArray
from .kinds import NOUN, word_classes

__all__ = ["NounTagger", "SpacyTagger"]

_PENN = {"NOUN": "NN", "PROPN": "NNP", "ADJ": "JJ", "NUM": "CD", "VERB": "VB", "AUX": "MD"}
_CODES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it",
          "dutch": "nl", "portuguese": "pt", "danish": "da", "norwegian": "nb", "polish": "pl",
          "romanian": "ro", "russian": "ru", "swedish": "sv", "finnish": "fi", "greek": "el",
          "catalan": "ca", "lithuanian": "lt"}  # fmt: skip


class NounTagger:
    """Takes every word for a noun; stop words part the phrases."""

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        return np.full(len(texts.items), NOUN, np.uint8)

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name."""
        return ["word"] * len(texts.items)


class SpacyTagger:
    """Tags with a spaCy model that is installed; some fifty times slower than ours."""

    def __init__(self, vocabulary: Vocabulary, language: str) -> None:
        self._vocabulary = vocabulary
        self._model = _load(language)

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        return word_classes(self.names(texts))

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name: Penn's, or the nearest to spaCy's own."""
        words = self._vocabulary.words
        docs = (self._doc(words.gather(texts[row]).to_list()) for row in range(len(texts)))
        return [_penn(token) for doc in self._model.pipe(docs, batch_size=1000) for token in doc]

    def _doc(self, words: list[str]) -> Any:
        from spacy.tokens import Doc  # noqa: PLC0415

        return Doc(self._model.vocab, words=words)


def _penn(token: Any) -> str:
    if token.tag_ in ("VBG", "VBN"):
        return str(token.tag_)
    return _PENN.get(token.pos_, "IN")


def _load(language: str) -> Any:
    try:
        import spacy  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "the tagger spacy is not installed", hint="pip install 'queryveil[spacy]'"
        ) from error
    code = _CODES.get(language, language)
    models = sorted(m for m in spacy.util.get_installed_models() if m.startswith(f"{code}_"))
    if not models:
        raise UsageError(
            f"spaCy has no model for {language} here",
            hint=f"install one, such as {code}_core_web_sm, or leave --tagger out",
        )
    return spacy.load(models[0], exclude=["ner", "parser", "lemmatizer"])
