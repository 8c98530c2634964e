"""Methods at many values of their parameters, as a person writes them: `k=2..7`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.parameters import parse_spec
from ..errors import UsageError, did_you_mean
from ..methods.base import Method
from ..methods.registry import parse_method

_MOST = 1000  # values of one parameter; more is a slip of the keys


@dataclass(frozen=True)
class MethodRun:
    """A method to run: the line it comes from, and the values that were swept."""

    method: Method
    label: str
    params: Mapping[str, Any]


def parse_sweep(text: str) -> tuple[str, tuple[str, ...]]:
    """Read which values a parameter shall take.

    >>> read_sweep("epsilon=0.1,1,10"), read_sweep("k=2..4")
    (('epsilon', ('0.1', '1', '10')), ('k', ('2', '3', '4')))
    """
    name, equals, values = text.partition("=")
    found = [value for part in values.split(",") for value in _values(part.strip())]
    if not equals or not name.strip() or "" in found:
        raise UsageError(f'"{text}" is no sweep', hint="write epsilon=0.1,1,10 or k=2..7")
    return name.strip().replace("-", "_"), tuple(dict.fromkeys(found))


def _values(part: str) -> list[str]:
    ends = re.fullmatch(r"(\d{1,9})\s*\.\.\s*(\d{1,9})", part)
    if not ends:
        return [part]
    low, high = int(ends[1]), int(ends[2])
    if not low <= high < low + _MOST:
        raise UsageError(f'"{part}" is no range', hint=f"write 2..7; at most {_MOST:,} values")
    return [str(value) for value in range(low, high + 1)]


def parse_sweeps(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read several, each of a parameter of its own."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, values = parse_sweep(text)
        if name in found:
            raise UsageError(f'"{name}" is swept twice', hint="give all its values at once")
        found[name] = values
    return found


def expand_grid(
    methods: Sequence[str | Method], sweep: Mapping[str, Sequence[Any]]
) -> list[MethodRun]:
    """Give every method at every combination of the swept values that concern it.

    A method without a swept parameter, or whose line sets it, is there once.

    >>> runs = expand(["frequent-queries", "frequent-queries:n=9"], {"n": ["5", "7"]})
    >>> [(str(run.method), run.label) for run in runs]  # doctest: +NORMALIZE_WHITESPACE
    [('frequent-queries:n=5', 'frequent-queries'), ('frequent-queries:n=7', 'frequent-queries'),
     ('frequent-queries:n=9', 'frequent-queries:n=9')]
    """
    wanted = {name.replace("-", "_"): values for name, values in sweep.items()}
    made = [parse_method(one) if isinstance(one, str) else one for one in methods]
    _check_names(made, wanted)
    runs = [
        run
        for given, method in zip(methods, made, strict=True)
        for run in _at_all_values(str(given).strip(), method, wanted)
    ]
    if not runs:
        raise UsageError("there is nothing to compare", hint="name methods, and values to sweep")
    return list({(run.label, str(run.method)): run for run in runs}.values())


def _at_all_values(
    label: str, method: Method, sweep: Mapping[str, Sequence[Any]]
) -> list[MethodRun]:
    _, own = parse_spec(label)
    names = [name for name in sweep if name in method.params() and name not in own]
    runs = []
    for values in itertools.product(*(sweep[name] for name in names)):
        one = method.from_params(method.params() | dict(zip(names, values, strict=True)))
        runs.append(MethodRun(one, label, {name: getattr(one, name) for name in names}))
    return runs


def _check_names(methods: Sequence[Method], sweep: Mapping[str, Sequence[Any]]) -> None:
    known = {name for method in methods for name in method.params()}
    for name, values in sweep.items():
        if isinstance(values, str) or not values:
            raise UsageError(f'"{name}" is swept over no list of values', hint='{"k": [2, 3]}')
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f'none of the methods has the parameter "{name}"', hint=hint)
