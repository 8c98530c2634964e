"""All methods there are: every file of this room that defines one is found by itself."""

from __future__ import annotations

from functools import cache

from ..engine.declared import all_kinds, split_line
from ..errors import UsageError, did_you_mean
from .base import Method

__all__ = ["all_methods", "method_named", "parse_method"]


@cache
def all_methods() -> dict[str, type[Method]]:
    """Give every method by its name."""
    return all_kinds(Method, __name__, __file__)  # type: ignore[type-abstract]


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
