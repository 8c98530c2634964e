"""A trie of labels, walked for many phrases at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..taxonomy.arrays import IntArray, RaggedArray

# The matches of 1, 2, ... words: phrases, and the entries that they match.
Steps = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class Trie:
    """A trie of words: `keys` (state times `width` plus word, sorted) lead to `states`.

    `first` has the transitions from the root. `entries` has for each state the label that ends
    there, or -1. Labels are stored from the last word to the first.
    """

    width: int
    first: IntArray
    keys: IntArray
    states: IntArray
    entries: IntArray

    def walk(self, words: IntArray, ends: IntArray, lengths: IntArray, last: IntArray) -> Steps:
        """Walk all phrases at once, from their last word to the left.

        Args:
            words: The numbers of all words, concatenated; -1 for a word in no label.
            ends: The index of the last word of each phrase.
            lengths: The number of words of each phrase.
            last: Replaces the last word of each phrase.

        Returns:
            For each number of words 1, 2, ... the phrases that end in a label of this number of
            words, and these labels.
        """
        matches: Steps = []
        alive = np.flatnonzero((last >= 0) & (lengths > 0))
        states = self.first[last[alive]]
        step = 1
        while len(alive):
            reached = states >= 0
            alive, states = alive[reached], states[reached]
            entries = self.entries[states]
            hits = np.flatnonzero(entries >= 0)
            matches.append((alive[hits], entries[hits]))
            more = lengths[alive] > step
            alive, states = alive[more], states[more]
            words_left = words[ends[alive] - step]
            known = words_left >= 0
            alive, states, words_left = alive[known], states[known], words_left[known]
            states = self._next_states(states, words_left)
            step += 1
        return matches

    def _next_states(self, states: IntArray, words: IntArray) -> IntArray:
        if not len(self.keys):
            return np.full(len(states), -1, np.int64)
        targets = states * self.width + words
        index = np.searchsorted(self.keys, targets)
        index[index == len(self.keys)] = 0
        return np.where(self.keys[index] == targets, self.states[index], -1)


def build_trie(labels: RaggedArray, width: int) -> Trie:
    """Build a trie of labels, each a list of words; of equal labels the first is kept.

    >>> trie = build_trie(RaggedArray.from_lists([[0, 1], [1]]), 3)
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
        distinct, index = np.unique(states[active] * width + words, return_inverse=True)
        keys.append(distinct)
        targets.append(count + np.arange(len(distinct)))
        states[active] = count + index
        count += len(distinct)
    entries = np.full(count, -1, np.int64)
    rows = np.flatnonzero(sizes > 0)[::-1]
    entries[states[rows]] = rows  # written in reverse, so the first label stays
    first = np.full(width, -1, np.int64)
    if keys:
        first[keys[0]] = targets[0]
    deeper = np.concatenate(keys[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    leads = np.concatenate(targets[1:]) if len(keys) > 1 else np.empty(0, np.int64)
    order = np.argsort(deeper)
    return Trie(width, first, deeper[order], leads[order], entries)
