"""All measures there are: every file of this room that defines one is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from inspect import isabstract
from pathlib import Path

from ..engine.declared import split_line
from ..errors import UsageError, did_you_mean
from .base import Measure

__all__ = ["all_measures", "measure_named", "parse_measure"]


@cache
def all_measures() -> dict[str, type[Measure]]:
    """Give every measure by its name."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.walk_packages([str(Path(__file__).parent)], f"{package}."):
        importlib.import_module(module.name)
    found = [kind for kind in _below(Measure) if not isabstract(kind)]  # type: ignore[type-abstract]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.name)}


def _below(kind: type[Measure]) -> list[type[Measure]]:
    return [deeper for direct in kind.__subclasses__() for deeper in (direct, *_below(direct))]


def measure_named(name: str) -> type[Measure]:
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
    name, values = split_line(text)
    return measure_named(name).make(dict(values))
