"""How well a concept of a domain can stand for another: the criteria of Sanchez et al. 2018.

`Near` scores by similarity inside the domain (sqc1, eq. 5), or by that among concepts of the same
topic and 0 for all others (sqc2, eq. 6); `Same` scores 1 for the concept itself and 0 for all
others (nsqc, eq. 12). Scores are given as levels, since a domain has a few hundred values only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..similarity.domains import Domain
from ..similarity.topics import Topics

__all__ = ["IdentityScore", "SimilarityScore", "similarity_score"]

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
