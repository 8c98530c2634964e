"""Phrases that end in a known label, found for many phrases at once.

Labels stand in a tree of words, from the last word to the first. A phrase is walked from its
last word to the left, and the longest label met on the way is the answer: the same as looking
up the whole phrase and dropping words from the left until something is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..taxonomy.arrays import IntArray, RaggedArray

__all__ = ["Trie", "build_trie"]


@dataclass(frozen=True, eq=False)
class Trie:
    """A tree of words: `keys` (state times `width` plus word, sorted) lead to `states`.

    `first` leads from the root. `entries` has for each state the label that ends there, or -1.
    """

    width: int
    first: IntArray
    keys: IntArray
    states: IntArray
    entries: IntArray

    def walk(
        self, words: IntArray, ends: IntArray, lengths: IntArray, last: IntArray
    ) -> list[tuple[IntArray, IntArray]]:
        """Walk phrases from their last word to the left.

        `words` are the numbers of all words in a row, -1 for one in no label; a phrase is the
        `lengths` words up to `ends`. `last` replaces each phrase's last word. Comes back: for
        each number of words 1, 2, ... the phrases that end in a label of so many words, and
        those labels.
        """
        found: list[tuple[IntArray, IntArray]] = []
        alive = np.flatnonzero((last >= 0) & (lengths > 0))
        states = self.first[last[alive]]
        step = 1
        while len(alive):
            on = states >= 0
            alive, states = alive[on], states[on]
            entries = self.entries[states]
            hit = np.flatnonzero(entries >= 0)
            found.append((alive[hit], entries[hit]))
            more = lengths[alive] > step
            alive, states = alive[more], states[more]
            words_left = words[ends[alive] - step]
            known = words_left >= 0
            alive, states, words_left = alive[known], states[known], words_left[known]
            states = self._next(states, words_left)
            step += 1
        return found

    def _next(self, states: IntArray, words: IntArray) -> IntArray:
        if not len(self.keys):
            return np.full(len(states), -1, np.int64)
        wanted = states * self.width + words
        place = np.searchsorted(self.keys, wanted)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == wanted, self.states[place], -1)


def build_trie(labels: RaggedArray, width: int) -> Trie:
    """Make a tree of labels, each a list of words; of equal labels the first counts.

    >>> trie = build_trie(Lists.of([[0, 1], [1]]), 3)
    >>> ends, lengths = np.array([1]), np.array([2])
    >>> [entry.tolist() for _, entry in trie.walk(np.array([0, 1]), ends, lengths, np.array([1]))]
    [[1], [0]]
    """
    sizes = labels.sizes
    states = np.zeros(len(labels), np.int64)
    keys, targets, count = [], [], 1
    for depth in range(int(sizes.max(initial=0))):
        active = np.flatnonzero(sizes > depth)
        words = labels.items[labels.start[active + 1] - 1 - depth]
        distinct, which = np.unique(states[active] * width + words, return_inverse=True)
        keys.append(distinct)
        targets.append(count + np.arange(len(distinct)))
        states[active] = count + which
        count += len(distinct)
    entries = np.full(count, -1, np.int64)
    rows = np.flatnonzero(sizes > 0)[::-1]
    entries[states[rows]] = rows  # written from the last to the first, so the first one stays
    first = np.full(width, -1, np.int64)
    if keys:
        first[keys[0]] = targets[0]
    deeper = np.concatenate(keys[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    leads = np.concatenate(targets[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    order = np.argsort(deeper)
    return Trie(width, first, deeper[order], leads[order], entries)
