"""Concepts cut off at a depth: the levels of Erola et al. 2011.

`Sports/Soccer/UEFA/Spain` cut off at depth 2 is `Sports/Soccer`. In a tree that is a concept's
only ancestor at the depth. In a graph it is the one on the way of first parents, so that every
concept has exactly one prefix a level and no count is doubled. An artificial root has no depth;
a real one, such as WordNet's *entity*, has depth 1.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...errors import UsageError
from ..similarity.profiles import UNMAPPED, count_concepts
from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy

__all__ = ["ancestors_at_depth", "level_matrices"]


def ancestors_at_depth(taxonomy: Taxonomy, level: int) -> IntArray:
    """Give every concept's ancestor at a depth, itself included; -1 where it is less deep.

    >>> from queryveil.concepts import taxonomy_of_paths
    >>> odp = taxonomy_of_paths(["Top/Sports/Soccer/UEFA", "Top/Arts"])
    >>> cut = prefixes(odp, 2)
    >>> odp.name(cut[odp.concept("UEFA")]), cut[odp.concept("Arts")].item()
    ('Top/Sports/Soccer', -1)
    """
    if level < 1:
        raise UsageError(f"there is no level {level}", hint="levels begin with 1")
    above = _first_parents(taxonomy)
    depths = _chain_depths(above, taxonomy.has_real_root)
    cut = np.arange(len(taxonomy), dtype=np.int32)
    while len(deeper := np.flatnonzero(depths[cut] > level)):
        cut[deeper] = above[cut[deeper]]
    cut[depths < level] = -1
    return cut


def level_matrices(
    taxonomy: Taxonomy, pairs: pl.DataFrame | pl.LazyFrame, levels: int
) -> list[pl.DataFrame]:
    """Count for each level how often each user meant each category of it.

    These are the classification matrices M_1 to M_L of Erola 2011 (Alg. 1), without the zeros:
    tables of user, category and count, sorted. `pairs` has the columns user and concept, and
    may have a count; a concept less deep than a level adds nothing to it.
    """
    if levels < 1:
        raise UsageError(f"{levels} levels cannot be counted", hint="take 1 or more")
    rows = count_concepts(pairs).filter(pl.col("concept") != UNMAPPED)
    return [_level(rows, ancestors_at_depth(taxonomy, level)) for level in range(1, levels + 1)]


def _level(rows: pl.DataFrame, cut: IntArray) -> pl.DataFrame:
    concepts = rows["concept"].to_numpy()
    if len(concepts) and int(concepts.max()) >= len(cut):
        raise UsageError(f"there is no concept {int(concepts.max())} in this taxonomy")
    table = rows.select("user", "count", category=pl.Series(cut[concepts], dtype=pl.Int32))
    deep = table.filter(pl.col("category") >= 0)
    return deep.group_by("user", "category").agg(pl.col("count").sum()).sort("user", "category")


def _first_parents(taxonomy: Taxonomy) -> IntArray:
    """Give each concept's first parent; the root is its own."""
    parents = taxonomy.parents
    above = np.arange(len(taxonomy), dtype=np.int32)
    below = np.flatnonzero(parents.sizes)
    above[below] = parents.items[parents.start[below]]
    return above


def _chain_depths(above: IntArray, root_counts: bool) -> IntArray:
    """Count the concepts on the way of first parents, all concepts one step at a time."""
    depths = np.full(len(above), int(root_counts), np.int32)
    at = above
    climbing = np.flatnonzero(np.arange(len(above)) != above)
    while len(climbing):
        depths[climbing] += 1
        climbing = climbing[at[climbing] != above[at[climbing]]]
        at = above[at]
    return depths
