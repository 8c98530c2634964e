"""The P2P paper: friends in a social network submit each other's queries.

SPEC 5.1 has what is known of it. Its protocol and its numbers are lost, so its claims are checked
on the protocol of SPEC 5.2, and there is no figure of a method to compare.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import polars as pl

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..log.query_log import QueryLog
from ..replication.claims import (
    Claim,
    Curve,
    Evidence,
    MissingResultError,
    Paper,
    Verdict,
    format_series,
)
from .simulation.population import population_from_log
from .simulation.results import SimulationSummary, SpreadSummary
from .simulation.run import SimulationRun, run_simulation, user_metrics
from .simulation.scenario import Scenario
from .simulation.summary import summarize

_SELFISH = (0.0, 0.1, 0.3)
_MIN_USERS = 20  # in a smaller network the claims are not checked
_LOST = "(its numbers are lost)"


@dataclass(frozen=True, repr=False)
class _Simulations:
    """Both tests of the paper; the second also with selfish users, by their fraction.

    The last two are the numbers of queries of users with ten friends or more: of those with an
    uncertainty of up to 80%, and of the others.
    """

    t1: SimulationSummary
    t2: Mapping[float, SimulationSummary]
    queries_of_exposed: list[int]
    queries_of_others: list[int]


def _simulate(log: QueryLog, taxonomy: str, progress: Progress) -> _Simulations | None:  # noqa: ARG001
    """Run both tests of the paper; return None for a network that is too small."""
    people = population_from_log(log)
    if people.users < _MIN_USERS:
        return None
    with progress.stage("simulate peers", len(_SELFISH) + 1) as advance:
        t1 = summarize(run_simulation(people, Scenario(test="t1"), RandomSource(0)))
        advance(1)
        runs = {}
        for fraction in _SELFISH:
            runs[fraction] = run_simulation(people, Scenario(selfish=fraction), RandomSource(0))
            advance(1)
    t2 = {fraction: summarize(run) for fraction, run in runs.items()}
    return _Simulations(t1, t2, *_count_queries(runs[0.0]))


def _count_queries(run: SimulationRun) -> tuple[list[int], list[int]]:
    """Return the queries of users with ten friends or more: of exposed ones, and of the others."""
    sent = pl.DataFrame({"user": run.people.who}).group_by("user").len("queries_sent")
    users = user_metrics(run).join(sent, on="user").filter(pl.col("friends") >= 10)
    exposed = pl.col("uncertainty") <= 80
    exposed_users, others = users.filter(exposed), users.filter(~exposed)
    return exposed_users["queries_sent"].to_list(), others["queries_sent"].to_list()


def _simulations(evidence: Evidence) -> _Simulations:
    return evidence.facts_of(_Simulations)


def _known(value: float | None) -> float:
    """Return a mean over users; without such users the claim is undecided."""
    if value is None:
        raise MissingResultError("there are no such users in this network")
    return value


def _few_friends(evidence: Evidence) -> Verdict:
    by_degree = _simulations(evidence).t2[0.0].pel.by_degree
    levels = {degree: _known(level) for degree, level in by_degree.items()}
    falls = all(level >= after for level, after in itertools.pairwise(levels.values()))
    return Verdict(f"PEL by friends: {format_series(levels)}", falls and len(levels) > 1)


def _many_friends(evidence: Evidence) -> Verdict:
    simulations = _simulations(evidence)
    exposed, others = simulations.queries_of_exposed, simulations.queries_of_others
    if not exposed + others:
        raise MissingResultError("no user has ten friends in so small a network")
    if not exposed:
        ours = f"none of {len(others)} users of 10 friends or more has an uncertainty up to 80%"
        return Verdict(ours, False, "users of many friends submit many queries of others here")
    ours = f"{len(exposed)} of {len(exposed + others)}, with {median(exposed):g} queries"
    beside = f"; the others have {median(others):g}" if others else ""
    return Verdict(ours + beside, not others or median(exposed) < median(others))


def _spread(evidence: Evidence) -> Verdict:
    evenness = _t1(evidence).evenness
    by_degree = {degree: _known(value) for degree, value in evenness.by_degree.items()}
    honest = _known(evenness.honest)
    ours = f"evenness {honest:.2f} (1: the same for all); by friends: "
    return Verdict(ours + format_series(by_degree, ".2f"), honest >= 0.75)


def _t1(evidence: Evidence) -> SpreadSummary:
    spread = _simulations(evidence).t1.t1
    if spread is None:
        raise MissingResultError("the test T1 was not simulated")
    return spread


def _hidden(evidence: Evidence) -> Verdict:
    spread, rate = _t1(evidence), _simulations(evidence).t1.guess_rate
    stands_out = _known(spread.stands_out.honest)
    ours = (
        f"the user submits {_known(spread.own_fraction.honest):.0%}, their top relay "
        f"{_known(spread.top_relay.honest):.0%}; rank {_known(spread.rank.honest):.1f}; users who "
        f"stand out beyond noise: {stands_out:.1%}"
    )
    why = f"by counts; an engine that knows the social graph guesses the user in {rate:.0%}"
    return Verdict(ours, stands_out <= 0.05, why)


def _penalized(evidence: Evidence) -> Verdict:
    pels = {
        fraction: (_known(summary.pel.selfish), _known(summary.pel.honest))
        for fraction, summary in _simulations(evidence).t2.items()
        if fraction
    }
    levels = [f"{at:.0%}: {selfish:.1f} to {honest:.1f}" for at, (selfish, honest) in pels.items()]
    holds = all(selfish > honest for selfish, honest in pels.values())
    return Verdict(f"PEL of selfish to honest users, at {', '.join(levels)} selfish", holds)


def _above(evidence: Evidence) -> Curve:
    summaries = _simulations(evidence).t2
    return Curve({at: 100 * _known(summary.above_70) for at, summary in summaries.items()})


def _uncertain(evidence: Evidence) -> Verdict:
    eighty = 100 * _known(_simulations(evidence).t2[0.0].above_80)
    above = _above(evidence)[0.0]
    return Verdict(f"{above:.0f}% above 70%, {eighty:.0f}% above 80%", above > 50)


def _protected(evidence: Evidence) -> Verdict:
    above = {f"{fraction:.0%}": value for fraction, value in _above(evidence).items()}
    return Verdict(f"above 70%, by selfish users: {format_series(above, '.0f')}",
                   min(above.values()) > 50)  # fmt: skip


PAPER = Paper(
    name="p2p",
    title="The P2P paper (client side)",
    users=1000,
    figures=(),
    claims=(
        Claim("users with few friends are most exposed", f"so {_LOST}", _few_friends),
        Claim(
            "a few users with many friends are exposed too, as they have few queries",
            f"so {_LOST}",
            _many_friends,
        ),
        Claim("T1: a query sent many times is spread equitably", f"so {_LOST}", _spread),
        Claim("T1: its user stays hidden among those who submit it", f"so {_LOST}", _hidden),
        Claim("selfish users are penalized: more exposed", f"so {_LOST}", _penalized),
        Claim("many users have an uncertainty above 70%", f"a table {_LOST}", _uncertain),
        Claim("honest users stay protected among selfish ones", f"so {_LOST}", _protected),
    ),
    deviations=(
        "the paper's protocol is lost; ours is that of docs/explanation/peers.md, consistent with "
        "its text",
        "the joint distribution of PEL is not in the paper; ours is the maximal coupling",
        "the paper does not describe its social graph; ours is Barabási and Albert's, two friends "
        "or more",
        "the paper has users of AOL's log; ours are synthetic unless a log is given",
    ),
    facts=_simulate,
)
