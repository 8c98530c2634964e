"""Domains, the concepts that may replace one another, and score functions over them.

A domain is a concept and all below it, eq. (4) of Sanchez et al. 2018. Leaves with the same
parents have the same similarity to every other concept, so they form one class. The common
ancestors of two classes are those of their parents. So the table of a domain is about twenty
times smaller than a table of all pairs of concepts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .distance import restrict
from .topics import Topics

Counts = NDArray[np.unsignedinteger[Any]]

MAX_CONCEPTS = 100_000  # a larger domain is cut at the deepest level that keeps this limit


@dataclass(frozen=True, eq=False)
class Domain:
    """The concepts of a domain, in classes.

    `concepts` are ordered by class, and `sizes` has the number of concepts of each class.
    `ancestor_counts` has the number of ancestors inside the domain of a concept of the class,
    itself included. `index_of` has for every concept of the taxonomy the index in `concepts` of
    the concept, or of the concept that represents it, or -1.

    The *base* of a class is the set of ancestors of its concepts, for leaves without the concept
    itself. `class_base` has the number of the base of each class, `bases` the ancestors of each
    base.
    """

    title: str
    concepts: IntArray
    index_of: IntArray
    sizes: NDArray[np.int64]
    ancestor_counts: IntArray
    class_base: IntArray
    bases: RaggedArray

    def __len__(self) -> int:
        return len(self.concepts)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The index of the first concept of each class, and the number of concepts at the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def base_overlaps(self) -> Counts:
        """The number of common ancestors of each pair of bases."""
        return _count_shared(self.bases)

    def shared_ancestors(self, row: int, others: slice) -> Counts:
        """Return the numbers of ancestors that a concept of a class shares with other classes.

        For the class itself it is the number that two different concepts of it share.
        """
        return np.asarray(self.base_overlaps[self.class_base[row]][self.class_base[others]])


def build_domain(
    taxonomy: Taxonomy,
    top: int,
    topics: Topics | None = None,
    *,
    without: BoolArray | None = None,
    max_concepts: int = MAX_CONCEPTS,
) -> Domain:
    """Build the domain below a concept.

    Args:
        topics: If present, each class has concepts of one topic only, and the classes of a topic
            are consecutive.
        without: A mask of concepts that belong to another domain.
        max_concepts: A larger domain is cut at a level. Concepts below it are represented by
            an ancestor.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> ill = taxonomy_from_paths(["disease/lungs/asthma", "disease/lungs/pneumonia"])
    >>> domain = build_domain(ill, ill.find("disease"))
    >>> len(domain), domain.sizes.tolist()
    (4, [1, 1, 2])
    """
    if not 0 <= top < len(taxonomy):
        raise UsageError(f"there is no concept {top} that could be a domain")
    inside = taxonomy.descendant_mask(top)
    if not taxonomy.has_real_root:
        inside[0] = False  # no query means an artificial root
    if without is not None:
        inside &= ~without
    if not inside.any():
        raise UsageError(f'the domain "{taxonomy.label(top)}" has no concepts')
    representatives = _cut_deep_levels(taxonomy, inside, max_concepts)
    return _build_classes(taxonomy, top, inside, representatives, topics)


def _cut_deep_levels(taxonomy: Taxonomy, inside: BoolArray, max_concepts: int) -> IntArray:
    """Remove concepts that lie too deep from `inside`, and return the representatives.

    The representative of a removed concept is that of its first parent that has one. Concepts
    outside the domain have -1.
    """
    representatives = np.where(inside, np.arange(len(inside)), -1)
    depths = taxonomy.depths
    counts = np.bincount(depths[inside])
    deepest = int(np.searchsorted(np.cumsum(counts), max_concepts, side="right")) - 1
    deepest = max(deepest, int(depths[inside].min()))
    for depth in range(deepest + 1, len(counts)):
        deep = np.flatnonzero(inside & (depths == depth))
        inside[deep] = False
        above, child = taxonomy.parents.take(deep)
        # Reversed: the first parent is written last, and stays.
        known = np.flatnonzero(representatives[above] >= 0)[::-1]
        representatives[deep] = -1
        representatives[deep[child[known]]] = representatives[above[known]]
    return representatives


def _build_classes(
    taxonomy: Taxonomy,
    top: int,
    inside: BoolArray,
    representatives: IntArray,
    topics: Topics | None,
) -> Domain:
    members = np.flatnonzero(inside)
    numbers = np.where(inside, np.cumsum(inside) - 1, -1).astype(np.int32)
    parents, sets = (
        restrict(lists, numbers) for lists in (taxonomy.parents, taxonomy.all_ancestors)
    )
    leaf = np.bincount(parents.items, minlength=len(members)) == 0
    topic = np.zeros(len(members), np.int64) if topics is None else topics.topic_of[members]
    bases = _build_bases(parents, leaf)
    # Only leaves share a class: the key of an inner concept is unique.
    key = np.where(leaf, len(members), np.arange(len(members)))
    _, first, classes = np.unique(
        np.stack([topic.astype(np.int64), bases.of, key]), axis=1, return_index=True,
        return_inverse=True,
    )  # fmt: skip
    order = np.argsort(classes.reshape(-1), kind="stable")
    concepts = members[order]
    index = np.full(len(taxonomy) + 1, -1, np.int64)
    index[concepts] = np.arange(len(concepts))
    return Domain(
        title=taxonomy.label(top),
        concepts=concepts,
        index_of=index[representatives],
        sizes=np.bincount(classes.reshape(-1)).astype(np.int64),
        ancestor_counts=sets.sizes[first],
        class_base=bases.of[first],
        bases=bases.lists(sets),
    )


@dataclass(frozen=True, eq=False)
class _Bases:
    """The distinct bases; `of` has the number of the base of each concept.

    A base is the ancestor set of one concept (`single`), or the union of those of several parents
    (`joined`, for leaves with several parents).
    """

    of: IntArray
    single: IntArray
    joined: list[tuple[int, ...]]

    def lists(self, sets: RaggedArray) -> RaggedArray:
        """Return the ancestors of each base, from the root down."""
        joined = [np.unique(sets.take(np.array(parents))[0]) for parents in self.joined]
        rows = [sets[concept] for concept in self.single.tolist()] + joined
        return RaggedArray.from_sizes(np.array([len(row) for row in rows]), np.concatenate(rows))


def _build_bases(parents: RaggedArray, leaf: BoolArray) -> _Bases:
    of = np.full(len(parents), -1, np.int64)
    # An inner concept has its own set, and so has a leaf without parents in the domain.
    single = np.flatnonzero(~leaf | (parents.sizes == 0))
    of[single] = np.arange(len(single))
    only = np.flatnonzero(leaf & (parents.sizes == 1))
    of[only] = of[parents.items[parents.start[only]]]
    several = np.flatnonzero(leaf & (parents.sizes > 1)).tolist()
    joined: dict[tuple[int, ...], int] = {}
    for concept in several:
        group = tuple(sorted(parents[concept].tolist()))
        of[concept] = joined.setdefault(group, len(single) + len(joined))
    return _Bases(of, single, list(joined))


def _count_shared(bases: RaggedArray) -> Counts:
    """Count the common ancestors of all pairs of bases.

    The row of a base adds 1 for each of its ancestors to the bases that have this ancestor. If
    all ancestors but the last form another base, its row is copied and only the last is added.
    """
    below = bases.transpose(int(bases.items.max(initial=0)) + 1)
    dtype = np.uint8 if int(bases.sizes.max(initial=0)) < 256 else np.uint16
    shared = np.zeros((len(bases), len(bases)), dtype)
    known: dict[bytes, int] = {}
    for row in range(len(bases)):
        ancestors = rest = bases[row]
        prefix_row = known.get(ancestors[:-1].tobytes())
        if prefix_row is not None:
            shared[row], rest = shared[prefix_row], ancestors[-1:]
        for ancestor in rest.tolist():
            shared[row, below[ancestor]] += 1
        known[ancestors.tobytes()] = row
    return shared


_MAX_ANCESTORS = 130  # the table of levels has this number cubed; WordNet has 35

Levels = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class IdentityScore:
    """Score 1 for the concept itself and 0 for all others; all concepts form one class."""

    size: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of concepts of the single class."""
        return np.array([self.size])

    @property
    def values(self) -> NDArray[np.float64]:
        """The scores: 1 for a concept and itself, 0 for two different concepts."""
        return np.array([1.0, 0.0])

    def near(self, row: int) -> slice:  # noqa: ARG002
        """Return the slice of the single class."""
        return slice(0, 1)

    def levels(self, row: int) -> Levels:  # noqa: ARG002
        """Return the level of every other concept: that of score 0."""
        return np.array([1], np.uint16)


