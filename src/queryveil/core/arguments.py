"""Keyword arguments: a misspelled one is answered with the name that was probably meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from ..errors import ArgumentError, did_you_mean

P = ParamSpec("P")
R = TypeVar("R")


def check_keywords(function: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error if a keyword argument is not known.

    Raises:
        ArgumentError: A function has no such argument; the hint has a similar name.

    >>> check_keywords("read_log", ["colums"], ["columns", "format"])
    Traceback (most recent call last):
    queryveil.errors.ArgumentError: read_log() has no argument "colums". \
Hint: did you mean `columns`?
    """
    choices = set(known)
    for name in names:
        if name not in choices:
            raise ArgumentError(
                f'{function}() has no argument "{name}"',
                hint=did_you_mean(name, choices, quote="`"),
            )


def own_keywords(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of a function's own arguments.

    >>> own_keywords(check_keywords)
    ('function', 'names', 'known')
    """
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)


def guided(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that answers a misspelled keyword argument with a similar name.

    Its signature, its types and its docstring stay those of `function`.
    """
    return guided_with(())(function)


def guided_with(also: Iterable[str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator as `guided`, for a function that takes further keywords `also`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = (*own_keywords(function), *also)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            check_keywords(function.__name__, kwargs, known)
            return function(*args, **kwargs)

        return call

    return decorate
