"""Names inside queries that are phrases of their own: towns with a state, and people.

"jane kowalski obituary" is about a person and about an obituary. Without this rule the last word
of the name counts ("walker"), or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...lexicons.people import NameSpans
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray


@dataclass(frozen=True, eq=False)
class NameMatches:
    """Towns with a region, and people: first and last word, and the concept of each."""

    begins: IntArray
    ends: IntArray
    concepts: IntArray
    is_person: BoolArray

    def select(self, mask: BoolArray) -> NameMatches:
        """Return the matches under a mask."""
        return NameMatches(
            self.begins[mask], self.ends[mask], self.concepts[mask], self.is_person[mask]
        )

    def outside(self, begins: IntArray, ends: IntArray) -> NameMatches:
        """Return the names that lie in none of these spans: "george washington" is a label."""
        order = np.lexsort((ends, begins))
        # The furthest end of all spans that begin at or before a name.
        reach = np.maximum.accumulate(ends[order]) if len(order) else ends
        last = np.searchsorted(begins[order], self.begins, side="right") - 1
        inside = (last >= 0) & (reach[last] >= self.ends) if len(order) else last >= 0
        return self.select(np.asarray(~inside))

    def apart(self, begins: IntArray, ends: IntArray, size: int) -> NameMatches:
        """Return the names that share no word with these spans of `size` words."""
        steps = np.bincount(begins, minlength=size + 1).astype(np.int64)
        steps -= np.bincount(ends + 1, minlength=size + 1)
        before = np.concatenate([[0], np.cumsum(np.cumsum(steps) > 0)])
        return self.select(before[self.ends + 1] == before[self.begins])

    def join(self, more: NameMatches) -> NameMatches:
        """Return the names of both."""
        return NameMatches(
            np.concatenate([self.begins, more.begins]),
            np.concatenate([self.ends, more.ends]),
            np.concatenate([self.concepts, more.concepts]),
            np.concatenate([self.is_person, more.is_person]),
        )


def find_people(spans: NameSpans, texts: RaggedArray, person: int) -> NameMatches:
    """Return the full names of people in queries whose words are split as names are."""
    aligned = (spans.sizes == texts.sizes)[spans.texts]
    starts = texts.start[spans.texts[aligned]]
    begins, ends = starts + spans.begin[aligned], starts + spans.last[aligned]
    return NameMatches(
        begins, ends, np.full(len(begins), person, np.int64), np.ones(len(begins), np.bool_)
    )
