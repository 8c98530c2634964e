"""What a simulation assumes: the protocol's settings, the graph, and who does not behave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ...errors import ParameterError, UsageError, did_you_mean
from ..protocol.policy import ProtocolSettings, initial_hop_distribution
from .graphs import graph_parameters, replace_parameter


EXPERIMENTS = ("t1", "t2")
_SHARES = ("selfish", "dishonest", "churn", "loss")
_USUAL_T1 = 100  # times that each user sends her text


@dataclass(frozen=True)
class Scenario:
    """One setting of a simulation.

    `selfish` users refuse all that others ask; `dishonest` ones follow the protocol and write down
    what they relay. Both are shares of the users. `queries` is how many each user sends at most;
    in the test t1, how often she sends her one query. `hidden`: the count of hops on a query begins
    anywhere, as with the node, so that a friend who gets it cannot tell that it is the first.

    >>> Scenario(hops=2).with_value({"submit": "0.3", "m": "4"}).graph
    'barabasi-albert:m=4'
    """

    graph: str = "barabasi-albert"
    submit: float = 0.5
    hops: int = 3
    selfish: float = 0.0
    dishonest: float = 0.0
    churn: float = 0.0
    loss: float = 0.0
    queries: int | None = None
    test: str = "t2"
    hidden: bool = False

    def __post_init__(self) -> None:
        ProtocolSettings(self.submit, self.hops)
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError(f"--{name} cannot be {getattr(self, name)}", hint="0 to 1")
        if self.loss > 0.9:  # each loss can double a query
            raise ParameterError(f"--loss cannot be {self.loss}", hint="0 to 0.9")
        if self.selfish + self.dishonest > 1:
            raise ParameterError("more users are selfish or dishonest than there are")
        if self.queries is not None and self.queries < 1:
            raise ParameterError(f"--queries cannot be {self.queries}", hint="at least 1")
        if self.test not in EXPERIMENTS:
            raise ParameterError(f'there is no test "{self.test}"', hint=" or ".join(EXPERIMENTS))
        graph_parameters(self.graph)

    @property
    def settings(self) -> ProtocolSettings:
        """What the peers agree on."""
        return ProtocolSettings(self.submit, self.hops)

    @property
    def initial_hops(self) -> list[float]:
        """How likely a query begins with a count of 0, 1, ..."""
        return initial_hop_distribution(self.settings) if self.hidden and self.hops else [1.0]

    @property
    def times(self) -> int:
        """How often each user sends her text in the test t1."""
        return _USUAL_T1 if self.queries is None else self.queries

    def value(self, name: str) -> Any:
        """Give the value of a parameter, also one of the graph."""
        own = self.as_dict()
        return own[name] if name in own else graph_parameters(self.graph)[name]

    def as_dict(self) -> dict[str, Any]:
        """Give it as part of a JSON document."""
        return asdict(self)

    def with_value(self, values: dict[str, Any]) -> Scenario:
        """Give the same with other values, as a person writes them; also those of the graph."""
        found = self.as_dict()
        for name, value in values.items():
            if name in graph_parameters(str(found["graph"])):
                found["graph"] = replace_parameter(str(found["graph"]), name, str(value))
            elif name in found:
                found[name] = _read(name, value)
            else:
                known = {*found, *graph_parameters(str(found["graph"]))}
                raise UsageError(f'there is no "{name}" to sweep', hint=did_you_mean(name, known))
        return Scenario(**found)


def _yes(value: Any) -> bool:
    return bool(float({"true": 1, "false": 0}.get(str(value).lower(), value)))


def _read(name: str, value: Any) -> Any:
    kinds: dict[str, Callable[[Any], Any]] = {
        "graph": str,
        "test": str,
        "hops": int,
        "queries": int,
        "hidden": _yes,
    }
    try:
        return kinds.get(name, float)(value)
    except (TypeError, ValueError) as error:
        raise ParameterError(f'{name} cannot be "{value}"', hint="write a number") from error
