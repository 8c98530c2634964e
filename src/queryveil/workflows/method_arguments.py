"""Sort the keyword arguments of a function that takes a method and a log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from ..core.arguments import check_keywords, own_keywords
from ..core.parameters import parse_spec
from ..core.records import Scalar
from ..errors import ArgumentError, ParameterError, UsageError
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..methods.base import METHODS, Method

# A method, its spec, or its class or name with parameters as keyword arguments.
MethodLike = Method | type[Method] | str


def take_method(
    function: Callable[..., object], method: MethodLike, more: Mapping[str, Scalar]
) -> tuple[Method, ReadingKeywords]:
    """Return the method, and the options for reading the log, from further keyword arguments.

    >>> def run(log, method, **more): ...
    >>> more = {"min_users": 5, "columns": "user=u"}
    >>> method, reading = take_method(run, "frequent-queries", more)
    >>> str(method), reading
    ('frequent-queries:min-users=5', {'columns': 'user=u'})
    """
    reading = {name: value for name, value in more.items() if name in READING_OPTIONS}
    values = {name: value for name, value in more.items() if name not in READING_OPTIONS}
    kind, settings = _find_kind(method)
    parameters = [declared.name for declared in kind.parameters()]
    known = (*own_keywords(function), *READING_OPTIONS, *parameters)
    check_keywords(function.__name__, values, known)
    if isinstance(method, Method):
        for name in values:
            raise ArgumentError(
                f"`{name}` is a parameter of the method",
                hint=f"set it there: {kind.__name__}({name}=...)",
            )
        return method, cast(ReadingKeywords, reading)
    for name in values:
        if name in settings:
            raise ParameterError(f'`{name}` is in "{method}" too', parameter=name)
    return kind.from_params({**settings, **values}), cast(ReadingKeywords, reading)


def _find_kind(method: MethodLike) -> tuple[type[Method], dict[str, Scalar]]:
    """Return the class of a method, and the values that its spec sets."""
    if isinstance(method, Method):
        return type(method), {}
    if isinstance(method, str):
        name, values = parse_spec(method)
        return METHODS.find(name), dict(values)
    if isinstance(method, type) and issubclass(method, Method):
        return method, {}
    raise UsageError(
        f"a value of type {type(method).__name__} is not a method",
        hint="an object such as FrequentQueries(min_users=30), or a spec such as "
        '"frequent-queries:min-users=30"; see `METHODS`',
    )
