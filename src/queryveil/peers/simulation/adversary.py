"""What the search engine can guess: from whom a query comes that an account submitted.

The engine knows the graph and the protocol, so it knows how likely each user is to submit a query
of each other (`reach`). Of each account it keeps the users who are most likely behind what it
submits; the rest of what a user's queries do it takes as spread over everybody.

It knows nothing before, and guesses in two ways. `one`: each text comes from one user, the one who
makes all its submissions most likely. That finds who sends a rare text again and again. `several`:
of each text it asks how much of it comes from each user. It begins with equal weights, and looks
for those that make what it saw most likely (expectation maximisation). Its guess of a submission
is the user that is then most likely to be behind it. A third way needs no graph: to take the
account for the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..protocol.policy import ProtocolSettings
from .population import Numbers

Shares = NDArray[np.float64]
_CELLS = 2_000_000  # of users by links that are held at once


@dataclass(frozen=True)
class ReachModel:
    """The graph as links in both directions, sorted by the one they lead to."""

    submit: float
    last: list[float]  # how likely each hop is the last one that is allowed, if it comes to it
    degrees: Numbers
    begin: Numbers  # whence each link comes
    end: Numbers
    back: Numbers  # the number of the same link the other way

    @classmethod
    def of(
        cls,
        friends: Sequence[Sequence[int]],
        settings: ProtocolSettings,
        starts: Sequence[float] = (1.0,),
    ) -> ReachModel:
        """Number the links; `starts` is how likely a query begins with a count of 0, 1, ..."""
        degrees = np.array([len(some) for some in friends], dtype=np.int64)
        end = np.repeat(np.arange(len(friends)), degrees)
        begin = np.array([one for some in friends for one in sorted(some)], dtype=np.int64)
        # Sorted by end and then begin; the links back are the same, sorted the other way.
        back = np.argsort(np.lexsort((end, begin)))
        return cls(
            settings.submit_probability, _last(settings.max_hops, starts), degrees, begin, end, back
        )

    def blocks(self) -> Iterator[tuple[int, Shares]]:
        """Return for some users at a time how likely everybody submits a query of theirs.

        >>> [[round(float(one), 3) for one in row] for row in next(ReachModel.of([[1], [0]],
        ...     ProtocolSettings()).blocks())[1]]
        [[0.333, 0.667], [0.667, 0.333]]
        """
        users = len(self.degrees)
        step = max(1, _CELLS // max(1, len(self.end)))
        for first in range(0, users, step):
            yield first, self._of(np.arange(first, min(first + step, users)))

    def _of(self, origins: Numbers) -> Shares:
        """Follow the queries of some users: a column each, a row for each user or link."""
        submit, hops = self.submit, len(self.last)
        found: Shares = np.zeros((len(self.degrees), len(origins)))
        whole = self.degrees[origins] + submit
        found[origins, np.arange(len(origins))] = submit / whole if hops else 1.0
        moving = (self.begin[:, None] == origins) / whole
        for last in self.last:
            here = self._arrived(moving)
            if last == 1:
                return (found + here).T
            stays = np.where(self.degrees == 1, 1.0, last + (1 - last) * submit)
            found += stays[:, None] * here
            # From each user to each friend but the one it came from, in equal parts.
            part = ((1 - stays) / np.maximum(self.degrees - 1, 1))[:, None]
            moving = (here * part)[self.begin] - moving[self.back] * part[self.begin]
        return found.T

    def _arrived(self, moving: Shares) -> Shares:
        """Add up what comes to each user."""
        found: Shares = np.zeros((len(self.degrees), moving.shape[1]))
        some = np.flatnonzero(self.degrees)
        if len(some):
            starts = np.cumsum(self.degrees)[some] - self.degrees[some]
            found[some] = np.add.reduceat(moving, starts, axis=0)
        return found


def _last(hops: int, starts: Sequence[float]) -> list[float]:
    """Return how likely the first, second, ... hop is the last, given that it comes to it.

    >>> _last(3, (1.0,)), _last(2, (0.5, 0.5))
    ([0.0, 0.0, 1.0], [0.5, 1.0])
    """
    ways = {hops - count: chance for count, chance in enumerate(starts)}
    chances = [ways.get(hop, 0.0) for hop in range(1, hops + 1)]
    left = list(accumulate(reversed(chances)))[::-1]
    sure = [chance / rest for chance, rest in zip(chances, left, strict=True)]
    return [*sure[:-1], 1.0] if hops else []


ATTACKS = ("one", "several")
_ROUNDS = 15
_BEHIND = 40  # users behind an account that are told apart
_ENTRIES = 2_000_000  # pairs of a submission and a user behind it that are held at once


@dataclass(frozen=True)
class Adversary:
    """What the engine knows: who is behind an account, and how far each user's queries go.

    `behind` has a row an account, of the likeliest users, and `likely` how likely she is to submit
    a query of theirs; `far` is the rest of each user's queries, a part for everybody.
    """

    behind: Numbers
    likely: Shares
    far: Shares

    @classmethod
    def from_run(
        cls,
        friends: Sequence[Sequence[int]],
        settings: ProtocolSettings,
        starts: Sequence[float] = (1.0,),
    ) -> Adversary:
        """Know the graph and the protocol."""
        users = len(friends)
        behind: Numbers = np.zeros((0, users), dtype=np.int64)
        likely: Shares = np.zeros((0, users))
        for first, block in ReachModel.of(friends, settings, starts).blocks():
            these = np.broadcast_to(np.arange(first, first + len(block))[:, None], block.shape)
            behind, likely = np.concatenate([behind, these]), np.concatenate([likely, block])
            if len(likely) > _BEHIND:
                best = np.argpartition(-likely, _BEHIND - 1, axis=0)[:_BEHIND]
                behind = np.take_along_axis(behind, best, 0)
                likely = np.take_along_axis(likely, best, 0)
        known = np.bincount(behind.ravel(), likely.ravel(), users)
        return cls(behind.T, likely.T, np.maximum(1 - known, 0.0) / users)

    def candidates(self, accounts: Numbers) -> tuple[Numbers, Numbers, Shares]:
        """List who may be behind what accounts submitted: its number, a user, how likely."""
        likely = self.likely[accounts]
        which, column = np.nonzero(likely)
        return which, self.behind[accounts[which], column], likely[which, column]


def guess_senders(engine: Adversary, texts: Numbers, accounts: Numbers) -> dict[str, Numbers]:
    """Guess the user behind each submission of a text under an account, in both ways."""
    users = len(engine.far)
    pairs, where, counts = np.unique(
        texts * users + accounts, return_inverse=True, return_counts=True
    )
    text, account = np.divmod(pairs, users)
    found = {way: np.empty(len(pairs), dtype=np.int64) for way in ATTACKS}
    for some in _blocks(text, (engine.likely > 0).sum(axis=1)[account]):
        seen = _Seen.of(engine, text[some], account[some], counts[some].astype(np.float64))
        found["one"][some] = _from_one(seen)
        found["several"][some] = _from_several(seen)
    return {way: guessed[where] for way, guessed in found.items()}


def _blocks(text: Numbers, sizes: Numbers) -> Iterator[slice]:
    """Part what was seen into blocks of whole texts."""
    ends = np.flatnonzero(np.diff(text, append=-1)) + 1
    sums = np.cumsum(sizes)
    begin = 0
    while begin < len(text):
        room = (sums[begin - 1] if begin else 0) + _ENTRIES
        last = max(int(np.searchsorted(sums[ends - 1], room, "right")) - 1, 0)
        end = max(int(ends[last]), int(ends[np.searchsorted(ends, begin, "right")]))
        yield slice(begin, end)
        begin = end


@dataclass(frozen=True)
class _Seen:
    """What was seen: texts under accounts, so many times each, and who may be behind each.

    `which`, `slot` and `likely` have an entry for each user who may be behind a text under an
    account; a slot is a text and a user, with its `home` (the text), `who` and `far`.
    """

    text: Numbers
    counts: Shares
    which: Numbers
    slot: Numbers
    likely: Shares
    home: Numbers
    who: Numbers
    far: Shares

    @classmethod
    def of(cls, engine: Adversary, text: Numbers, account: Numbers, counts: Shares) -> _Seen:
        which, user, likely = engine.candidates(account)
        _, text = np.unique(text, return_inverse=True)
        slots, slot = np.unique(text[which] * len(engine.far) + user, return_inverse=True)
        of_text, who = np.divmod(slots, len(engine.far))
        return cls(text, counts, which, slot, likely, of_text, who, engine.far[who])

    @property
    def texts(self) -> int:
        return int(self.text[-1]) + 1


def _from_one(seen: _Seen) -> Numbers:
    """Return of each text the user who makes all that was seen of it most likely."""
    far = np.maximum(seen.far, 1e-12)  # where nothing goes far, nearly nothing
    gain = seen.counts[seen.which] * np.log1p(seen.likely / far[seen.slot])
    sums = np.bincount(seen.slot, gain, len(far))
    score = sums + np.log(far) * np.bincount(seen.text, seen.counts)[seen.home]
    return seen.who[_first_best(score, seen.home, seen.texts)][seen.text]


def _from_several(seen: _Seen) -> Numbers:
    """Return of each submission the user most likely behind it: near, or far away."""
    weights = _weights(seen)
    near, far = weights[seen.slot] * seen.likely, weights * seen.far
    best = _first_best(near, seen.which, len(seen.text))
    farthest = _first_best(far, seen.home, seen.texts)[seen.text]
    return np.where(near[best] >= far[farthest], seen.who[seen.slot[best]], seen.who[farthest])


def _weights(seen: _Seen) -> Shares:
    """Find how much of each text comes from each user."""
    text, home, far, slot = seen.text, seen.home, seen.far, seen.slot
    weights = 1 / np.bincount(home)[home]
    for _ in range(_ROUNDS):
        beyond = np.bincount(home, weights * far, seen.texts)
        near = weights[slot] * seen.likely
        told = seen.counts / (np.bincount(seen.which, near, len(text)) + beyond[text])
        far_told = np.bincount(text, told, seen.texts)[home]
        credit = np.bincount(slot, near * told[seen.which], len(weights)) + weights * far * far_told
        weights = credit / np.bincount(home, credit, seen.texts)[home]
    return weights


def _first_best(values: Shares, group: Numbers, groups: int) -> Numbers:
    """Return the first place of the greatest value of each group; groups stand in order."""
    starts = np.searchsorted(group, np.arange(groups))
    places = np.flatnonzero(values == np.maximum.reduceat(values, starts)[group])
    return places[np.searchsorted(group[places], np.arange(groups))]
