"""Random numbers for the simulation, one at a time and fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from ...core.randomness import RandomSource

__all__ = ["uniform_stream"]

_BLOCK = 1 << 14


def uniform_stream(chance: RandomSource) -> Callable[[], float]:
    """Give a function that draws a number from 0 on, below 1.

    >>> draw = draws(Chance(seed=1))
    >>> all(0 <= draw() < 1 for _ in range(100))
    True
    """
    return chain.from_iterable(_blocks(chance)).__next__


def _blocks(chance: RandomSource) -> Iterator[list[float]]:
    """Draw many at once: 53 bits are what a float between 0 and 1 can tell apart."""
    while True:
        yield ((chance.uint64s(_BLOCK) >> 11) * 2.0**-53).tolist()
