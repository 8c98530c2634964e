"""The assumptions of a simulation: protocol settings, graph, and misbehaving users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ...core.records import Record, Scalar
from ...errors import ParameterError, UsageError, did_you_mean
from ..protocol.policy import ProtocolSettings, initial_hop_distribution
from .graphs import graph_parameters, replace_parameter

EXPERIMENTS = ("t1", "t2")
_FRACTIONS = ("selfish", "dishonest", "churn", "message_loss")
_DEFAULT_TIMES = 100  # that each user sends their text in the test t1


@dataclass(frozen=True, repr=False)
class Scenario(Record):
    """One setting of a simulation.

    `selfish` users refuse all requests; `dishonest` users follow the protocol and record what they
    relay. Both are fractions of the users. `queries` is the maximum number of queries of each user;
    in the test t1, how often each user sends their one query. `random_hop_start`: the hop count
    of a query starts at random, as in the node, so that a friend cannot infer that they are the
    first hop.

    >>> Scenario(max_hops=2).with_value({"submit_probability": "0.3", "m": "4"}).graph
    'barabasi-albert:m=4'
    """

    shown = (
        "graph", "submit_probability", "max_hops", "selfish", "dishonest", "churn",
        "message_loss", "test", "random_hop_start",
    )  # fmt: skip
    graph: str = "barabasi-albert"
    submit_probability: float = 0.5
    max_hops: int = 3
    selfish: float = 0.0
    dishonest: float = 0.0
    churn: float = 0.0
    message_loss: float = 0.0
    queries: int | None = None
    test: str = "t2"
    random_hop_start: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        ProtocolSettings(self.submit_probability, self.max_hops)
        for name in _FRACTIONS:
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError(f"`{name}` cannot be {getattr(self, name)}", hint="0 to 1")
        if self.message_loss > 0.9:  # each loss can double a query
            raise ParameterError(f"`message_loss` cannot be {self.message_loss}", hint="0 to 0.9")
        if self.selfish + self.dishonest > 1:
            raise ParameterError("selfish and dishonest must add up to at most 1")
        if self.queries is not None and self.queries < 1:
            raise ParameterError(f"`queries` cannot be {self.queries}", hint="at least 1")
        if self.test not in EXPERIMENTS:
            raise ParameterError(f'there is no test "{self.test}"', hint=" or ".join(EXPERIMENTS))
        graph_parameters(self.graph)

    @property
    def settings(self) -> ProtocolSettings:
        """The parameters of the protocol."""
        return ProtocolSettings(self.submit_probability, self.max_hops)

    @property
    def initial_hops(self) -> list[float]:
        """The probability that a query starts with a hop count of 0, 1, ..."""
        is_random = self.random_hop_start and self.max_hops
        return initial_hop_distribution(self.settings) if is_random else [1.0]

    @property
    def times(self) -> int:
        """How often each user sends their text in the test t1."""
        return _DEFAULT_TIMES if self.queries is None else self.queries

    def value(self, name: str) -> Scalar:
        """Return the value of a parameter of the scenario or of its graph."""
        value: Scalar = getattr(self, name, None)
        return value if name in _names() else graph_parameters(self.graph)[name]

    def with_value(self, values: Mapping[str, Scalar]) -> Scenario:
        """Return a copy with other values, also as text, of the scenario or of its graph."""
        parameters = self.to_dict()
        for name, value in values.items():
            graph = str(parameters["graph"])
            if name in graph_parameters(graph):
                parameters["graph"] = replace_parameter(graph, name, str(value))
            elif name in parameters:
                parameters[name] = _parse_value(name, value)
            else:
                known = {*parameters, *graph_parameters(graph)}
                raise UsageError(f'there is no "{name}" to sweep', hint=did_you_mean(name, known))
        return Scenario(**parameters)


def _names() -> set[str]:
    return {declared.name for declared in fields(Scenario)}


def _parse_bool(value: Any) -> bool:
    return bool(float({"true": 1, "false": 0}.get(str(value).lower(), value)))


def _parse_value(name: str, value: Scalar) -> Any:
    parsers: dict[str, Callable[[Any], Any]] = {
        "graph": str,
        "test": str,
        "max_hops": int,
        "queries": int,
        "random_hop_start": _parse_bool,
    }
    try:
        return parsers.get(name, float)(value)
    except (TypeError, ValueError) as error:
        raise ParameterError(f'{name} cannot be "{value}"', hint="write a number") from error
