"""With which count a query is handed on, so that a friend cannot tell an own one from another.

A query carries a count, which ends its way where it comes to the limit. If own queries began at 0,
the friend who gets count 1 would know whose query it is; if they began anywhere and the count only
rose, the lowest would still be an own query's alone. So each peer draws the count by the same
weights whenever it hands a query on, whosever it is: the count says nothing. What that costs is a
bound that holds by chance. Each hand-over is the last with a chance of `submit` or more.

The simulation (`hidden`), and nodes before this rule, draw once and count up. Then the weights make
the share of own queries the same among all messages of a count, but for the lowest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from .protocol.policy import ProtocolSettings

__all__ = ["draw_initial_hops", "initial_hop_distribution", "own_query_probability"]

_MORE = 0.2  # how much of the doubt is given up for the counts to be spread over the range


def own_query_probability(settings: ProtocolSettings) -> float:
    """Return the chance that a query which a friend sees is the sender's own.

    >>> own_share(Settings(submit=0.5))
    0.6
    """
    return settings.submit_probability + _MORE * (1 - settings.submit_probability)


def initial_hop_distribution(settings: ProtocolSettings) -> list[float]:
    """Return how likely a query goes on from a count of 0, 1, ...: they add up to 1.

    Where the count rises: let A(h) be the messages with count h, s(h) those of them that are own
    queries, and p the chance to submit: A(h) = s(h) + (1-p) A(h-1). With s(h) = c A(h) the messages
    grow by (1-p) / (1-c) a hop, which is 1.25 for the c of `own_share`.

    >>> [round(one, 3) for one in start_weights(Settings(hops=3))]
    [0.372, 0.279, 0.349]
    >>> round(start_weights(Settings(hops=10))[0], 3)
    0.049
    """
    share, growth = own_query_probability(settings), 1 / (1 - _MORE)
    raw = [1.0, *(share * growth**hop for hop in range(1, settings.max_hops))][: settings.max_hops]
    return [one / sum(raw) for one in raw]


def draw_initial_hops(settings: ProtocolSettings, draw: Callable[[], float]) -> int:
    """Draw the count from which a query goes on: below the limit, if there is one."""
    point = draw()
    sums = list(accumulate(initial_hop_distribution(settings)))
    return min(sum(point >= one for one in sums), max(0, settings.max_hops - 1))
