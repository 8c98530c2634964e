"""English nouns in queries of another language: "jeans", "smartphone", "marketing"."""

from __future__ import annotations

import numpy as np
import polars as pl

from ..taxonomy.graph import Taxonomy
from .language import Language, get_language
from .language_data import has_language_data, list_own_words
from .phrases import load_gazetteer

# Sorts of concepts that English words in other languages usually mean.
_KINDS = (
    "artifact", "food", "plant", "animal", "substance", "act", "communication", "event", "person",
    "group", "cognition",
)  # fmt: skip
_MIN_LETTERS = 4


def list_loan_words(taxonomy: Taxonomy, language: Language) -> list[tuple[str, int]]:
    """Return English nouns and their concepts, without those that are words of the language.

    They are looked up last, as a word alone and in the plural, never by a stem or in a compound.

    Args:
        taxonomy: WordNet with its English labels.
        language: The language of the queries.
    """
    if taxonomy.language != "english" or not has_language_data(language):
        return []
    kinds = taxonomy.tag_names.get("lexicographer")
    if language.has_tagger or kinds is None:
        return []
    lists = taxonomy.label_concepts
    labeled = np.flatnonzero(lists.sizes > 0)
    first = lists.items[lists.start[labeled]]
    chosen = np.isin(
        taxonomy.tags["lexicographer"][first], [kinds.index(kind) for kind in _KINDS]
    ) & (taxonomy.tags["proper"][first] == 0)
    nouns = pl.DataFrame(
        {
            "word": taxonomy.labels.series().gather(labeled[chosen]),
            "concept": first[chosen].astype(np.int64),
        }
    )
    own = language.fold(pl.Series(list_own_words(language), dtype=pl.String))
    nouns = nouns.filter(
        pl.col("word").str.contains(rf"^[a-z]{{{_MIN_LETTERS},}}$")
        & ~pl.col("word").is_in(own.implode())
    )
    usual = dict(load_gazetteer(taxonomy, get_language("en")).overrides)
    return [(word, usual.get(word, concept)) for word, concept in nouns.iter_rows()]
