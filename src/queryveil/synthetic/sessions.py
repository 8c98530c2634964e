"""Who sends how many lines, what each line is, and when it is sent.

A user's lines fall into sessions. A line is a new query (a fresh one, a reformulation of the one
before, or an earlier one sent again), a request for the next page of results, or a further click
on the results of the line before.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from math import erf, log, sqrt

import numpy as np

from . import distributions as shape
from .distributions import BlockRandom, Bools, Floats, Ints, last_true_index

END = shape.DAYS * 24 * 3600


@dataclass(frozen=True)
class SessionHabits:
    """How people search in sessions: probabilities. The defaults are those of the classic shape."""

    new: float = shape.NEW  # of lines: a new query
    new_session: float = shape.NEW_SESSION  # of lines
    one_event: float = 0.0  # of sessions with more events: they end after the first
    resent_at_start: float = shape.RESENT_AT_START
    resent_later: float = shape.RESENT_LATER
    reformulated: float = shape.REFORMULATED
    clicked: float = shape.CLICKED_ALONE  # of new queries without a further click


CLASSIC = SessionHabits()


class RowKind(IntEnum):
    """What a line is."""

    FRESH = 0
    REFORMULATED = 1
    RESENT = 2
    NEXT_PAGE = 3
    FURTHER_CLICK = 4


@dataclass(frozen=True)
class SessionPlan:
    """The lines of a block of users, before any of them has words."""

    user: Ints  # of every line, counted from 0 within the block
    kind: Ints
    source: Ints  # the line whose query this line repeats: itself when it is worded anew
    time: Ints  # in seconds from the first day
    rank: Ints  # 0 without a click


def rows_per_user(
    users: int,
    lines: int | None,
    seed: int,
    *,
    median: float = shape.LINES_MEDIAN,
    mean: float = shape.LINES_MEAN,
) -> Ints:
    """Sample the number of rows of each user; in total exactly ``lines`` when given."""
    counts = 1 + BlockRandom.for_block(seed, 0).zipf(_lines_table(median, mean), users)
    if lines is None:
        return counts
    bounds = np.cumsum(counts) * (lines - users) // np.sum(counts)
    return 1 + np.diff(bounds, prepend=0)


@cache
def _lines_table(median: float, mean: float) -> Floats:
    """Return the cumulative distribution of a lognormal, rounded to whole rows."""
    sigma = sqrt(2 * log(mean / median))
    scores = np.log((np.arange(1, shape.LINES_MOST + 1) + 0.5) / median) / sigma
    table = np.array([1 + erf(score / sqrt(2)) for score in scores])
    return shape.cumulative_table(np.diff(table, prepend=0))


def plan_sessions(counts: Ints, dice: BlockRandom, habits: SessionHabits = CLASSIC) -> SessionPlan:
    """Plan the rows of a block of users."""
    user = np.repeat(np.arange(len(counts)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    index = np.arange(len(user))
    starts, kind = _kinds(counts[user], first == index, dice, habits)
    return SessionPlan(
        user=user,
        kind=kind,
        source=_sources(kind, first, index, dice),
        time=_times(user, kind, starts, dice),
        rank=_ranks(kind, dice, habits.clicked),
    )


def _kinds(
    lines: Ints, first: Bools, dice: BlockRandom, habits: SessionHabits
) -> tuple[Bools, Ints]:
    """Draw which lines start a session, and what every line is."""
    size = len(lines)
    start_share = np.minimum(habits.new_session, shape.SESSIONS_MOST / lines)
    starts = first | dice.bernoulli(start_share, size)
    new = starts | dice.bernoulli((habits.new - start_share) / (1 - start_share), size)
    # A further click needs results that were clicked, so none follows a request for the next page.
    follows_new = habits.new + shape.FURTHER_CLICK
    click = ~new & dice.bernoulli(shape.FURTHER_CLICK / (1 - habits.new) / follows_new, size)
    click &= new[last_true_index(~click)]
    if habits.one_event:
        ended = _ended_sessions(starts, click, dice, habits.one_event)
        starts[ended] = new[ended] = True
    kind = np.where(click, RowKind.FURTHER_CLICK, RowKind.NEXT_PAGE)
    kind[new] = _new_kinds(starts[new], first[new], dice, habits)
    return starts, kind.astype(np.int64)


def _ended_sessions(starts: Bools, click: Bools, dice: BlockRandom, probability: float) -> Ints:
    """Draw sessions that end after their first event; return the lines that follow it."""
    events = np.flatnonzero(~click)
    after_first = ~starts[events] & np.append(False, starts[events][:-1])
    lines = events[after_first]
    return np.asarray(lines[dice.bernoulli(probability, len(lines))])


def _new_kinds(starts: Bools, first: Bools, dice: BlockRandom, habits: SessionHabits) -> Ints:
    """Draw how new queries come about. Only a query of the same session is reformulated."""
    draw = dice.uniform(len(starts))
    resent = np.where(starts, habits.resent_at_start, habits.resent_later)
    kind = np.where(draw < resent, RowKind.RESENT, RowKind.FRESH).astype(np.int64)
    kind[first] = RowKind.FRESH
    after_resent = np.roll(kind == RowKind.RESENT, 1)
    kind[~starts & ~after_resent & (draw >= 1 - habits.reformulated)] = RowKind.REFORMULATED
    return kind


def _sources(kind: Ints, first: Ints, index: Ints, dice: BlockRandom) -> Ints:
    """Point every line at the line that words its query."""
    source = last_true_index(kind <= RowKind.RESENT)
    resent = np.flatnonzero(kind == RowKind.RESENT)
    source[resent] = first[resent] + dice.integers(index[resent] - first[resent], len(resent))
    # An earlier line may be a repetition itself. Halve the chains until all have ended.
    while not np.array_equal(source, further := source[source]):
        source = further
    return source


def _ranks(kind: Ints, dice: BlockRandom, clicked_alone: float) -> Ints:
    """Draw the places of clicks: a new query's first click, then further ones below it."""
    size = len(kind)
    step = 1 + dice.zipf(shape.zipf_table(shape.RANKS, *shape.RANK_LAW), size)
    more = kind == RowKind.FURTHER_CLICK
    step[more] = 1 + dice.zipf(shape.zipf_table(shape.STEPS, *shape.STEP_LAW), int(more.sum()))
    sums = np.cumsum(step)
    event = last_true_index(~more)
    rank = sums - sums[event] + step[event]
    clicked = more | (kind <= RowKind.RESENT) & dice.bernoulli(clicked_alone, size)
    return np.where(clicked | np.append(more[1:], False), rank, 0)


