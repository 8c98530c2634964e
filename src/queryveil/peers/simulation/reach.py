"""How likely it is that a user submits a query of another: the protocol on paper.

Everybody is taken for fully trusted, for nobody but the friends themselves knows of trust. Then a
user with k friends submits a query of her own with the chance s/(k+s), where s is the submit
chance, and each friend gets it with 1/(k+s). Who has it from a friend submits it with s, or hands
it on to one of the other friends; she submits it in any case if she has none, or at the last hop.
Where the count on a query begins at random, the last hop comes at random too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..protocol.policy import ProtocolSettings
from .population import Numbers

__all__ = ["ReachModel", "Shares"]

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
        """Give for some users at a time how likely everybody submits a query of theirs.

        >>> [[round(float(one), 3) for one in row] for row in next(Reach.of([[1], [0]],
        ...     Settings()).blocks())[1]]
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
    """Give how likely the first, second, ... hop is the last, given that it comes to it.

    >>> _last(3, (1.0,)), _last(2, (0.5, 0.5))
    ([0.0, 0.0, 1.0], [0.5, 1.0])
    """
    ways = {hops - count: chance for count, chance in enumerate(starts)}
    chances = [ways.get(hop, 0.0) for hop in range(1, hops + 1)]
    left = list(accumulate(reversed(chances)))[::-1]
    sure = [chance / rest for chance, rest in zip(chances, left, strict=True)]
    return [*sure[:-1], 1.0] if hops else []