@dataclass(frozen=True, eq=False)
class SimilarityScore:
    """Score by the similarity of concepts, eq. (5) of Sanchez et al. 2018.

    `values` has the score of each level. `table[m, s, n]` has the level of two concepts with `m`
    and `n` ancestors of which `s` are common; the last level is that of concepts of different
    topics. `topic` has the topic of each class, ascending.
    """

    domain: Domain
    values: NDArray[np.float64]
    table: NDArray[np.uint16]
    topic: NDArray[np.int16]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of concepts of each class."""
        return self.domain.sizes

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """The first class, and the class after the last one, of the topic of each class."""
        sides = [np.searchsorted(self.topic, self.topic, side) for side in ("left", "right")]
        return np.stack(sides)

    def near(self, row: int) -> slice:
        """Return the slice of the classes with the same topic."""
        return slice(int(self._bounds[0, row]), int(self._bounds[1, row]))

    def levels(self, row: int) -> Levels:
        """Return the level of each class of the same topic, for a concept of the class `row`."""
        counts, same_topic = self.domain.ancestor_counts, self.near(row)
        lookup = self.table[counts[row]]
        indices = self.domain.shared_ancestors(row, same_topic).astype(np.intp)
        indices *= lookup.shape[1]
        indices += counts[same_topic]
        return np.asarray(lookup.reshape(-1).take(indices))


def similarity_score(domain: Domain, topics: Topics | None = None) -> SimilarityScore:
    """Build the score by similarity; with topics, by similarity within a topic.

    The domain must have been built with the same topics.
    """
    size = int(domain.ancestor_counts.max()) + 1
    if size > _MAX_ANCESTORS:
        raise UsageError(
            f"a concept of {domain.title} has {size - 1:,} ancestors, too many to compare",
            hint=f"choose a domain with at most {_MAX_ANCESTORS - 1}",
        )
    first, shared, second = np.meshgrid(*(np.arange(n) for n in (size, size, size)), indexing="ij")
    union = first + second - shared
    possible = (shared <= first) & (shared <= second) & (union > 0)
    fractions = {
        Fraction(int(s), int(u)) for s, u in zip(shared[possible], union[possible], strict=True)
    }
    order = sorted(fractions | {Fraction(1)}, reverse=True)
    number = {fraction: level for level, fraction in enumerate(order)}
    table = np.zeros(first.shape, np.uint16)
    pairs = zip(shared[possible].tolist(), union[possible].tolist(), strict=True)
    table[possible] = [number[Fraction(s, u)] for s, u in pairs]
    # Eq. (5): 1 - log2(1 + fraction of ancestors that is not common). Exact fractions merge equal
    # levels before rounding.
    distances = np.array([float(1 - fraction) for fraction in order])
    values = np.append(1 - np.log2(1 + distances), 0.0)
    if topics is None:
        return SimilarityScore(domain, values, table, np.zeros(len(domain.sizes), np.int16))
    return SimilarityScore(
        domain, values, table, topics.topic_of[domain.concepts[domain.starts[:-1]]]
    )
