"""The attack of the search engine: guess which user is behind a query that an account submitted.

The engine knows the graph and the protocol, so it knows the probability that a user submits a
query of any other user (`ReachModel`). For each account it keeps the users who are most likely
behind its submissions; the remaining probability of each user is treated as spread over all
accounts.

It has no prior knowledge of who searches for what, and attacks in two ways. `single_sender`: each
text comes from one user, the one with the highest likelihood of all its submissions. This finds
users who send a rare text many times. `mixture`: each text comes from several users, whose weights
are estimated by expectation maximization, starting from equal weights. The guess for a submission
is then the user with the highest posterior probability. A third attack needs no graph: it takes
the account for the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..protocol.policy import ProtocolSettings
from .population import Numbers

Floats = NDArray[np.float64]
_MAX_CELLS = 2_000_000  # users times links that are held at once


@dataclass(frozen=True)
class ReachModel:
    """The graph as directed links, sorted by target: the way of a query as a Markov chain."""

    submit_probability: float
    last_hop: list[float]  # the probability that a hop is the last one allowed, if it is reached
    degrees: Numbers
    sources: Numbers
    targets: Numbers
    reverse: Numbers  # the index of the same link in the other direction

    @classmethod
    def from_graph(
        cls,
        friends: Sequence[Sequence[int]],
        settings: ProtocolSettings,
        initial_hops: Sequence[float] = (1.0,),
    ) -> ReachModel:
        """Build the model of a graph.

        Args:
            initial_hops: The probability that a query starts with a hop count of 0, 1, ...
        """
        degrees = np.array([len(neighbors) for neighbors in friends], dtype=np.int64)
        targets = np.repeat(np.arange(len(friends)), degrees)
        sources = np.array([user for neighbors in friends for user in sorted(neighbors)], np.int64)
        # Links are sorted by target and source; their reverses are the same, sorted the other way.
        reverse = np.argsort(np.lexsort((targets, sources)))
        last_hop = _last_hop_probabilities(settings.max_hops, initial_hops)
        return cls(settings.submit_probability, last_hop, degrees, sources, targets, reverse)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first user of a block, and the probability that each user submits a query.

        The matrix has one row per user of the block (who sends the query) and one column per user
        (who submits it).

        >>> model = ReachModel.from_graph([[1], [0]], ProtocolSettings())
        >>> [[round(float(p), 3) for p in row] for row in next(model.blocks())[1]]
        [[0.333, 0.667], [0.667, 0.333]]
        """
        users = len(self.degrees)
        step = max(1, _MAX_CELLS // max(1, len(self.targets)))
        for first in range(0, users, step):
            yield first, self._reach(np.arange(first, min(first + step, users)))

    def _reach(self, origins: Numbers) -> Floats:
        """Follow the queries of several users: one column each, one row per user or link."""
        submit, hops = self.submit_probability, len(self.last_hop)
        submitted: Floats = np.zeros((len(self.degrees), len(origins)))
        total = self.degrees[origins] + submit
        submitted[origins, np.arange(len(origins))] = submit / total if hops else 1.0
        moving = (self.sources[:, None] == origins) / total
        for is_last in self.last_hop:
            here = self._sum_by_target(moving)
            if is_last == 1:
                return (submitted + here).T
            stays = np.where(self.degrees == 1, 1.0, is_last + (1 - is_last) * submit)
            submitted += stays[:, None] * here
            # From each user to each friend but the one it came from, with equal probability.
            part = ((1 - stays) / np.maximum(self.degrees - 1, 1))[:, None]
            moving = (here * part)[self.sources] - moving[self.reverse] * part[self.sources]
        return submitted.T

    def _sum_by_target(self, moving: Floats) -> Floats:
        sums: Floats = np.zeros((len(self.degrees), moving.shape[1]))
        linked = np.flatnonzero(self.degrees)
        if len(linked):
            starts = np.cumsum(self.degrees)[linked] - self.degrees[linked]
            sums[linked] = np.add.reduceat(moving, starts, axis=0)
        return sums


def _last_hop_probabilities(hops: int, initial_hops: Sequence[float]) -> list[float]:
    """Return the probability that the first, second, ... hop is the last, if it is reached.

    >>> _last_hop_probabilities(3, (1.0,)), _last_hop_probabilities(2, (0.5, 0.5))
    ([0.0, 0.0, 1.0], [0.5, 1.0])
    """
    by_remaining = {hops - count: p for count, p in enumerate(initial_hops)}
    probabilities = [by_remaining.get(hop, 0.0) for hop in range(1, hops + 1)]
    tails = list(accumulate(reversed(probabilities)))[::-1]
    conditional = [p / tail for p, tail in zip(probabilities, tails, strict=True)]
    return [*conditional[:-1], 1.0] if hops else []


ATTACKS = ("single_sender", "mixture")
_EM_ROUNDS = 15
_MAX_CANDIDATES = 40  # users behind an account that are distinguished
_MAX_ENTRIES = 2_000_000  # pairs of a submission and a candidate that are held at once


@dataclass(frozen=True)
class Adversary:
    """The knowledge of the engine.

    `users` has one row per account with its most likely users, and `probabilities` the probability
    that this account submits a query of theirs. `rest` is the remaining probability of each user,
    divided by the number of accounts.
    """

    users: Numbers
    probabilities: Floats
    rest: Floats

    @classmethod
    def from_graph(
        cls,
        friends: Sequence[Sequence[int]],
        settings: ProtocolSettings,
        initial_hops: Sequence[float] = (1.0,),
    ) -> Adversary:
        """Compute what an engine knows that has the graph and the protocol."""
        count = len(friends)
        users: Numbers = np.zeros((0, count), dtype=np.int64)
        reach: Floats = np.zeros((0, count))
        for first, block in ReachModel.from_graph(friends, settings, initial_hops).blocks():
            origins = np.broadcast_to(np.arange(first, first + len(block))[:, None], block.shape)
            users, reach = np.concatenate([users, origins]), np.concatenate([reach, block])
            if len(reach) > _MAX_CANDIDATES:
                best = np.argpartition(-reach, _MAX_CANDIDATES - 1, axis=0)[:_MAX_CANDIDATES]
                users = np.take_along_axis(users, best, 0)
                reach = np.take_along_axis(reach, best, 0)
        covered = np.bincount(users.ravel(), reach.ravel(), count)
        return cls(users.T, reach.T, np.maximum(1 - covered, 0.0) / count)

    def candidates(self, accounts: Numbers) -> tuple[Numbers, Numbers, Floats]:
        """Return the candidates behind submissions: index of the submission, user, probability."""
        probabilities = self.probabilities[accounts]
        index, column = np.nonzero(probabilities)
        return index, self.users[accounts[index], column], probabilities[index, column]


def guess_senders(adversary: Adversary, texts: Numbers, accounts: Numbers) -> dict[str, Numbers]:
    """Return the guessed user behind each submission of a text under an account, by attack."""
    users = len(adversary.rest)
    pairs, inverse, counts = np.unique(
        texts * users + accounts, return_inverse=True, return_counts=True
    )
    text, account = np.divmod(pairs, users)
    guesses = {attack: np.empty(len(pairs), dtype=np.int64) for attack in ATTACKS}
    for block in _blocks(text, (adversary.probabilities > 0).sum(axis=1)[account]):
        weights = counts[block].astype(np.float64)
        observed = _Observations.collect(adversary, text[block], account[block], weights)
        guesses["single_sender"][block] = _guess_single_sender(observed)
        guesses["mixture"][block] = _guess_by_mixture(observed)
    return {attack: guessed[inverse] for attack, guessed in guesses.items()}


def _blocks(text: Numbers, sizes: Numbers) -> Iterator[slice]:
    """Yield blocks of observations, each with all observations of its texts."""
    ends = np.flatnonzero(np.diff(text, append=-1)) + 1
    sums = np.cumsum(sizes)
    begin = 0
    while begin < len(text):
        limit = (sums[begin - 1] if begin else 0) + _MAX_ENTRIES
        last = max(int(np.searchsorted(sums[ends - 1], limit, "right")) - 1, 0)
        end = max(int(ends[last]), int(ends[np.searchsorted(ends, begin, "right")]))
        yield slice(begin, end)
        begin = end


@dataclass(frozen=True)
class _Observations:
    """Texts under accounts with their counts, and the candidates behind each.

    `index`, `pair` and `probabilities` have an entry for each candidate behind a text under an
    account. A pair is a text (`pair_text`) and a user (`pair_user`, with the user's `rest`).
    """

    text: Numbers
    counts: Floats
    index: Numbers
    pair: Numbers
    probabilities: Floats
    pair_text: Numbers
    pair_user: Numbers
    rest: Floats

    @classmethod
    def collect(
        cls, adversary: Adversary, text: Numbers, account: Numbers, counts: Floats
    ) -> _Observations:
        index, user, probabilities = adversary.candidates(account)
        _, text = np.unique(text, return_inverse=True)
        pairs, pair = np.unique(text[index] * len(adversary.rest) + user, return_inverse=True)
        pair_text, pair_user = np.divmod(pairs, len(adversary.rest))
        rest = adversary.rest[pair_user]
        return cls(text, counts, index, pair, probabilities, pair_text, pair_user, rest)

    @property
    def texts(self) -> int:
        return int(self.text[-1]) + 1


def _guess_single_sender(observed: _Observations) -> Numbers:
    """Return for each text the user with the highest likelihood of all its submissions."""
    rest = np.maximum(observed.rest, 1e-12)  # a logarithm needs more than zero
    gain = observed.counts[observed.index] * np.log1p(observed.probabilities / rest[observed.pair])
    sums = np.bincount(observed.pair, gain, len(rest))
    submissions = np.bincount(observed.text, observed.counts)[observed.pair_text]
    score = sums + np.log(rest) * submissions
    best = _first_best(score, observed.pair_text, observed.texts)
    return observed.pair_user[best][observed.text]


def _guess_by_mixture(observed: _Observations) -> Numbers:
    """Return for each submission the user with the highest posterior probability."""
    weights = _estimate_weights(observed)
    near, rest = weights[observed.pair] * observed.probabilities, weights * observed.rest
    best = _first_best(near, observed.index, len(observed.text))
    best_rest = _first_best(rest, observed.pair_text, observed.texts)[observed.text]
    users = observed.pair_user
    return np.where(near[best] >= rest[best_rest], users[observed.pair[best]], users[best_rest])


def _estimate_weights(observed: _Observations) -> Floats:
    """Return the estimated fraction of each text that comes from each user (EM)."""
    text, pair_text, rest, pair = observed.text, observed.pair_text, observed.rest, observed.pair
    weights = 1 / np.bincount(pair_text)[pair_text]
    for _ in range(_EM_ROUNDS):
        rest_sums = np.bincount(pair_text, weights * rest, observed.texts)
        near = weights[pair] * observed.probabilities
        likelihood = np.bincount(observed.index, near, len(text)) + rest_sums[text]
        scaled = observed.counts / likelihood
        rest_credit = weights * rest * np.bincount(text, scaled, observed.texts)[pair_text]
        credit = np.bincount(pair, near * scaled[observed.index], len(weights)) + rest_credit
        weights = credit / np.bincount(pair_text, credit, observed.texts)[pair_text]
    return weights


def _first_best(values: Floats, group: Numbers, groups: int) -> Numbers:
    """Return the first index of the largest value of each group; groups are in order."""
    starts = np.searchsorted(group, np.arange(groups))
    indices = np.flatnonzero(values == np.maximum.reduceat(values, starts)[group])
    return indices[np.searchsorted(group[indices], np.arange(groups))]
