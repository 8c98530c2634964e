"""The figures of a simulation: what the engine and dishonest friends learn, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from .adversary import Adversary, guess_senders
from .run import SimulationRun, submission_spread, user_metrics

# Few friends are told apart one by one: they are what protects a person.
_STEPS = {0: "0", 1: "1", 2: "2", 3: "3-4", 5: "5-9", 10: "10-19", 20: "20+"}


def degree_class(column: str = "friends") -> pl.Expr:
    """Return the class of a number of friends.

    >>> pl.DataFrame({"friends": [0, 4, 30]}).select(degree_class())["degree"].to_list()
    ['0', '3-4', '20+']
    """
    found = pl.lit("0")
    for low, name in list(_STEPS.items())[1:]:
        found = pl.when(pl.col(column) >= low).then(pl.lit(name)).otherwise(found)
    return found.alias("degree")


def summarize(outcome: SimulationRun) -> dict[str, Any]:
    """Sum up a simulation.

    Honest are all who relay for others, also those who write down what they relay. Figures by
    degree (the number of friends) are of honest users.
    """
    users = user_metrics(outcome).with_columns(degree_class())
    honest = users.filter(~pl.col("selfish"))
    guessed = _guessed(outcome, users)
    told = {
        "users": outcome.people.users,
        "queries": outcome.people.searches,
        "pel": _by(users, "pel"),
        "uncertainty": _by(users, "uncertainty"),
        "above_70": _mean(honest["uncertainty"] > 70),
        "above_80": _mean(honest["uncertainty"] > 80),
        "degrees": _degrees(honest),
        **_ways(outcome),
        "guess_rate": guessed["mean"],
        "guess": guessed,
        "dishonest": _dishonest(outcome),
        "service": {name: _by(users, name) for name in ("queries", "words")},
        "load": _load(outcome),
        "graph": _graph(outcome),
    }
    return told | ({"t1": _t1(outcome, users)} if outcome.scenario.test == "t1" else {})


def _by(users: pl.DataFrame, name: str) -> dict[str, Any]:
    honest, selfish = (users.filter(pl.col("selfish") == kind) for kind in (False, True))
    return {
        "mean": _mean(users[name]),
        "by_degree": _by_degree(honest, name),
        "honest": _mean(honest[name]),
        "selfish": _mean(selfish[name]),
    }


def _by_degree(users: pl.DataFrame, name: str) -> dict[str, Any]:
    classes = {degree: users.filter(pl.col("degree") == degree) for degree in _STEPS.values()}
    return {degree: _mean(some[name]) for degree, some in classes.items() if some.height}


def _mean(values: pl.Series) -> float | None:
    mean = values.cast(pl.Float64).mean()
    return None if mean is None else round(float(mean), 6)  # type: ignore[arg-type]


def _degrees(honest: pl.DataFrame) -> dict[str, Any]:
    """Return the paper's table: how many users of each degree have an uncertainty above."""
    hidden = pl.col("uncertainty")
    sums = honest.group_by("degree").agg(
        users=pl.len(), above_70=(hidden > 70).sum(), above_80=(hidden > 80).sum()
    )
    rows = {row.pop("degree"): row for row in sums.to_dicts()}
    return {degree: rows[degree] for degree in _STEPS.values() if degree in rows}


def _ways(outcome: SimulationRun) -> dict[str, Any]:
    traffic, hops = outcome.traffic, outcome.column("hops")
    counted = np.bincount(hops, minlength=outcome.scenario.hops + 1)
    names = ("asked", "accepted", "refused", "silent")
    return {
        "hops": round(float(hops.mean()), 6),
        "hops_counted": {str(hop): int(many) for hop, many in enumerate(counted)},
        "refusals": traffic.refused,
        "messages": {name: getattr(traffic, name) for name in names},
        "submissions": len(hops),
        "duplicates": len(hops) - outcome.people.searches,
        "failures": traffic.failures,
    }


def _guessed(outcome: SimulationRun, users: pl.DataFrame) -> dict[str, Any]:
    """Return how often the engine finds the user behind a submission, in its best way."""
    asked = outcome.scenario
    engine = Adversary.from_run(outcome.graph.friends, asked.settings, asked.initial_hops)
    text, origin, account = (outcome.column(name) for name in ("text", "origin", "account"))
    ways = guess_senders(engine, text, account) | {"account": account}
    right = {way: guess == origin for way, guess in ways.items()}
    best = max(right, key=lambda way: float(right[way].mean()))
    each = pl.DataFrame({"user": origin, "right": right[best]})
    each = each.join(users.select("user", "degree", "selfish"), on="user")
    told = {way: round(float(some.mean()), 6) for way, some in right.items()}
    return _by(each, "right") | {"best_way": best, "ways": told}


def _dishonest(outcome: SimulationRun) -> dict[str, Any]:
    """Return what dishonest users learn: was the one they have a query from the one who asks it.

    The count of hops stands on a query: where it is 1 they know.
    """
    recorded, who = outcome.traffic.recorded, outcome.people.who.tolist()
    own = [search for search, sender, _ in recorded if who[search] == sender]
    sure = sum(1 for *_, count in recorded if count == 1)
    return {
        "users": int(outcome.dishonest.sum()),
        "recorded": len(recorded),
        "sender_is_origin": round(len(own) / len(recorded), 6) if recorded else None,
        "known_by_count": round(sure / len(recorded), 6) if recorded else None,
        "queries_known": round(len(set(own)) / outcome.people.searches, 6),
    }


def _load(outcome: SimulationRun) -> dict[str, Any]:
    submitted = np.bincount(outcome.column("account"), minlength=outcome.people.users)
    loads = {"submissions": submitted, "relays": np.array(outcome.traffic.relays)}
    return {
        name: {
            "mean": round(float(load.mean()), 6),
            "max": int(load.max()),
            "max_over_mean": round(float(load.max() / load.mean()), 6) if load.any() else None,
        }
        for name, load in loads.items()
    }


def _graph(outcome: SimulationRun) -> dict[str, Any]:
    degrees = outcome.graph.degrees
    return {
        "name": outcome.scenario.graph,
        "links": outcome.graph.links,
        "friends": {"mean": round(float(degrees.mean()), 6), "max": int(degrees.max())},
        "alone": int((degrees == 0).sum()),
        "rejected": outcome.graph.rejected,
    }


def _t1(outcome: SimulationRun, users: pl.DataFrame) -> dict[str, Any]:
    spread = submission_spread(outcome.column("origin"), outcome.column("account"))
    found = users.select("user", "degree", "selfish").join(spread, on="user")
    names = ("share", "rank", "top_relay", "accounts", "evenness", "shown")
    return {name: _by(found, name) for name in names}
