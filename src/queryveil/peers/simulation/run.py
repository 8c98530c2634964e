"""What the engine sees of each user: how much it tells of her, and how much service it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def user_metrics(outcome: SimulationRun) -> pl.DataFrame:
    """Give a row a user: user, friends, selfish, pel, uncertainty, and two divergences.

    `queries` and `words` are the Jensen-Shannon divergence (base 2) of what she searched for and
    what the engine sees under her account: 0 the same, 1 nothing in common. The engine serves her
    by what it sees, so they say how much of her service is lost.
    """
    sent = pl.DataFrame({"user": outcome.people.who, "text": outcome.people.what})
    seen = outcome.submitted.select(user="account", text="text")
    true, told = (_counted(frame) for frame in (sent, seen))
    users = pl.DataFrame(
        {
            "user": range(outcome.people.users),
            "friends": outcome.graph.degrees,
            "selfish": outcome.selfish,
        }
    )
    pel = exposure_levels(true, told).select(
        "user", pel="coupling", uncertainty=100 - pl.col("coupling")
    )
    words = [_words(frame, outcome.people.texts) for frame in (true, told)]
    found = users.join(pel, on="user", how="left")
    found = found.join(_divergence(true, told, "queries"), on="user", how="left")
    return found.join(_divergence(words[0], words[1], "words"), on="user", how="left").sort("user")


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("user", "text").len("count")


def _words(counts: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """Count words in place of texts."""
    parts = pl.DataFrame({"text": range(len(texts)), "word": texts.str.split(" ")})
    parts = parts.explode("word", empty_as_null=False, keep_nulls=False).cast({"text": pl.Int64})
    both = counts.join(parts, on="text").group_by("user", "word").agg(pl.col("count").sum())
    return both.select("user", "count", text="word")


def _divergence(true: pl.DataFrame, told: pl.DataFrame, name: str) -> pl.DataFrame:
    """Give each user's divergence; where nothing is seen of her it is 1."""
    both = _shares(true, "p").join(
        _shares(told, "q"), on=["user", "text"], how="full", coalesce=True
    )
    both = both.with_columns(pl.col("p", "q").fill_null(0.0))
    middle = (pl.col("p") + pl.col("q")) / 2
    parts = [
        pl.when(share > 0).then(share * (share / middle).log(2)).otherwise(0.0)
        for share in (pl.col("p"), pl.col("q"))
    ]
    sums = both.group_by("user").agg(
        value=(parts[0] + parts[1]).sum() / 2, searched=pl.col("p").sum(), seen=pl.col("q").sum()
    )
    value = pl.when(pl.col("seen") > 0).then(pl.col("value").clip(0.0, 1.0)).otherwise(1.0)
    return sums.filter(pl.col("searched") > 0).select("user", value.alias(name))


def _shares(counts: pl.DataFrame, name: str) -> pl.DataFrame:
    share = pl.col("count") / pl.col("count").sum().over("user")
    return counts.select("user", "text", share.alias(name))


def submission_spread(origin: Numbers, account: Numbers) -> pl.DataFrame:
    """Give of each user: user, share, rank, top_relay, accounts, evenness, shown.

    `shown` tells that she submits her text more often than her most frequent relay, beyond noise:
    by more than twice the standard deviation of the difference of two such counts.

    >>> import numpy as np
    >>> submission_spread(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 2])).select("share", "rank").row(0)
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
        share=own / pl.col("sent"),
        rank=1 + pl.col("above") + pl.col("equal") / 2,
        top_relay=top / pl.col("sent"),
        accounts="accounts",
        evenness=even.otherwise(0.0),
        shown=own.cast(pl.Float64) - top > 2 * (own + top).cast(pl.Float64).sqrt(),
    ).sort("user")
