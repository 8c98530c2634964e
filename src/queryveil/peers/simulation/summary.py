"""The figures of a simulation: what the engine and dishonest friends learn, and the costs."""

from __future__ import annotations

import numpy as np
import polars as pl

from .adversary import Adversary, guess_senders
from .population import Numbers
from .results import (
    AttackSummary,
    DegreeCounts,
    DishonestSummary,
    FriendCounts,
    GraphSummary,
    Load,
    LoadSummary,
    MessageCounts,
    ServiceLoss,
    SimulationSummary,
    SpreadSummary,
    TrafficSummary,
    UserMeans,
)
from .run import SimulationRun, submission_spread, user_metrics

# Small numbers of friends have classes of their own: they decide how exposed a user is.
_DEGREES = {0: "0", 1: "1", 2: "2", 3: "3-4", 5: "5-9", 10: "10-19", 20: "20+"}


def degree_class(column: str = "friends") -> pl.Expr:
    """Return the class of a number of friends.

    >>> pl.DataFrame({"friends": [0, 4, 30]}).select(degree_class())["degree"].to_list()
    ['0', '3-4', '20+']
    """
    name = pl.lit("0")
    for lowest, label in list(_DEGREES.items())[1:]:
        name = pl.when(pl.col(column) >= lowest).then(pl.lit(label)).otherwise(name)
    return name.alias("degree")


def summarize(run: SimulationRun) -> SimulationSummary:
    """Return the figures of a simulation."""
    users = user_metrics(run).with_columns(degree_class())
    honest = users.filter(~pl.col("selfish"))
    guess = _summarize_attacks(run, users)
    return SimulationSummary(
        users=run.people.users,
        queries=run.people.searches,
        pel=_average(users, "pel"),
        uncertainty=_average(users, "uncertainty"),
        above_70=_mean(honest["uncertainty"] > 70),
        above_80=_mean(honest["uncertainty"] > 80),
        degrees=_count_degrees(honest),
        traffic=_summarize_traffic(run),
        guess_rate=guess.attacks[guess.best_attack],
        guess=guess,
        dishonest=_summarize_dishonest(run),
        service=ServiceLoss(_average(users, "queries"), _average(users, "words")),
        load=_summarize_load(run),
        graph=_summarize_graph(run),
        t1=_summarize_spread(run, users) if run.scenario.test == "t1" else None,
    )


def _average(users: pl.DataFrame, name: str) -> UserMeans:
    honest, selfish = (users.filter(pl.col("selfish") == kind) for kind in (False, True))
    classes = {degree: honest.filter(pl.col("degree") == degree) for degree in _DEGREES.values()}
    return UserMeans(
        mean=_mean(users[name]),
        by_degree={degree: _mean(rows[name]) for degree, rows in classes.items() if rows.height},
        honest=_mean(honest[name]),
        selfish=_mean(selfish[name]),
    )


def _mean(values: pl.Series) -> float | None:
    mean = values.cast(pl.Float64).mean()
    return None if mean is None else round(float(mean), 6)  # type: ignore[arg-type]


def _count_degrees(honest: pl.DataFrame) -> dict[str, DegreeCounts]:
    """Return the table of the paper: the users of each degree, and those above an uncertainty."""
    uncertainty = pl.col("uncertainty")
    sums = honest.group_by("degree").agg(
        users=pl.len(), above_70=(uncertainty > 70).sum(), above_80=(uncertainty > 80).sum()
    )
    counts = {row.pop("degree"): DegreeCounts(**row) for row in sums.to_dicts()}
    return {degree: counts[degree] for degree in _DEGREES.values() if degree in counts}


def _summarize_traffic(run: SimulationRun) -> TrafficSummary:
    traffic, hops = run.traffic, run.column("hops")
    counts = np.bincount(hops, minlength=run.scenario.max_hops + 1)
    return TrafficSummary(
        hops=round(float(hops.mean()), 6),
        hops_counted={str(hop): int(count) for hop, count in enumerate(counts)},
        refusals=traffic.refused,
        messages=MessageCounts(traffic.asked, traffic.accepted, traffic.refused, traffic.silent),
        submissions=len(hops),
        duplicates=len(hops) - run.people.searches,
        failures=traffic.failures,
    )


def _summarize_attacks(run: SimulationRun, users: pl.DataFrame) -> AttackSummary:
    """Return how often the engine guesses the user behind a submission, by its best attack."""
    scenario = run.scenario
    adversary = Adversary.from_graph(run.graph.friends, scenario.settings, scenario.initial_hops)
    text, origin, account = (run.column(name) for name in ("text", "origin", "account"))
    guesses = guess_senders(adversary, text, account) | {"account": account}
    is_right = {attack: guess == origin for attack, guess in guesses.items()}
    best = max(is_right, key=lambda attack: float(is_right[attack].mean()))
    submissions = pl.DataFrame({"user": origin, "right": is_right[best]})
    submissions = submissions.join(users.select("user", "degree", "selfish"), on="user")
    return AttackSummary(
        rates=_average(submissions, "right"),
        best_attack=best,
        attacks={attack: round(float(right.mean()), 6) for attack, right in is_right.items()},
    )


def _summarize_dishonest(run: SimulationRun) -> DishonestSummary:
    """Return how often the friend from whom a dishonest user has a query is its origin.

    A query carries its hop count: where it is 1, its sender is known to be its origin.
    """
    recorded, origins = run.traffic.recorded, run.people.who.tolist()
    own = [search for search, sender, _ in recorded if origins[search] == sender]
    certain = sum(1 for *_, count in recorded if count == 1)
    return DishonestSummary(
        users=int(run.dishonest.sum()),
        recorded=len(recorded),
        sender_is_origin=round(len(own) / len(recorded), 6) if recorded else None,
        known_by_count=round(certain / len(recorded), 6) if recorded else None,
        queries_known=round(len(set(own)) / run.people.searches, 6),
    )


def _summarize_load(run: SimulationRun) -> LoadSummary:
    submissions = np.bincount(run.column("account"), minlength=run.people.users)
    return LoadSummary(_load(submissions), _load(np.array(run.traffic.relays)))


def _load(counts: Numbers) -> Load:
    mean, largest = float(counts.mean()), int(counts.max())
    return Load(round(mean, 6), largest, round(largest / mean, 6) if counts.any() else None)


def _summarize_graph(run: SimulationRun) -> GraphSummary:
    degrees = run.graph.degrees
    return GraphSummary(
        name=run.scenario.graph,
        links=run.graph.links,
        friends=FriendCounts(round(float(degrees.mean()), 6), int(degrees.max())),
        alone=int((degrees == 0).sum()),
        rejected=run.graph.rejected,
    )


def _summarize_spread(run: SimulationRun, users: pl.DataFrame) -> SpreadSummary:
    spread = submission_spread(run.column("origin"), run.column("account"))
    rows = users.select("user", "degree", "selfish").join(spread, on="user")
    return SpreadSummary(
        own_fraction=_average(rows, "own_fraction"),
        rank=_average(rows, "rank"),
        top_relay=_average(rows, "top_relay"),
        accounts=_average(rows, "accounts"),
        evenness=_average(rows, "evenness"),
        stands_out=_average(rows, "stands_out"),
    )
