"""Does it pay to protect prototypes of groups instead of single users?

The future work of Sanchez et al. 2018, with the only partition that helps: an insensitive one
(Soria-Comas et al. 2014), in which another log of one user changes each group by one member at
most. Prints the table of docs/reference/methods/profile-first.md.

Usage: microaggregation_first.py [--users 1000] [--queries 100]
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np
import polars as pl

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.topics import topic_preset
from queryveil.dp.noise import NoiseSource
from queryveil.engine.operations import unique_queries
from queryveil.log.query_log import QueryLog
from queryveil.methods.replacement.profile_mechanisms import (
    Apportionments,
    Floats,
    apportion,
    choose_profile_mechanism,
    js_divergence,
    shrink_to_uniform,
)
from queryveil.synthetic.topical import topical_rows

SETTINGS = {"C": "sanchez4", "B": "sanchez19"}
EPSILONS = (1, 3, 10)
SIZES = (32, 50, 100, 150, 200, 250, 333, 500)
RUNS = 5


def counts_of(log: pl.DataFrame, topics: str) -> Apportionments:
    """Count each user's queries by topic."""
    wordnet = open_taxonomy("wordnet")
    read = QueryLog.from_clean_frame(log)
    found = Mapper(wordnet).map(unique_queries(read.local_frame)).concepts(read)
    chosen = topic_preset(wordnet, topics)
    topic = pl.Series("topic", chosen.topic_of[found["concept"].to_numpy()])
    table = found.with_columns(topic).filter(pl.col("topic") >= 0)
    users = table["user"].rank("dense").to_numpy().astype(int) - 1
    counts = np.zeros((users.max() + 1, len(chosen)), np.int64)
    np.add.at(counts, (users, table["topic"].to_numpy()), table["count"].to_numpy())
    return counts


def grouped(profiles: Floats, size: int, epsilon: float, dice: np.random.Generator) -> Floats:
    """Give each user the noisy mean of her group: users in a fixed total order, cut into groups."""
    users, topics = profiles.shape
    order = np.lexsort((-profiles.max(axis=1), profiles.argmax(axis=1)))
    groups = users // size
    scale = groups * (2 / size) / epsilon  # every group may change, by one member
    found = np.empty(profiles.shape)
    for group, members in enumerate(np.array_split(order[: groups * size], groups)):
        mine = members if group < groups - 1 else order[group * size :]
        noisy = profiles[mine].mean(axis=0) + dice.laplace(0, scale, topics)
        found[mine] = shrink_to_uniform(noisy, 2 * scale**2)
    return found


def loss(profiles: Floats, released: Floats, queries: int) -> float:
    return float(js_divergence(profiles, apportion(released, queries) / queries).mean())


def rows(setting: str, counts: Apportionments, queries: int) -> list[str]:
    profiles = counts / counts.sum(axis=1, keepdims=True)
    dice, found = np.random.default_rng(1), []
    uniform = loss(profiles, np.ones(counts.shape), queries)
    for epsilon in EPSILONS:
        tried = {
            size: np.mean(
                [
                    loss(profiles, grouped(profiles, size, epsilon, dice), queries)
                    for _ in range(RUNS)
                ]
            )
            for size in SIZES
        }
        best = min(tried, key=lambda size: tried[size])
        ours = {}
        for kind in ("answers", "cells"):
            way = choose_profile_mechanism(counts.shape[1], Fraction(epsilon), len(counts), kind)
            told = [
                loss(profiles, way.profiles(counts, NoiseSource()), queries) for _ in range(RUNS)
            ]
            ours[kind] = np.mean(told)
        found.append(
            f"| {setting}, {epsilon} | {best} | {tried[best]:.3f} | {ours['answers']:.3f} | "
            f"{ours['cells']:.3f} | {uniform:.3f} |"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=100)
    given = parser.parse_args()
    log = topical_rows("A", given.users, given.queries, seed=0)
    print("| setting, epsilon | best k | loss | `answers` | `cells` | uniform |")
    print("|---|---:|---:|---:|---:|---:|")
    for setting, topics in SETTINGS.items():
        print("\n".join(rows(setting, counts_of(log, topics), given.queries)))


if __name__ == "__main__":
    main()
