"""Domains: the concepts that may stand for one another, and how near each is to each other one.

A domain is a concept and all below it, eq. (4) of Sanchez et al. 2018. Leaves with the same
parents are equally near to everything else, so they are one class; and what a class shares with
another is what their parents share. That makes the table of a domain some twenty times smaller
than one of all pairs of concepts.
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

MAX_CONCEPTS = 100_000  # of a domain; a larger one ends at a level that has no more


@dataclass(frozen=True, eq=False)
class Domain:
    """The concepts of a domain, in classes.

    `concepts` stand class by class, `sizes` has how many each class has, `above` how many
    ancestors inside the domain a concept of the class has, itself included. `place` has for every
    concept of the taxonomy where it, or what stands for it, is in `concepts`, or -1.

    Of each class the ancestors without the concept itself, if it is a leaf, are a *base*:
    `base` has its number, `bases` what each consists of.
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
        """The first concept of each class, and their number at the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def base_overlaps(self) -> Counts:
        """How many ancestors each two bases have in common."""
        return _shared(self.bases)

    def shared_ancestors(self, row: int, others: slice) -> Counts:
        """Count what a concept of this class shares with one of each of some other classes.

        For the class itself that is what two of its concepts share.
        """
        return np.asarray(self.base_overlaps[self.class_base[row]][self.class_base[others]])


def build_domain(
    taxonomy: Taxonomy,
    top: int,
    topics: Topics | None = None,
    *,
    without: BoolArray | None = None,
    most: int = MAX_CONCEPTS,
) -> Domain:
    """Make the domain below a concept.

    With topics, each class has concepts of one topic only, and those of a topic stand in a row.
    What is marked in `without` belongs to another domain.

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
        inside[0] = False  # a root of ours is no concept that could be meant
    if without is not None:
        inside &= ~without
    if not inside.any():
        raise UsageError(f'the domain "{taxonomy.label(top)}" has no concepts')
    stands = _shallow(taxonomy, inside, most)
    return _classed(taxonomy, top, inside, stands, topics)


def _shallow(taxonomy: Taxonomy, inside: BoolArray, most: int) -> IntArray:
    """Leave out what lies too deep, in place; give for each concept what stands for it, or -1.

    That is what stands for the first of its parents that has one.
    """
    stands = np.where(inside, np.arange(len(inside)), -1)
    depths = taxonomy.depths
    found = np.bincount(depths[inside])
    deepest = int(np.searchsorted(np.cumsum(found), most, side="right")) - 1
    deepest = max(deepest, int(depths[inside].min()))
    for depth in range(deepest + 1, len(found)):
        deep = np.flatnonzero(inside & (depths == depth))
        inside[deep] = False
        above, child = taxonomy.parents.take(deep)
        known = np.flatnonzero(stands[above] >= 0)[::-1]  # the first is written last, and stays
        stands[deep] = -1
        stands[deep[child[known]]] = stands[above[known]]
    return stands


def _classed(
    taxonomy: Taxonomy, top: int, inside: BoolArray, stands: IntArray, topics: Topics | None
) -> Domain:
    members = np.flatnonzero(inside)
    numbers = np.where(inside, np.cumsum(inside) - 1, -1).astype(np.int32)
    parents, sets = (
        restrict(lists, numbers) for lists in (taxonomy.parents, taxonomy.all_ancestors)
    )
    leaf = np.bincount(parents.items, minlength=len(members)) == 0
    topic = np.zeros(len(members), np.int64) if topics is None else topics.topic_of[members]
    bases = _bases(parents, leaf)
    key = np.where(leaf, len(members), np.arange(len(members)))  # only leaves share a class
    _, first, classes = np.unique(
        np.stack([topic.astype(np.int64), bases.of, key]), axis=1, return_index=True,
        return_inverse=True,
    )  # fmt: skip
    order = np.argsort(classes.reshape(-1), kind="stable")
    concepts = members[order]
    place = np.full(len(taxonomy) + 1, -1, np.int64)
    place[concepts] = np.arange(len(concepts))
    return Domain(
        title=taxonomy.label(top),
        concepts=concepts,
        index_of=place[stands],
        sizes=np.bincount(classes.reshape(-1)).astype(np.int64),
        ancestor_counts=sets.sizes[first],
        class_base=bases.of[first],
        bases=bases.lists(sets),
    )


@dataclass(frozen=True, eq=False)
class _Bases:
    """The distinct sets of ancestors that count: `of` each concept, and what each is made of.

    A base is the set of one concept (`single`), or of several parents joined (`joined`, for the
    leaves that have several).
    """

    of: IntArray
    single: IntArray
    joined: list[tuple[int, ...]]

    def lists(self, sets: RaggedArray) -> RaggedArray:
        """Give the ancestors of each base, from the root down."""
        joined = [np.unique(sets.take(np.array(ways))[0]) for ways in self.joined]
        rows = [sets[concept] for concept in self.single.tolist()] + joined
        return RaggedArray.from_sizes(np.array([len(row) for row in rows]), np.concatenate(rows))


