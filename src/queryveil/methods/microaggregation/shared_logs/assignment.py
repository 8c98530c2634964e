"""Assign texts to the cells of shared logs.

A cell of a concept takes any text that means this concept alone. Which one does not depend on what
the members of the group sent: texts are drawn from the whole log, in proportions that bring the
counts of words in the release near those of the log.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....concepts.taxonomy.arrays import IntArray, RaggedArray
from ....core.randomness import RandomSource
from ..apportionment import Floats, spread_evenly, sum_by, systematic_rounding
from .cells import CellNumbers, GroupCells, Groups
from .rows import UserRows
from .texts import Texts

_RAKING_ROUNDS = 15
_MAX_FACTOR = 50.0
_FLOOR = 0.01  # rows that each user of a text counts for, besides those it has: no text has none


@dataclass(frozen=True, eq=False, repr=False)
class GroupTexts:
    """The rows of the shared logs: group and text of each."""

    group: IntArray
    text: IntArray


def assign_texts(
    cells: GroupCells,
    rows: UserRows,
    texts: Texts,
    groups: Groups,
    numbers: CellNumbers,
    word_counts: Floats,
    query_counts: Floats,
    rng: RandomSource,
) -> GroupTexts:
    """Return the texts of all shared logs.

    Args:
        word_counts: How often each word occurs in the log; a goal of the calibration.
        query_counts: How often each text is a whole query of the log; released at least so often.
    """
    is_text = (cells.cell >= numbers.concepts) & (cells.cell < numbers.pool)
    own = GroupTexts(
        np.repeat(cells.group[is_text], cells.count[is_text]),
        np.repeat(cells.cell[is_text] - numbers.concepts, cells.count[is_text]),
    )
    group, cell, count = (part[~is_text] for part in (cells.group, cells.cell, cells.count))
    candidate_cell, candidate = _candidates(rows, texts, numbers)
    popularity = _popularity(rows, texts, candidate_cell, candidate, numbers)
    slots = np.bincount(cell, count, len(numbers)).astype(np.int64)
    volume = sum_by(cell, count * groups.sizes[group], len(numbers))
    fixed = sum_by(own.text, groups.sizes[own.group], len(texts))
    portions = _rake_words(
        candidate_cell, candidate, popularity, volume, fixed, texts.words, word_counts, query_counts
    )
    used, segment = np.unique(candidate_cell, return_inverse=True)
    copies = systematic_rounding(portions, segment, slots[used], rng)
    dealt = candidate[spread_evenly(copies, segment, rng)]
    # The slots of each cell, in random order of groups, take the texts one after another.
    slot_group, slot_cell = np.repeat(group, count), np.repeat(cell, count)
    key = rng.permutation(len(groups))[slot_group]
    order = np.lexsort((key, slot_cell))
    return GroupTexts(
        np.concatenate([own.group, slot_group[order]]), np.concatenate([own.text, dealt])
    )


def _candidates(rows: UserRows, texts: Texts, numbers: CellNumbers) -> tuple[IntArray, IntArray]:
    """Return the texts that fit each cell, as sorted pairs of cell and text."""
    number = np.arange(len(texts))
    pure = texts.only_concept >= 0
    is_extra = ~texts.is_query & (texts.concept >= 0)
    own = np.zeros(len(texts), np.bool_)
    own[rows.cell[rows.cell >= numbers.concepts] - numbers.concepts] = True
    pooled, extra = own & ~is_extra, own & is_extra
    cell = np.concatenate(
        [
            texts.only_concept[pure].astype(np.int64),
            np.full(int(pooled.sum()), numbers.pool),
            np.full(int(extra.sum()), numbers.extra_pool),
        ]
    )
    text = np.concatenate([number[pure], number[pooled], number[extra]])
    order = np.lexsort((text, cell))
    return cell[order], text[order]


def _popularity(
    rows: UserRows, texts: Texts, cell: IntArray, text: IntArray, numbers: CellNumbers
) -> Floats:
    """Return how often each text occurs in rows of its kind of cell."""
    has_text = rows.text >= 0
    in_text_cell = rows.cell >= numbers.concepts
    parts = []
    for kind in (has_text & ~in_text_cell, has_text & in_text_cell):
        parts.append(sum_by(rows.text[kind], rows.count[kind], len(texts)))
    by_concept, by_text = parts
    counts = np.where(cell < numbers.concepts, by_concept[text], by_text[text])
    return np.asarray(counts + _FLOOR * texts.users[text])


def _rake_words(
    cell: IntArray,
    text: IntArray,
    popularity: Floats,
    volume: Floats,
    fixed: Floats,
    words: RaggedArray,
    goal: Floats,
    query_goal: Floats,
) -> Floats:
    """Return the portions of texts in their cells, calibrated to the counts of words.

    Args:
        volume: The released rows of each cell.
        fixed: The released rows of each text outside these cells.
        goal: The counts of words in the log.
    """
    size = len(goal)
    word, index = words.take(text)
    fixed_word, fixed_index = words.take(np.arange(len(fixed)))
    constant = sum_by(fixed_word, fixed[fixed_index], size)
    factor = np.ones(len(text))
    for _ in range(_RAKING_ROUNDS):
        portion = popularity * factor
        sums = sum_by(cell, portion, len(volume))
        scale = np.divide(volume, sums, out=np.zeros(len(volume)), where=sums > 0)
        now = constant + sum_by(word, (portion * scale[cell])[index], size)
        ratio = np.clip(np.divide(goal, now, out=np.ones(size), where=now > 0), 0.5, 2)
        steps = sum_by(index, np.log(ratio)[word], len(text))
        rows = fixed + sum_by(text, portion * scale[cell], len(fixed))
        missing = np.divide(query_goal, rows, out=np.ones(len(fixed)), where=rows > 0)[text]
        more = np.log(np.clip(missing, 1, 2))
        steps = np.where(missing > 1, np.maximum(steps, 0) + more, steps)
        factor = np.clip(factor * np.exp(0.5 * steps), 1 / _MAX_FACTOR, _MAX_FACTOR)
    return popularity * factor
