"""Labels for released concepts, sampled among those whose most common meaning is the concept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .arrays import IntArray, RaggedArray
from .graph import Taxonomy

_UNRELEASED = Path(__file__).parents[1] / "data" / "unreleased-labels.txt"


@dataclass(frozen=True, eq=False, repr=False)
class PublishableLabels:
    """The distinct `texts` that concepts may be released as; `of` lists those of each concept."""

    texts: pl.Series
    of: RaggedArray

    def sample(self, concepts: IntArray, numbers: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Sample one text per concept from a random number each; return indices into `texts`."""
        choices = self.of.sizes[concepts].astype(np.uint64)
        offsets = (numbers % choices).astype(np.int64)
        return np.asarray(self.of.items[self.of.start[concepts] + offsets], np.uint32)


def publishable_labels(taxonomy: Taxonomy) -> PublishableLabels:
    """Return the labels that each concept may be released as.

    These are the labels of which the concept is the most common meaning, so that a reader, or
    the mapper, gets back to the same concept. A concept without such labels keeps all its labels.
    Slurs and vulgar words of WordNet are left out; a concept without other labels is released as
    the nearest one above it.

    >>> from queryveil.concepts import open_taxonomy
    >>> wordnet = open_taxonomy("wordnet")
    >>> names = publishable_labels(wordnet)
    >>> names.texts.gather(names.of[wordnet.find("asthma")]).to_list()
    ['asthma', 'asthma attack', 'bronchial asthma']
    """
    cached = taxonomy.cache.get("names")
    if isinstance(cached, PublishableLabels):
        return cached
    labels = taxonomy.labels.series()
    texts = labels.unique(maintain_order=True)
    text_ids = _text_indices(labels, texts)
    rows, concepts = taxonomy.label_concepts.row_ids, taxonomy.label_concepts.items
    first = np.zeros(len(rows), np.bool_)
    first[taxonomy.label_concepts.start[:-1][taxonomy.label_concepts.sizes > 0]] = True
    is_first_meaning = np.zeros(len(taxonomy), np.bool_)
    is_first_meaning[concepts[first]] = True
    kept = first | ~is_first_meaning[concepts]
    unlabeled = np.setdiff1d(np.arange(len(taxonomy)), concepts)  # its title is used
    owners = np.concatenate([concepts[kept], unlabeled])
    items = np.concatenate([text_ids[rows[kept]], text_ids[taxonomy.titles[unlabeled]]])
    names = RaggedArray.group_by(owners, items, len(taxonomy))
    publishable = PublishableLabels(texts, _without_unreleased(taxonomy, texts, names))
    taxonomy.cache["names"] = publishable
    return publishable


def _without_unreleased(taxonomy: Taxonomy, texts: pl.Series, names: RaggedArray) -> RaggedArray:
    """Remove the labels that are never released; a concept without others has those above it."""
    listed = [line.split("\t")[0] for line in _UNRELEASED.read_text("utf-8").splitlines()]
    concepts = [concept for _, concept in taxonomy.find_all(listed)]
    if not concepts:  # no taxonomy with WordNet: its owner chose the labels
        return names
    kept = ~texts.is_in(listed).to_numpy()[names.items] & ~np.isin(names.row_ids, concepts)
    left = np.bincount(names.row_ids[kept], minlength=len(names))
    owners, items = [names.row_ids[kept]], [names.items[kept]]
    for concept in np.flatnonzero((left == 0) & (names.sizes > 0)).tolist():
        above = concept
        while not left[above]:
            above = int(taxonomy.parents[above][0])
        substitutes = names[above][~texts.gather(names[above]).is_in(listed).to_numpy()]
        owners.append(np.full(len(substitutes), concept))
        items.append(substitutes)
    return RaggedArray.group_by(np.concatenate(owners), np.concatenate(items), len(names))


def _text_indices(labels: pl.Series, texts: pl.Series) -> NDArray[np.int64]:
    """Return for each label the index of its text in `texts`."""
    indices = pl.DataFrame({"text": texts}).with_row_index("place")
    joined = pl.DataFrame({"text": labels}).join(indices, on="text", maintain_order="left")
    return joined["place"].to_numpy().astype(np.int64)