def _bases(parents: RaggedArray, leaf: BoolArray) -> _Bases:
    of = np.full(len(parents), -1, np.int64)
    # A concept with others below it has its own set; so has a leaf without parents here.
    single = np.flatnonzero(~leaf | (parents.sizes == 0))
    of[single] = np.arange(len(single))
    only = np.flatnonzero(leaf & (parents.sizes == 1))
    of[only] = of[parents.items[parents.start[only]]]
    several = np.flatnonzero(leaf & (parents.sizes > 1)).tolist()
    joined: dict[tuple[int, ...], int] = {}
    for concept in several:
        ways = tuple(sorted(parents[concept].tolist()))
        of[concept] = joined.setdefault(ways, len(single) + len(joined))
    return _Bases(of, single, list(joined))


def _shared(bases: RaggedArray) -> Counts:
    """Count the common ancestors of all pairs of bases.

    The row of a base is the sum of its ancestors' marks; that of a base which has but one ancestor
    more than another is that row and one mark.
    """
    below = bases.transpose(int(bases.items.max(initial=0)) + 1)
    kind = np.uint8 if int(bases.sizes.max(initial=0)) < 256 else np.uint16
    shared = np.zeros((len(bases), len(bases)), kind)
    known: dict[bytes, int] = {}
    for row in range(len(bases)):
        ancestors = rest = bases[row]
        before = known.get(ancestors[:-1].tobytes())
        if before is not None:
            shared[row], rest = shared[before], ancestors[-1:]
        for one in rest.tolist():
            shared[row, below[one]] += 1
        known[ancestors.tobytes()] = row
    return shared


_MOST_ABOVE = 130  # the table of levels has the cube of it; WordNet has 35

Levels = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class IdentityScore:
    """A concept is like itself alone; all concepts are one class."""

    size: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """One class has all."""
        return np.array([self.size])

    @property
    def values(self) -> NDArray[np.float64]:
        """1 for a concept and itself, 0 for two others."""
        return np.array([1.0, 0.0])

    def near(self, row: int) -> slice:  # noqa: ARG002
        """There is but one class."""
        return slice(0, 1)

    def levels(self, row: int) -> Levels:  # noqa: ARG002
        """Every other concept is none of it."""
        return np.array([1], np.uint16)


@dataclass(frozen=True, eq=False)
class SimilarityScore:
    """A concept is like those with which it shares ancestors.

    `table[above of one, shared, above of the other]` has the level; the last level is that of
    concepts of different topics. `topic` has the topic of each class, rising: only those of one
    topic are near each other.
    """

    domain: Domain
    values: NDArray[np.float64]
    table: NDArray[np.uint16]
    topic: NDArray[np.int16]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many concepts each class has."""
        return self.domain.sizes

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """Where the topic of each class begins, and ends."""
        sides = [np.searchsorted(self.topic, self.topic, side) for side in ("left", "right")]
        return np.stack(sides)

    def near(self, row: int) -> slice:
        """Tell which classes are of the same topic."""
        return slice(int(self._bounds[0, row]), int(self._bounds[1, row]))

    def levels(self, row: int) -> Levels:
        """Give the level of each class of the same topic for a concept of this one."""
        above, near = self.domain.ancestor_counts, self.near(row)
        lookup = self.table[above[row]]
        places = self.domain.shared_ancestors(row, near).astype(np.intp)
        places *= lookup.shape[1]
        places += above[near]
        return np.asarray(lookup.reshape(-1).take(places))


def similarity_score(domain: Domain, topics: Topics | None = None) -> SimilarityScore:
    """Score by similarity; with topics, by similarity within one (the domain must know them)."""
    most = int(domain.ancestor_counts.max()) + 1
    if most > _MOST_ABOVE:
        raise UsageError(
            f"a concept of {domain.title} has {most - 1:,} ancestors, too many to compare",
            hint=f"a domain with {_MOST_ABOVE - 1} at most",
        )
    one, shared, two = np.meshgrid(*(np.arange(n) for n in (most, most, most)), indexing="ij")
    union = one + two - shared
    real = (shared <= one) & (shared <= two) & (union > 0)
    kinds = {Fraction(int(s), int(u)) for s, u in zip(shared[real], union[real], strict=True)}
    order = sorted(kinds | {Fraction(1)}, reverse=True)
    number = {kind: level for level, kind in enumerate(order)}
    table = np.zeros(one.shape, np.uint16)
    pairs = zip(shared[real].tolist(), union[real].tolist(), strict=True)
    table[real] = [number[Fraction(s, u)] for s, u in pairs]
    # Eq. (5): 1 - log2(1 + share of ancestors that is not common).
    apart = np.array([float(1 - kind) for kind in order])
    values = np.append(1 - np.log2(1 + apart), 0.0)
    if topics is None:
        return SimilarityScore(domain, values, table, np.zeros(len(domain.sizes), np.int16))
    return SimilarityScore(
        domain, values, table, topics.topic_of[domain.concepts[domain.starts[:-1]]]
    )
