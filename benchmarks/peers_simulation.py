"""Time the simulation of peers: a million queries, and what is told of them.

Ten thousand users of a synthetic log, a hundred queries each: her events, again and again. The
aim: a million queries relayed in a minute, the whole in a few minutes.

Usage: peers_simulation.py [--users 10000] [--queries 100]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from microaggregation import log_of
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.peers.simulation.population import Population, population_from_log
from queryveil.peers.simulation.run import run_simulation
from queryveil.peers.simulation.scenario import Scenario
from queryveil.peers.simulation.summary import summarize

SCENARIOS = {
    "all behave": Scenario(),
    "20% selfish, 10% dishonest, 10% away, 1% lost": Scenario(
        selfish=0.2, dishonest=0.1, churn=0.1, message_loss=0.01
    ),
    "friends of like interests": Scenario(graph="interests"),
}


def people_of(users: int, queries: int) -> Population:
    """Let each user of a log send so many queries, beginning anew at her end."""
    found = population_from_log(log_of(users))
    order = np.argsort(found.who, kind="stable")
    many = np.bincount(found.who, minlength=found.users)
    first = np.cumsum(many) - many
    who = np.tile(np.arange(found.users), queries)
    turn = np.repeat(np.arange(queries), found.users) % many[who]
    return Population(found.names, found.texts, who, found.what[order[first[who] + turn]])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=100)
    asked = parser.parse_args()
    people = people_of(asked.users, asked.queries)
    print("| setting | queries | relayed in | a million in | figures in | peak |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, scenario in SCENARIOS.items():
        shown = NoProgress()
        outcome = run_simulation(people, scenario, RandomSource(1), shown)
        played = time.perf_counter()
        summarize(outcome)
        relayed = shown.seconds["relay queries"]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"| {name} | {people.searches:,} | {relayed:.1f} s | "
            f"{1e6 * relayed / people.searches:.1f} s | {time.perf_counter() - played:.1f} s | "
            f"{peak:,} MB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
