"""With which count an own query begins, so that a friend cannot tell it from one handed on.

A query carries a count of its hops, which bounds its way. If own queries began at 0, the friend
who gets count 1 would know whose query it is. So an own query begins anywhere in the range, as
if it had come some way already. The weights make the share of own queries the same among all
messages of a count, but for the lowest count, which only an own query can have and which is rare
where the limit is not low.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from .core import Settings

__all__ = ["own_share", "start", "start_weights"]

_MORE = 0.2  # how much of the doubt is given up for the counts to be spread over the range


def own_share(settings: Settings) -> float:
    """Give the chance that a query which a friend sees is the sender's own, at most counts.

    >>> own_share(Settings(submit=0.5))
    0.6
    """
    return settings.submit + _MORE * (1 - settings.submit)


def start_weights(settings: Settings) -> list[float]:
    """Give how likely an own query begins with 0, 1, ...: they add up to 1.

    Let A(h) be the messages with count h, s(h) those of them that are own queries, and p the
    chance to submit: A(h) = s(h) + (1-p) A(h-1). With s(h) = c A(h) the messages grow by
    (1-p) / (1-c) a hop, which is 1.25 for the c of `own_share`.

    >>> [round(one, 3) for one in start_weights(Settings(hops=3))]
    [0.372, 0.279, 0.349]
    >>> round(start_weights(Settings(hops=10))[0], 3)
    0.049
    """
    share, growth = own_share(settings), 1 / (1 - _MORE)
    raw = [1.0, *(share * growth**hop for hop in range(1, settings.hops))][: settings.hops]
    return [one / sum(raw) for one in raw]


def start(settings: Settings, draw: Callable[[], float]) -> int:
    """Draw the count with which an own query begins: below the limit, if there is one."""
    point = draw()
    sums = list(accumulate(start_weights(settings)))
    return min(sum(point >= one for one in sums), max(0, settings.hops - 1))
