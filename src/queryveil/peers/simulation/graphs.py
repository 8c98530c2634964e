"""Who is a friend of whom: social graphs that are drawn, read, or made of likeness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...core.bounded import MOST_LIST, read_within
from ...core.extras import import_extra
from ...core.parameters import parse_spec
from ...core.randomness import RandomSource
from ...errors import InputError, ParameterError, did_you_mean
from .population import Population, similar_users


@dataclass(frozen=True)
class SocialGraph:
    """The friends of each user, and what was left out of a file and why."""

    friends: list[list[int]]
    rejected: dict[str, int] = field(default_factory=dict)

    @property
    def degrees(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many friends each user has."""
        return np.array([len(some) for some in self.friends], dtype=np.int64)

    @property
    def links(self) -> int:
        """How many pairs are friends."""
        return sum(map(len, self.friends)) // 2


def build_social_graph(line: str, people: Population, chance: RandomSource) -> SocialGraph:
    """Make the graph that a line asks for, else read it from the file of that name.

    >>> import polars as pl
    >>> from .population import repeated_queries
    >>> people = repeated_queries(pl.Series(list("abcdefgh")), 1)
    >>> build_social_graph("watts-strogatz:k=2:p=0", people, RandomSource(1)).friends[0]
    [1, 7]
    """
    name, given = _parted(line)
    if name not in GRAPHS:
        return _read(Path(line), people)
    make, usual = GRAPHS[name]
    return make(people, chance, **_values(name, usual, given))


def graph_parameters(line: str) -> dict[str, float]:
    """Return the parameters of a graph, as asked for or usual; a file has none."""
    name, given = _parted(line)
    return _values(name, GRAPHS[name][1], given) if name in GRAPHS else {}


def replace_parameter(line: str, name: str, value: str) -> str:
    """Ask for the same graph with another value of a parameter.

    >>> replace_parameter("barabasi-albert:m=2", "m", "3")
    'barabasi-albert:m=3'
    """
    kind, given = _parted(line)
    return ":".join([kind, *(f"{key}={text}" for key, text in (given | {name: value}).items())])


def _parted(line: str) -> tuple[str, dict[str, str]]:
    name = line.partition(":")[0].strip()
    return parse_spec(line) if name in GRAPHS else (name, {})


def _values(name: str, usual: dict[str, float], given: dict[str, str]) -> dict[str, float]:
    values = dict(usual)
    for key, text in given.items():
        if key not in usual:
            raise ParameterError(f'{name} has no "{key}"', hint=did_you_mean(key, usual))
        try:
            values[key] = type(usual[key])(text)
        except ValueError as error:
            raise ParameterError(f'{key} of {name} cannot be "{text}"') from error
    return values


def _scale_free(people: Population, chance: RandomSource, m: int) -> SocialGraph:
    """Barabási and Albert: new users befriend those who have many friends."""
    if not 1 <= m < people.users:
        raise ParameterError(f"m cannot be {m} for {people.users} users", hint="at least 1")
    networks = _networkx()
    return _from_pairs(people, networks.barabasi_albert_graph(people.users, m, _seed(chance)).edges)


def _small_world(people: Population, chance: RandomSource, k: int, p: float) -> SocialGraph:
    """Watts and Strogatz: k neighbours on a ring, each link put elsewhere with the chance p."""
    if not (2 <= k < people.users and 0 <= p <= 1):
        raise ParameterError(
            f"k={k} and p={p} do not go for {people.users} users", hint="k from 2, p from 0 to 1"
        )
    networks = _networkx()
    drawn = networks.watts_strogatz_graph(people.users, k, p, _seed(chance))
    return _from_pairs(people, drawn.edges)


def _interests(people: Population, chance: RandomSource, k: int) -> SocialGraph:  # noqa: ARG001
    """Befriend each user with the k whose queries have most words in common with hers."""
    if k < 1:
        raise ParameterError(f"k cannot be {k}", hint="at least 1")
    return _from_pairs(people, similar_users(people, k))


def _networkx() -> Any:
    return import_extra("networkx", "a social graph", of="peers")


def _seed(chance: RandomSource) -> int:
    return int(chance.uint64s(1)[0])


def _from_pairs(people: Population, pairs: Iterable[tuple[int, int]]) -> SocialGraph:
    friends: list[set[int]] = [set() for _ in range(people.users)]
    for one, other in pairs:
        friends[one].add(other)
        friends[other].add(one)
    return SocialGraph([sorted(some) for some in friends])


def _read(path: Path, people: Population) -> SocialGraph:
    """Read an edge list: two names of users a line; what cannot be a link is counted."""
    places = {name: place for place, name in enumerate(people.names.to_list())}
    rejected = {"no two names": 0, "a stranger to the log": 0, "a friend of herself": 0}
    pairs = []
    for line in _lines(path):
        names = line.split("\t") if "\t" in line else line.replace(",", " ").split()
        known = [places.get(name.strip()) for name in names]
        match known:
            case [int(one), int(other)] if one != other:
                pairs.append((one, other))
            case [_, _] if None in known:
                rejected["a stranger to the log"] += 1
            case [_, _]:
                rejected["a friend of herself"] += 1
            case _:
                rejected["no two names"] += 1
    if not pairs:
        raise InputError("no line has two users of the log", where=path, hint="two names a line")
    found = _from_pairs(people, pairs)
    return SocialGraph(found.friends, {why: many for why, many in rejected.items() if many})


def _lines(path: Path) -> list[str]:
    try:
        text = read_within(path, MOST_LIST).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        known = f"a file of two names a line, or {', '.join(GRAPHS)}"
        raise InputError("this is no graph that can be read", where=path, hint=known) from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


GRAPHS: dict[str, tuple[Callable[..., SocialGraph], dict[str, float]]] = {
    "barabasi-albert": (_scale_free, {"m": 2}),
    "watts-strogatz": (_small_world, {"k": 4, "p": 0.1}),
    "interests": (_interests, {"k": 4}),
}
