"""All measures there are: every file of this room that defines one is found by itself."""

from __future__ import annotations

from functools import cache

from ..core.parameters import discover, parse_spec
from ..errors import UsageError, did_you_mean
from .base import Measure

__all__ = ["all_measures", "get_measure", "parse_measure"]


@cache
def all_measures() -> dict[str, type[Measure]]:
    """Give every measure by its name."""
    return discover(Measure, __name__, __file__)  # type: ignore[type-abstract]


def get_measure(name: str) -> type[Measure]:
    """Give the measure of that name, or say which name is near."""
    measures = all_measures()
    if name not in measures:
        raise UsageError(f'unknown measure "{name}"', hint=did_you_mean(name, measures))
    return measures[name]


def parse_measure(text: str) -> Measure:
    """Read a measure from its one line.

    >>> str(parse_measure("profile-divergence:topics=sanchez4:other=drop"))
    'profile-divergence:topics=sanchez4'
    """
    name, values = parse_spec(text)
    return get_measure(name).from_params(dict(values))
