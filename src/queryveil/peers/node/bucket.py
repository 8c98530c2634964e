"""How much of something is let through in a while."""

from __future__ import annotations

__all__ = ["TokenBucket"]


class TokenBucket:
    """Lets `size` through at once, and `rate` a second after that.

    >>> bucket = Bucket(rate=2, size=1)
    >>> bucket.take(now=0.0), bucket.take(now=0.0), bucket.take(now=10.0)
    (0.0, 0.5, 0.0)
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._level, self._at = size, 0.0

    def take(self, now: float) -> float:
        """Take one, and give how many seconds to wait before it is used."""
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= 1
        return max(0.0, -self._level / self._rate)
