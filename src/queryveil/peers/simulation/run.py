"""Run a simulation, and compute per user what the engine learns and what service is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.progress import NoProgress, Progress
from ...core.randomness import RandomSource
from ...measures.profile_exposure import exposure_levels
from .graphs import SocialGraph, build_social_graph
from .network import Network, Traffic, uniform_stream
from .population import Numbers, Population, repeated_queries
from .scenario import Scenario

Mask = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class SimulationRun:
    """A simulated scenario and all its events.

    `submitted` has one row per submission: text, origin (the user who searched), account, hops.
    """

    scenario: Scenario
    people: Population
    graph: SocialGraph
    selfish: Mask
    dishonest: Mask
    traffic: Traffic
    submitted: pl.DataFrame

    def column(self, name: str) -> Numbers:
        """Return a column of the submissions."""
        return self.submitted[name].to_numpy()


def run_simulation(
    people: Population, scenario: Scenario, rng: RandomSource, progress: Progress | None = None
) -> SimulationRun:
    """Simulate that all users of a population send their queries through a network of peers."""
    shown = progress or NoProgress()
    sent = people if scenario.test == "t2" else repeated_queries(people.names, scenario.times)
    with shown.stage("draw the graph"):
        graph = build_social_graph(scenario.graph, people, rng)
    selfish, dishonest = _roles(people.users, scenario, rng)
    network = Network(
        graph.friends,
        scenario.settings,
        uniform_stream(rng),
        selfish=np.flatnonzero(selfish).tolist(),
        dishonest=np.flatnonzero(dishonest).tolist(),
        churn=scenario.churn,
        message_loss=scenario.message_loss,
        initial_hops=scenario.initial_hops,
    )
    with shown.stage("relay queries", sent.searches) as advance:
        traffic = network.run(sent.who.tolist(), advance)
    return SimulationRun(
        scenario, sent, graph, selfish, dishonest, traffic, _tabulate_submissions(sent, traffic)
    )


def _roles(users: int, scenario: Scenario, rng: RandomSource) -> tuple[Mask, Mask]:
    """Sample the selfish and the dishonest users, as two masks; nobody is both."""
    order = rng.permutation(users)
    selfish, dishonest = round(users * scenario.selfish), round(users * scenario.dishonest)
    masks = np.zeros((2, users), dtype=np.bool_)
    masks[0, order[:selfish]] = True
    masks[1, order[selfish : selfish + dishonest]] = True
    return masks[0], masks[1]


def _tabulate_submissions(sent: Population, traffic: Traffic) -> pl.DataFrame:
    search = np.array(traffic.search, dtype=np.int64)
    return pl.DataFrame(
        {
            "text": sent.what[search],
            "origin": sent.who[search],
            "account": np.array(traffic.account, dtype=np.int64),
            "hops": np.array(traffic.hops, dtype=np.int64),
        }
    )


def user_metrics(outcome: SimulationRun) -> pl.DataFrame:
    """Return one row per user: user, friends, selfish, pel, uncertainty, and two divergences.

    `queries` and `words` are the Jensen-Shannon divergence (base 2) between what the user searched
    for and what the engine sees under their account: 0 for equal distributions, 1 for disjoint
    ones. The engine personalizes by what it sees, so they measure the loss of service.
    """
    sent = pl.DataFrame({"user": outcome.people.who, "text": outcome.people.what})
    seen = outcome.submitted.select(user="account", text="text")
    true, observed = (_count_texts(frame) for frame in (sent, seen))
    users = pl.DataFrame(
        {
            "user": range(outcome.people.users),
            "friends": outcome.graph.degrees,
            "selfish": outcome.selfish,
        }
    )
    pel = exposure_levels(true, observed).select(
        "user", pel="coupling", uncertainty=100 - pl.col("coupling")
    )
    words = [_count_words(frame, outcome.people.texts) for frame in (true, observed)]
    by_query = _compute_divergence(true, observed, "queries")
    by_word = _compute_divergence(words[0], words[1], "words")
    for frame in (pel, by_query, by_word):
        users = users.join(frame, on="user", how="left")
    return users.sort("user")


def _count_texts(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("user", "text").len("count")


def _count_words(counts: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """Return the counts of words instead of texts, in the same columns."""
    parts = pl.DataFrame({"text": range(len(texts)), "word": texts.str.split(" ")})
    parts = parts.explode("word", empty_as_null=False, keep_nulls=False).cast({"text": pl.Int64})
    both = counts.join(parts, on="text").group_by("user", "word").agg(pl.col("count").sum())
    return both.select("user", "count", text="word")


def _compute_divergence(true: pl.DataFrame, observed: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return each user's Jensen-Shannon divergence; it is 1 for users without submissions."""
    both = _compute_fractions(true, "p").join(
        _compute_fractions(observed, "q"), on=["user", "text"], how="full", coalesce=True
    )
    both = both.with_columns(pl.col("p", "q").fill_null(0.0))
    mixture = (pl.col("p") + pl.col("q")) / 2
    parts = [
        pl.when(fraction > 0).then(fraction * (fraction / mixture).log(2)).otherwise(0.0)
        for fraction in (pl.col("p"), pl.col("q"))
    ]
    sums = both.group_by("user").agg(
        value=(parts[0] + parts[1]).sum() / 2, searched=pl.col("p").sum(), seen=pl.col("q").sum()
    )
    value = pl.when(pl.col("seen") > 0).then(pl.col("value").clip(0.0, 1.0)).otherwise(1.0)
    return sums.filter(pl.col("searched") > 0).select("user", value.alias(name))


def _compute_fractions(counts: pl.DataFrame, name: str) -> pl.DataFrame:
    fraction = pl.col("count") / pl.col("count").sum().over("user")
    return counts.select("user", "text", fraction.alias(name))


def submission_spread(origin: Numbers, account: Numbers) -> pl.DataFrame:
    """Return one row per user: user, own_fraction, rank, top_relay, accounts, evenness, stands_out.

    `stands_out`: the user submits their text significantly more often than their busiest relay, by
    more than twice the standard deviation of the difference of two such counts.

    >>> import numpy as np
    >>> spread = submission_spread(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 2]))
    >>> spread.select("own_fraction", "rank").row(0)
    (0.25, 2.5)
    """
    counts = pl.DataFrame({"user": origin, "account": account}).group_by("user", "account").len("n")
    n, mine = pl.col("n"), pl.col("account") == pl.col("user")
    sums = counts.group_by("user").agg(
        sent=n.sum(),
        own=n.filter(mine).sum(),
        top=n.filter(~mine).max().fill_null(0),
        above=(n.filter(~mine) > n.filter(mine).sum()).sum(),
        equal=(n.filter(~mine) == n.filter(mine).sum()).sum(),
        accounts=pl.len(),
        entropy=-((n / n.sum()) * (n / n.sum()).log()).sum(),
    )
    own, top = pl.col("own"), pl.col("top")
    even = pl.when(pl.col("accounts") > 1).then(pl.col("entropy") / pl.col("accounts").log())
    return sums.select(
        "user",
        own_fraction=own / pl.col("sent"),
        rank=1 + pl.col("above") + pl.col("equal") / 2,
        top_relay=top / pl.col("sent"),
        accounts="accounts",
        evenness=even.otherwise(0.0),
        stands_out=own.cast(pl.Float64) - top > 2 * (own + top).cast(pl.Float64).sqrt(),
    ).sort("user")
