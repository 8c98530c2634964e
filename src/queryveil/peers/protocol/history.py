"""What a peer knows of its friends, present or not: what they did, and how long ago.

What is old counts less, for better or worse: after `half` seconds half as much. A friend whose
node was down for an evening, or who was busy, is trusted again some days later; who never serves
is found out again with the next few queries.
"""

from __future__ import annotations

from collections.abc import Callable

from .policy import Peer
from .state import PeerStats

_STEP = 60.0  # seconds between two times that counts fade


class Memory:
    """Keeps the counts of friends, in the peer while they are present, and fades them."""

    def __init__(self, peer: Peer[str], clock: Callable[[], float], half: float) -> None:
        self._peer, self._clock, self._half = peer, clock, half
        self._away: dict[str, tuple[float, float]] = {}
        self._tallies: dict[str, PeerStats] = {}
        self._faded: float | None = None

    def tally(self, friend: str) -> PeerStats:
        """Return what passed between the peer and a friend, which does not fade."""
        return self._tallies.setdefault(friend, PeerStats())

    def counts(self, friend: str) -> tuple[float, float]:
        """Return how often a friend was asked, and how often she served; old counts fade."""
        self.fade()
        if friend in self._peer.friends:
            return self._peer.counts(friend)
        return self._away.get(friend, (0, 0))

    def remember(
        self, friend: str, counts: tuple[float, float], tally: PeerStats, age: float = 0.0
    ) -> None:
        """Take up what is known of a friend from an earlier run, so many seconds ago."""
        share = self._share_after(age)
        self._away[friend] = (share * counts[0], share * counts[1])
        self._tallies[friend] = tally

    def came(self, friend: str) -> None:
        """Note that a friend is present."""
        self._peer.add_friend(friend, *self.counts(friend))

    def went(self, friend: str) -> None:
        """Note that a friend is away."""
        self._away[friend] = self._peer.counts(friend)
        self._peer.remove_friend(friend)

    def fade(self) -> None:
        """Let what friends did long ago count less, if it is time."""
        now = self._clock()
        if self._faded is None:
            self._faded = now
        if now - self._faded < _STEP:
            return
        share, self._faded = self._share_after(now - self._faded), now
        self._peer.fade(share)
        self._away = {one: (share * a, share * b) for one, (a, b) in self._away.items()}

    def _share_after(self, seconds: float) -> float:
        return 0.5 ** (seconds / self._half) if seconds >= _STEP else 1.0


class Shares:
    """Lets `minute` queries of each friend through at once, and as many in each minute after.

    >>> now = iter([0.0, 0.0, 0.0, 15.0, 30.0]).__next__
    >>> shares = Shares(2, now)
    >>> shares.take("ann"), shares.take("ann"), shares.take("ann"), shares.wait("ann")
    (True, True, False, 15.0)
    >>> shares.take("ann")
    True
    """

    def __init__(self, minute: float, clock: Callable[[], float]) -> None:
        self._minute, self._clock = max(1.0, minute), clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, friend: str) -> bool:
        """Take one of a friend's, if there is one left; a refused one costs nothing."""
        now, level = self._level(friend)
        self._left[friend] = (level - (level >= 1), now)
        return level >= 1

    def wait(self, friend: str) -> float:
        """Return the seconds until there is one left."""
        return max(0.0, (1 - self._level(friend)[1]) * 60 / self._minute)

    def _level(self, friend: str) -> tuple[float, float]:
        now = self._clock()
        level, at = self._left.get(friend, (self._minute, now))
        return now, min(self._minute, level + (now - at) * self._minute / 60)
