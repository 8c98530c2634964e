"""What a peer knows of its friends, online or not: how often they served, with decay over time.

Counts decay exponentially with the half-life `half`, in seconds. A friend whose node was down for
an evening, or who was busy, is trusted again some days later. A friend who never serves loses
trust again with the next few queries.
"""

from __future__ import annotations

from collections.abc import Callable

from .policy import Peer
from .state import PeerStats

_STEP = 60.0  # seconds between two updates of the decay


class Memory:
    """The counts of friends, kept in the peer while they are online, with decay."""

    def __init__(self, peer: Peer[str], clock: Callable[[], float], half: float) -> None:
        self._peer, self._clock, self._half = peer, clock, half
        self._away: dict[str, tuple[float, float]] = {}
        self._tallies: dict[str, PeerStats] = {}
        self._decayed_at: float | None = None

    def tally(self, friend: str) -> PeerStats:
        """Return the counts of messages between the peer and a friend, which do not decay."""
        return self._tallies.setdefault(friend, PeerStats())

    def counts(self, friend: str) -> tuple[float, float]:
        """Return how often a friend was asked, and how often they served, after decay."""
        self.fade()
        if friend in self._peer.friends:
            return self._peer.counts(friend)
        return self._away.get(friend, (0, 0))

    def remember(
        self, friend: str, counts: tuple[float, float], tally: PeerStats, age: float = 0.0
    ) -> None:
        """Restore the counts of a friend from an earlier run that ended `age` seconds ago."""
        weight = self._weight_after(age)
        self._away[friend] = (weight * counts[0], weight * counts[1])
        self._tallies[friend] = tally

    def came(self, friend: str) -> None:
        """Record that a friend is online."""
        self._peer.add_friend(friend, *self.counts(friend))

    def went(self, friend: str) -> None:
        """Record that a friend is offline."""
        self._away[friend] = self._peer.counts(friend)
        self._peer.remove_friend(friend)

    def fade(self) -> None:
        """Apply the decay to all counts, if the last time was long enough ago."""
        now = self._clock()
        if self._decayed_at is None:
            self._decayed_at = now
        if now - self._decayed_at < _STEP:
            return
        weight, self._decayed_at = self._weight_after(now - self._decayed_at), now
        self._peer.fade(weight)
        self._away = {friend: (weight * a, weight * b) for friend, (a, b) in self._away.items()}

    def _weight_after(self, seconds: float) -> float:
        return 0.5 ** (seconds / self._half) if seconds >= _STEP else 1.0


class Quota:
    """A rate limit per friend: `minute` queries at once, and as many in each minute after that.

    >>> now = iter([0.0, 0.0, 0.0, 15.0, 30.0]).__next__
    >>> quota = Quota(2, now)
    >>> quota.take("ann"), quota.take("ann"), quota.take("ann"), quota.wait("ann")
    (True, True, False, 15.0)
    >>> quota.take("ann")
    True
    """

    def __init__(self, minute: float, clock: Callable[[], float]) -> None:
        self._minute, self._clock = max(1.0, minute), clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, friend: str) -> bool:
        """Use up one query of a friend's quota; return False, at no cost, if none is left."""
        now, level = self._level(friend)
        self._left[friend] = (level - (level >= 1), now)
        return level >= 1

    def wait(self, friend: str) -> float:
        """Return the seconds until a friend's quota has a query again."""
        return max(0.0, (1 - self._level(friend)[1]) * 60 / self._minute)

    def _level(self, friend: str) -> tuple[float, float]:
        now = self._clock()
        level, at = self._left.get(friend, (self._minute, now))
        return now, min(self._minute, level + (now - at) * self._minute / 60)
