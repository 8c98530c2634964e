"""Social graphs: sampled from a model, read from a file, or built from similar queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...core.bounded import MAX_LIST, read_within
from ...core.parameters import parse_spec
from ...core.randomness import RandomSource
from ...errors import InputError, ParameterError, did_you_mean
from .population import Numbers, Population, similar_users


@dataclass(frozen=True)
class SocialGraph:
    """The friends of each user, and the counts of rejected lines of a file, by reason."""

    friends: list[list[int]]
    rejected: dict[str, int] = field(default_factory=dict)

    @property
    def degrees(self) -> Numbers:
        """The number of friends of each user."""
        return np.array([len(friends) for friends in self.friends], dtype=np.int64)

    @property
    def links(self) -> int:
        """The number of pairs of friends."""
        return sum(map(len, self.friends)) // 2


def build_social_graph(spec: str, people: Population, rng: RandomSource) -> SocialGraph:
    """Sample the graph of a spec, or read it from the file of that name.

    >>> import polars as pl
    >>> from .population import repeated_queries
    >>> people = repeated_queries(pl.Series(list("abcdefgh")), 1)
    >>> build_social_graph("watts-strogatz:k=2:p=0", people, RandomSource(1)).friends[0]
    [1, 7]
    """
    name, arguments = _split_spec(spec)
    if name not in GRAPHS:
        return _read_graph(Path(spec), people)
    build, defaults = GRAPHS[name]
    return build(people, rng, **_parse_values(name, defaults, arguments))


def graph_parameters(spec: str) -> dict[str, float]:
    """Return the parameters of a graph with their values; a file has none."""
    name, arguments = _split_spec(spec)
    return _parse_values(name, GRAPHS[name][1], arguments) if name in GRAPHS else {}


def replace_parameter(spec: str, name: str, value: str) -> str:
    """Return the spec of the same graph with another value of a parameter.

    >>> replace_parameter("barabasi-albert:m=2", "m", "3")
    'barabasi-albert:m=3'
    """
    kind, arguments = _split_spec(spec)
    values = arguments | {name: value}
    return ":".join([kind, *(f"{key}={text}" for key, text in values.items())])


def _split_spec(spec: str) -> tuple[str, dict[str, str]]:
    name = spec.partition(":")[0].strip()
    return parse_spec(spec) if name in GRAPHS else (name, {})


def _parse_values(
    name: str, defaults: dict[str, float], arguments: dict[str, str]
) -> dict[str, float]:
    values = dict(defaults)
    for key, text in arguments.items():
        if key not in defaults:
            raise ParameterError(f'{name} has no "{key}"', hint=did_you_mean(key, defaults))
        try:
            values[key] = type(defaults[key])(text)
        except ValueError as error:
            raise ParameterError(f'{key} of {name} cannot be "{text}"') from error
    return values


def _scale_free(people: Population, rng: RandomSource, m: int) -> SocialGraph:
    """Sample a graph of Barabási and Albert: new users prefer friends with many friends."""
    if not 1 <= m < people.users:
        raise ParameterError(f"m cannot be {m} for {people.users} users", hint="at least 1")
    import networkx  # noqa: PLC0415  (slow to import)

    sampled = networkx.barabasi_albert_graph(people.users, m, _draw_seed(rng))
    return _from_pairs(people, sampled.edges)


def _small_world(people: Population, rng: RandomSource, k: int, p: float) -> SocialGraph:
    """Sample a graph of Watts and Strogatz: k neighbors on a ring, links rewired with p."""
    if not (2 <= k < people.users and 0 <= p <= 1):
        raise ParameterError(
            f"k={k} and p={p} are not possible for {people.users} users",
            hint="k from 2, p from 0 to 1",
        )
    import networkx  # noqa: PLC0415  (slow to import)

    sampled = networkx.watts_strogatz_graph(people.users, k, p, _draw_seed(rng))
    return _from_pairs(people, sampled.edges)


def _interests(people: Population, rng: RandomSource, k: int) -> SocialGraph:  # noqa: ARG001
    """Link each user with the k users whose queries are most similar to theirs."""
    if k < 1:
        raise ParameterError(f"k cannot be {k}", hint="at least 1")
    return _from_pairs(people, similar_users(people, k))


def _draw_seed(rng: RandomSource) -> int:
    return int(rng.uint64s(1)[0])


def _from_pairs(people: Population, pairs: Iterable[tuple[int, int]]) -> SocialGraph:
    friends: list[set[int]] = [set() for _ in range(people.users)]
    for user, other in pairs:
        friends[user].add(other)
        friends[other].add(user)
    return SocialGraph([sorted(neighbors) for neighbors in friends])


def _read_graph(path: Path, people: Population) -> SocialGraph:
    """Read an edge list, two user names per line; count the lines that are not links."""
    indices = {name: index for index, name in enumerate(people.names.to_list())}
    rejected = {"not two names": 0, "a user who is not in the log": 0, "twice the same name": 0}
    pairs = []
    for line in _read_lines(path):
        names = line.split("\t") if "\t" in line else line.replace(",", " ").split()
        known = [indices.get(name.strip()) for name in names]
        match known:
            case [int(user), int(other)] if user != other:
                pairs.append((user, other))
            case [_, _] if None in known:
                rejected["a user who is not in the log"] += 1
            case [_, _]:
                rejected["twice the same name"] += 1
            case _:
                rejected["not two names"] += 1
    if not pairs:
        raise InputError("no line has two users of the log", where=path, hint="two names per line")
    friends = _from_pairs(people, pairs).friends
    return SocialGraph(friends, {reason: count for reason, count in rejected.items() if count})


def _read_lines(path: Path) -> list[str]:
    try:
        text = read_within(path, MAX_LIST).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        known = f"a file of two names per line, or {', '.join(GRAPHS)}"
        raise InputError("this is not a social graph", where=path, hint=known) from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


GRAPHS: dict[str, tuple[Callable[..., SocialGraph], dict[str, float]]] = {
    "barabasi-albert": (_scale_free, {"m": 2}),
    "watts-strogatz": (_small_world, {"k": 4, "p": 0.1}),
    "interests": (_interests, {"k": 4}),
}
