"""Play a log through the protocol, and keep all that happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...engine import Chance, Progress, Silent
from .draws import draws
from .graphs import Graph, graph_of
from .network import Network, Traffic
from .population import Numbers, Population, echoes
from .scenario import Scenario

__all__ = ["Outcome", "play"]


@dataclass(frozen=True, repr=False)
class Outcome:
    """What was played, and all that happened.

    `submitted` has a row a submission: text, origin (the user it comes from), account, hops.
    """

    scenario: Scenario
    people: Population
    graph: Graph
    selfish: NDArray[np.bool_]
    dishonest: NDArray[np.bool_]
    traffic: Traffic
    submitted: pl.DataFrame

    def column(self, name: str) -> Numbers:
        """Give a column of what was submitted."""
        return self.submitted[name].to_numpy()


def play(
    people: Population, scenario: Scenario, chance: Chance, progress: Progress | None = None
) -> Outcome:
    """Let each user of a population send her queries through the network of a scenario."""
    shown = progress or Silent()
    sent = people if scenario.test == "t2" else echoes(people.names, scenario.times)
    with shown.stage("draw the graph"):
        graph = graph_of(scenario.graph, people, chance)
    selfish, dishonest = _roles(people.users, scenario, chance)
    network = Network(
        graph.friends,
        scenario.settings,
        draws(chance),
        selfish=np.flatnonzero(selfish).tolist(),
        dishonest=np.flatnonzero(dishonest).tolist(),
        churn=scenario.churn,
        loss=scenario.loss,
        starts=scenario.starts,
    )
    with shown.stage("relay queries", sent.searches) as advance:
        traffic = network.run(sent.who.tolist(), advance)
    return Outcome(scenario, sent, graph, selfish, dishonest, traffic, _submitted(sent, traffic))


def _roles(users: int, scenario: Scenario, chance: Chance) -> tuple[Any, Any]:
    """Draw who is selfish and who dishonest; nobody is both."""
    order = chance.order(users)
    some, more = round(users * scenario.selfish), round(users * scenario.dishonest)
    marks = np.zeros((2, users), dtype=np.bool_)
    marks[0, order[:some]] = True
    marks[1, order[some : some + more]] = True
    return marks[0], marks[1]


def _submitted(sent: Population, traffic: Traffic) -> pl.DataFrame:
    search = np.array(traffic.search, dtype=np.int64)
    return pl.DataFrame(
        {
            "text": sent.what[search],
            "origin": sent.who[search],
            "account": np.array(traffic.account, dtype=np.int64),
            "hops": np.array(traffic.hops, dtype=np.int64),
        }
    )
