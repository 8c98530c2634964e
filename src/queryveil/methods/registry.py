"""All methods there are: every file of this room that defines one is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from inspect import isabstract
from pathlib import Path

from ..engine.declared import split_line
from ..errors import UsageError, did_you_mean
from .base import Method

__all__ = ["all_methods", "method_named", "parse_method"]


@cache
def all_methods() -> dict[str, type[Method]]:
    """Give every method by its name."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.walk_packages([str(Path(__file__).parent)], f"{package}."):
        importlib.import_module(module.name)
    found = [kind for kind in _below(Method) if not isabstract(kind)]  # type: ignore[type-abstract]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.name)}


def _below(kind: type[Method]) -> list[type[Method]]:
    return [deeper for direct in kind.__subclasses__() for deeper in (direct, *_below(direct))]


def method_named(name: str) -> type[Method]:
    """Give the method of that name, or say which name is near."""
    methods = all_methods()
    if name not in methods:
        raise UsageError(f'unknown method "{name}"', hint=did_you_mean(name, methods))
    return methods[name]


def parse_method(text: str) -> Method:
    """Read a method from its one line.

    >>> str(parse_method("frequent-queries:n=20:link=user"))
    'frequent-queries:n=20'
    """
    name, values = split_line(text)
    return method_named(name).make(dict(values))