def _times(user: Ints, kind: Ints, starts: Bools, dice: BlockRandom) -> Ints:
    """Draw when every line is sent. Further clicks carry the time of their query, as at AOL."""
    gap = shape.LEAST_GAP + dice.zipf(shape.zipf_table(shape.GAPS, *shape.GAP_LAW), len(user))
    gap[starts | (kind == RowKind.FURTHER_CLICK)] = 0
    used = np.bincount(user, weights=gap).astype(np.int64)[user]
    gap = np.where(used > END // 2, gap * (END // 2) // np.maximum(used, 1), gap)
    elapsed: Ints = np.cumsum(gap)
    at = np.flatnonzero(starts)
    length = elapsed[np.append(at[1:], len(user)) - 1] - elapsed[at]
    shift = _session_starts(user[at], length, dice) - elapsed[at]
    time: Ints = elapsed + shift[np.cumsum(starts) - 1]
    return time


def _session_starts(user: Ints, length: Ints, dice: BlockRandom) -> Ints:
    """Draw when sessions start: by day rather than by night, with a pause after each."""
    size = len(user)
    hour = dice.zipf(shape.cumulative_table(shape.HOURS), size)
    drawn = (dice.integers(shape.DAYS, size) * 24 + hour) * 3600 + dice.integers(3600, size)
    # Users are set far apart on one line of time, so that one pass serves all of them.
    apart = user * 4 * END
    busy = length + shape.PAUSE + 1
    done: Ints = np.cumsum(busy)
    before = done - busy
    before -= before[np.searchsorted(user, user)]
    left = done[np.searchsorted(user, user, side="right") - 1] - done + busy
    # A session waits until the one before has ended, but never beyond the last day.
    waited: Ints = np.maximum.accumulate(np.sort(drawn + apart) - before)
    begin: Ints = np.minimum(waited + before - apart, END - left)
    return begin
