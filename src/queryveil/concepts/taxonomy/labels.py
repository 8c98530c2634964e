"""Texts for concepts: a label of each, drawn among those that lead back to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .arrays import IntArray, RaggedArray
from .graph import Taxonomy


@dataclass(frozen=True, eq=False, repr=False)
class PublishableLabels:
    """The texts that concepts may be published as: `texts`, each once, and which `of` each."""

    texts: pl.Series
    of: RaggedArray

    def sample(self, concepts: IntArray, numbers: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Choose for each concept one of its texts by a random number; give their places."""
        choices = self.of.sizes[concepts].astype(np.uint64)
        picks = (numbers % choices).astype(np.int64)
        return np.asarray(self.of.items[self.of.start[concepts] + picks], np.uint32)


def publishable_labels(taxonomy: Taxonomy) -> PublishableLabels:
    """Give the labels of every concept: where some lead back to it, only those.

    A label leads back if the concept is its most usual meaning, so that who reads it, or maps it
    again, finds the concept that was meant.

    >>> from queryveil.concepts import open_taxonomy
    >>> wordnet = open_taxonomy("wordnet")
    >>> names = publishable_labels(wordnet)
    >>> names.texts.gather(names.of[wordnet.find("asthma")]).to_list()
    ['asthma', 'asthma attack', 'bronchial asthma']
    """
    known = taxonomy.cache.get("names")
    if isinstance(known, PublishableLabels):
        return known
    labels = taxonomy.labels.series()
    texts = labels.unique(maintain_order=True)
    numbers = _numbers(labels, texts)
    rows, concepts = taxonomy.label_concepts.row_ids, taxonomy.label_concepts.items
    first = np.zeros(len(rows), np.bool_)
    first[taxonomy.label_concepts.start[:-1][taxonomy.label_concepts.sizes > 0]] = True
    leads = np.zeros(len(taxonomy), np.bool_)
    leads[concepts[first]] = True
    kept = first | ~leads[concepts]
    title = np.setdiff1d(np.arange(len(taxonomy)), concepts)  # no label means it: its own title
    owners = np.concatenate([concepts[kept], title])
    items = np.concatenate([numbers[rows[kept]], numbers[taxonomy.titles[title]]])
    made = PublishableLabels(texts, RaggedArray.group_by(owners, items, len(taxonomy)))
    taxonomy.cache["names"] = made
    return made


def _numbers(labels: pl.Series, texts: pl.Series) -> NDArray[np.int64]:
    """Give for each label the place of its text."""
    places = pl.DataFrame({"text": texts}).with_row_index("place")
    found = pl.DataFrame({"text": labels}).join(places, on="text", maintain_order="left")
    return found["place"].to_numpy().astype(np.int64)
