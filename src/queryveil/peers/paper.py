"""The P2P paper: friends in a social network submit each other's queries.

SPEC 5.1 has what is certain of it. Its protocol and its numbers are lost, so its statements are
checked on the protocol of SPEC 5.2, and there is no figure of a method to draw.
"""

from __future__ import annotations

import itertools
from statistics import median
from typing import Any

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
from .simulation.run import SimulationRun, run_simulation, user_metrics
from .simulation.scenario import Scenario
from .simulation.summary import summarize

_SELFISH = (0.0, 0.1, 0.3)
_LEAST = 20  # users; of fewer a network tells nothing
_LOST = "(its numbers are lost)"


def _simulated(log: QueryLog, taxonomy: str, progress: Progress) -> dict[str, Any]:  # noqa: ARG001
    """Play both tests of the paper; the second with some selfish users, too."""
    people = population_from_log(log)
    if people.users < _LEAST:
        return {}
    facts: dict[str, Any] = {"t2": {}}
    with progress.stage("simulate peers", len(_SELFISH) + 1) as advance:
        facts["t1"] = summarize(run_simulation(people, Scenario(test="t1"), RandomSource(0)))
        advance(1)
        for selfish in _SELFISH:
            outcome = run_simulation(people, Scenario(selfish=selfish), RandomSource(0))
            facts["t2"][selfish] = summarize(outcome)
            if not selfish:
                facts["well connected"] = _well_connected(outcome)
            advance(1)
    return facts


def _well_connected(outcome: SimulationRun) -> dict[str, list[int]]:
    """Return how many queries users of ten friends or more have: exposed ones, and the others."""
    sent = pl.DataFrame({"user": outcome.people.who}).group_by("user").len("queries")
    users = user_metrics(outcome).join(sent, on="user").filter(pl.col("friends") >= 10)
    exposed = pl.col("uncertainty") <= 80
    return {
        "exposed": users.filter(exposed)["queries"].to_list(),
        "others": users.filter(~exposed)["queries"].to_list(),
    }


def _few_friends(found: Evidence) -> Verdict:
    levels: dict[str, float] = found.fact("t2")[0.0]["pel"]["by_degree"]
    falls = all(one >= other for one, other in itertools.pairwise(levels.values()))
    return Verdict(f"PEL by friends: {format_series(levels)}", falls and len(levels) > 1)


def _many_friends(found: Evidence) -> Verdict:
    exposed, others = (found.fact("well connected")[name] for name in ("exposed", "others"))
    if not exposed + others:
        raise MissingResultError("nobody has ten friends in so small a network")
    if not exposed:
        ours = f"none of {len(others)} users of 10 friends or more has an uncertainty up to 80%"
        return Verdict(ours, False, "users of many friends submit many queries of others here")
    ours = f"{len(exposed)} of {len(exposed + others)}, with {median(exposed):g} queries"
    beside = f"; the others have {median(others):g}" if others else ""
    return Verdict(ours + beside, not others or median(exposed) < median(others))


def _spread(found: Evidence) -> Verdict:
    even = found.fact("t1")["t1"]["evenness"]
    ours = f"evenness {even['honest']:.2f} (1: the same for all); by friends: "
    return Verdict(ours + format_series(even["by_degree"], ".2f"), even["honest"] >= 0.75)


def _hidden(found: Evidence) -> Verdict:
    told = found.fact("t1")
    one, known = told["t1"], told["guess_rate"]
    ours = (
        f"she submits {one['share']['honest']:.0%}, her top relay {one['top_relay']['honest']:.0%};"
        f" rank {one['rank']['honest']:.1f}; shown beyond noise: {one['shown']['honest']:.1%}"
    )
    why = f"by counts; an engine that knows who is whose friend finds her in {known:.0%}"
    return Verdict(ours, one["shown"]["honest"] <= 0.05, why)


def _penalised(found: Evidence) -> Verdict:
    pels = {share: told["pel"] for share, told in found.fact("t2").items() if share}
    shown = [f"{s:.0%}: {one['selfish']:.1f} to {one['honest']:.1f}" for s, one in pels.items()]
    holds = all(one["selfish"] > one["honest"] for one in pels.values())
    return Verdict(f"PEL of selfish to honest users, at {', '.join(shown)} selfish", holds)


def _above(found: Evidence) -> Curve:
    return Curve({share: 100 * told["above_70"] for share, told in found.fact("t2").items()})


def _uncertain(found: Evidence) -> Verdict:
    eighty = 100 * found.fact("t2")[0.0]["above_80"]
    above = _above(found)[0.0]
    return Verdict(f"{above:.0f}% above 70%, {eighty:.0f}% above 80%", above > 50)


def _kept(found: Evidence) -> Verdict:
    above = {f"{share:.0%}": value for share, value in _above(found).items()}
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
        Claim("T1: its user stays hidden among who submits it", f"so {_LOST}", _hidden),
        Claim("selfish users are penalised: more exposed", f"so {_LOST}", _penalised),
        Claim("many users have an uncertainty above 70%", f"a table {_LOST}", _uncertain),
        Claim("honest users stay protected among selfish ones", f"so {_LOST}", _kept),
    ),
    deviations=(
        "the paper's protocol is lost; ours is that of docs/peers.md, consistent with its text",
        "the joint law of PEL is not in the paper; ours is the maximal coupling",
        "the paper's social graph is not told; ours is Barabási and Albert's, two friends or more",
        "the paper has users of AOL's log; ours are synthetic unless a log is given",
    ),
    facts=_simulated,
)
