"""How many queries pass between a peer and each friend: the same limits are kept on both ends.

A peer takes so many queries of a friend in a minute, and has so many of hers open. Whoever asks
keeps within that by itself, with some room. So a friend is not refused for having asked too much,
and a refusal tells what it is to tell: whether she serves. Were rate limits told as refusals,
two busy friends would lose trust in each other for nothing but being busy.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Shares"]


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
