"""All methods there are: every file of this room that defines one is found by itself."""

from __future__ import annotations

from functools import cache

from ..core.parameters import discover, parse_spec
from ..errors import UsageError, did_you_mean
from .base import Method

__all__ = ["all_methods", "get_method", "parse_method"]


@cache
def all_methods() -> dict[str, type[Method]]:
    """Give every method by its name."""
    return discover(Method, __name__, __file__)  # type: ignore[type-abstract]


def get_method(name: str) -> type[Method]:
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
    name, values = parse_spec(text)
    return get_method(name).from_params(dict(values))
