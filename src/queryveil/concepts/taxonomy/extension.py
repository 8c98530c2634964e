"""Add concepts below those of a taxonomy, for example names of brands below WordNet's nouns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from .arrays import IntArray, RaggedArray, StringArray
from .depths import compute_depths
from .graph import Taxonomy


@dataclass(frozen=True, eq=False)
class AddedConcepts:
    """Concepts to add: a name, one label and one parent each.

    A parent is named by a concept of the taxonomy, or by an added concept that stands before.
    `use` becomes the tag `use` of the concepts; those of the taxonomy get 0.
    """

    names: Sequence[str]
    labels: Sequence[str]
    parents: Sequence[str]
    use: IntArray


def extend_taxonomy(taxonomy: Taxonomy, added: AddedConcepts) -> Taxonomy:
    """Return the taxonomy with added concepts; a label that it has keeps its meanings first.

    Concepts are numbered anew, by level. An added concept has the tags of its parent, and counts
    as a proper name.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Tennis"])
    >>> brand = AddedConcepts(["own"], ["wilson"], ["Tennis"], np.array([0]))
    >>> more = extend_taxonomy(odp, brand)
    >>> [more.label(concept) for concept in more.ancestors(more.lookup("wilson")[0])]
    ['Sports', 'Tennis', 'wilson']
    """
    above = _find_parents(taxonomy, added)
    items = np.concatenate([taxonomy.parents.items, above])
    sizes = np.concatenate([taxonomy.parents.sizes, np.ones(len(above), np.int64)])
    parents = RaggedArray.from_sizes(sizes, items)
    order = np.argsort(compute_depths(parents), kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    moved, owners = parents.take(order)
    labels, meanings, titles = _add_labels(taxonomy, added.labels)
    names = pl.concat([taxonomy.names.series(), pl.Series("text", list(added.names))])
    return replace(
        taxonomy,
        names=StringArray.of(names.gather(order).to_list()),
        labels=labels,
        label_concepts=RaggedArray(meanings.start, number[meanings.items]),
        titles=titles[order],
        parents=RaggedArray.from_sizes(
            np.bincount(owners, minlength=len(order)), number[moved].astype(np.int32)
        ),
        tags={name: values[order] for name, values in _add_tags(taxonomy, added, above).items()},
        stored_ancestors=None,
        file=None,
        cache={},
    )


def _find_parents(taxonomy: Taxonomy, added: AddedConcepts) -> IntArray:
    numbers = dict(taxonomy.find_all(sorted(set(added.parents))))
    numbers |= {name: len(taxonomy) + index for index, name in enumerate(added.names)}
    return np.array([numbers[parent] for parent in added.parents], np.int32)


def _add_labels(
    taxonomy: Taxonomy, texts: Sequence[str]
) -> tuple[StringArray, RaggedArray, IntArray]:
    """Return all labels, their concepts in the old order of numbers, and the titles."""
    old = taxonomy.labels.series()
    new = pl.Series("text", list(texts), dtype=pl.String)
    joined = pl.concat([old, new.filter(~new.is_in(old.implode())).unique(maintain_order=True)])
    rows = pl.DataFrame({"text": joined}).with_row_index("row")
    own = pl.DataFrame({"text": new}).join(rows, on="text", how="left", maintain_order="left")
    new_rows = own["row"].to_numpy().astype(np.int64)
    concepts = len(taxonomy) + np.arange(len(new_rows), dtype=np.int32)
    meanings = RaggedArray.group_by(
        np.concatenate([taxonomy.label_concepts.row_ids.astype(np.int64), new_rows]),
        np.concatenate([taxonomy.label_concepts.items, concepts]),
        len(joined),
    )
    titles = np.concatenate([taxonomy.titles, new_rows.astype(np.int32)])
    return StringArray.of(joined.to_list()), meanings, titles


def _add_tags(taxonomy: Taxonomy, added: AddedConcepts, above: IntArray) -> dict[str, IntArray]:
    root = above.copy()
    while (root >= len(taxonomy)).any():  # the tag of the nearest concept of the taxonomy
        own = root >= len(taxonomy)
        root[own] = above[root[own] - len(taxonomy)]
    tags = {name: np.concatenate([values, values[root]]) for name, values in taxonomy.tags.items()}
    if "proper" in tags:
        tags["proper"][len(taxonomy) :] = 1
    old = np.zeros(len(taxonomy), np.uint8)
    return tags | {"use": np.concatenate([old, added.use.astype(np.uint8)])}
