"""What a peer knows of its friends, present or not: what they did, and how long ago.

What is old counts less, for better or worse: after `half` seconds half as much. A friend whose
node was down for an evening, or who was busy, is trusted again some days later; who never serves
is found out again with the next few queries.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errands import PeerStats
from .policy import Peer

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
