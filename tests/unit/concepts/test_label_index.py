"""The tree of labels and the noun phrases, against loops that anyone can follow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.concepts.mapping.phrases import Phrases, noun_phrases, whole_queries
from queryveil.concepts.mapping.tagging import MODIFIER, NOUN, OTHER, VERB
from queryveil.concepts.mapping.trie import build_trie
from queryveil.concepts.taxonomy.arrays import RaggedArray

WORDS = 4
LABELS = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=4), max_size=12)
ROW = st.lists(st.integers(-1, WORDS - 1), min_size=1, max_size=12)


# --- labels --------------------------------------------------------------------------------------


def plain_walk(
    labels: list[list[int]], words: list[int], end: int, length: int, last: int
) -> dict[int, int]:
    """For each number of words the label that a phrase ends in."""
    found: dict[int, int] = {}
    first = {tuple(label): row for row, label in reversed(list(enumerate(labels))) if label}
    for size in range(1, length + 1):
        ending = (*words[end - size + 1 : end], last)
        if ending in first:
            found[size] = first[ending]
    return found


@given(LABELS, ROW, st.data())
def test_a_walk_against_a_dictionary(
    labels: list[list[int]], words: list[int], data: st.DataObject
) -> None:
    ends = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=6))
    lengths = [data.draw(st.integers(0, end + 1)) for end in ends]
    last = [data.draw(st.integers(-1, WORDS - 1)) for _ in ends]
    trie = build_trie(RaggedArray.from_lists(labels), WORDS)
    steps = trie.walk(
        np.array(words), np.array(ends, np.int64), np.array(lengths, np.int64),
        np.array(last, np.int64),
    )  # fmt: skip
    found: list[dict[int, int]] = [{} for _ in ends]
    for size, (phrases, entries) in enumerate(steps, 1):
        for phrase, entry in zip(phrases.tolist(), entries.tolist(), strict=True):
            assert size not in found[phrase]
            found[phrase][size] = entry
    assert found == [
        plain_walk(labels, words, *each) for each in zip(ends, lengths, last, strict=True)
    ]


def test_of_equal_labels_the_first_counts() -> None:
    trie = build_trie(RaggedArray.from_lists([[], [1], [0, 1], [1], [0, 1]]), 2)
    steps = trie.walk(np.array([0, 1]), np.array([1]), np.array([2]), np.array([1]))
    assert [entries.tolist() for _, entries in steps if len(entries)] == [[1], [2]]


@pytest.mark.parametrize("labels", [[], [[]], [[], []]])
def test_no_labels(labels: list[list[int]]) -> None:
    trie = build_trie(RaggedArray.from_lists(labels), 3)
    steps = trie.walk(np.array([0, 1]), np.array([0, 1]), np.array([1, 2]), np.array([0, 1]))
    assert not [entry for _, entries in steps for entry in entries.tolist()]


# --- phrases -------------------------------------------------------------------------------------

TEXTS = st.lists(st.lists(st.sampled_from([OTHER, MODIFIER, NOUN, VERB]), max_size=8), max_size=8)


def plain_phrases(texts: list[list[int]]) -> list[tuple[int, int]]:
    """Where phrases begin and end among all words: modifiers, then nouns."""
    found: list[tuple[int, int]] = []
    place = 0
    for kinds in texts:
        open_phrase: list[tuple[int, int]] = []  # places and kinds
        for kind in [*kinds, OTHER]:
            ends_in_noun = bool(open_phrase) and open_phrase[-1][1] == NOUN
            goes_on = kind == NOUN or (kind == MODIFIER and not ends_in_noun)
            if not goes_on:
                if ends_in_noun:
                    found.append((open_phrase[0][0], open_phrase[-1][0]))
                open_phrase = []
            if kind in (NOUN, MODIFIER):
                open_phrase.append((place, kind))
            place += 1
        place -= 1  # the one that was put behind
    return found


@given(TEXTS)
def test_noun_phrases_against_a_loop(texts: list[list[int]]) -> None:
    kinds = np.array([kind for text in texts for kind in text], np.uint8)
    found = noun_phrases(RaggedArray.from_lists([[0] * len(text) for text in texts]), kinds)
    assert list(zip(found.begins.tolist(), found.ends.tolist(), strict=True)) == plain_phrases(
        texts
    )


def test_phrases_do_not_run_into_the_next_text() -> None:
    kinds = np.array([MODIFIER, NOUN, NOUN, MODIFIER, NOUN], np.uint8)
    found = noun_phrases(RaggedArray.from_lists([[0, 0], [], [0, 0], [0]]), kinds)
    assert (found.begins.tolist(), found.ends.tolist()) == ([0, 2, 4], [1, 2, 4])


def test_shorter_phrases() -> None:
    phrases = Phrases(np.array([0, 4, 6]), np.array([2, 4, 7]))
    shorter = phrases.drop_last_word()
    assert (shorter.begins.tolist(), shorter.ends.tolist()) == ([0, 6], [1, 6])
    assert len(shorter.drop_last_word().drop_last_word()) == 0


def test_whole_texts_leave_out_empty_ones() -> None:
    texts = RaggedArray.from_lists([[5, 6], [], [7], [8, 9, 1]])
    found = whole_queries(texts, np.array([1, 0, 3]))
    assert (found.begins.tolist(), found.ends.tolist()) == ([0, 3], [1, 5])
