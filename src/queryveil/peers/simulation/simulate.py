"""Play a log through the protocol, and keep all that happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.progress import NoProgress, Progress
from ...core.randomness import RandomSource
from .draws import uniform_stream
from .graphs import SocialGraph, build_social_graph
from .network import Network, Traffic
from .population import Numbers, Population, repeated_queries
from .scenario import Scenario

__all__ = ["SimulationRun", "run_simulation"]


@dataclass(frozen=True, repr=False)
class SimulationRun:
    """What was played, and all that happened.

    `submitted` has a row a submission: text, origin (the user it comes from), account, hops.
    """

    scenario: Scenario
    people: Population
    graph: SocialGraph
    selfish: NDArray[np.bool_]
    dishonest: NDArray[np.bool_]
    traffic: Traffic
    submitted: pl.DataFrame

    def column(self, name: str) -> Numbers:
        """Give a column of what was submitted."""
        return self.submitted[name].to_numpy()


def run_simulation(
    people: Population, scenario: Scenario, chance: RandomSource, progress: Progress | None = None
) -> SimulationRun:
    """Let each user of a population send her queries through the network of a scenario."""
    shown = progress or NoProgress()
    sent = people if scenario.test == "t2" else repeated_queries(people.names, scenario.times)
    with shown.stage("draw the graph"):
        graph = build_social_graph(scenario.graph, people, chance)
    selfish, dishonest = _roles(people.users, scenario, chance)
    network = Network(
        graph.friends,
        scenario.settings,
        uniform_stream(chance),
        selfish=np.flatnonzero(selfish).tolist(),
        dishonest=np.flatnonzero(dishonest).tolist(),
        churn=scenario.churn,
        loss=scenario.loss,
        starts=scenario.initial_hops,
    )
    with shown.stage("relay queries", sent.searches) as advance:
        traffic = network.run(sent.who.tolist(), advance)
    return SimulationRun(
        scenario, sent, graph, selfish, dishonest, traffic, _submitted(sent, traffic)
    )


def _roles(users: int, scenario: Scenario, chance: RandomSource) -> tuple[Any, Any]:
    """Draw who is selfish and who dishonest; nobody is both."""
    order = chance.permutation(users)
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
