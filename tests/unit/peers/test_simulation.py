"""A log played through the protocol: its figures by hand, and what must hold of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.peers.simulation.population import population_from_log
from queryveil.peers.simulation.results import MessageCounts, SimulationSummary
from queryveil.peers.simulation.run import run_simulation, submission_spread, user_metrics
from queryveil.peers.simulation.scenario import Scenario
from queryveil.peers.simulation.summary import summarize


def log_of(users: int, queries: int) -> QueryLog:
    sent = [(f"u{user:03}", f"{user} {turn} of {turn % 5}") for turn in range(queries)
            for user in range(users)]  # fmt: skip
    return QueryLog.from_rows([(user, query, None, None, None) for user, query in sent])


def figures(users: int = 120, queries: int = 20, **more: Any) -> SimulationSummary:
    people = population_from_log(log_of(users, queries))
    return summarize(run_simulation(people, Scenario(**more), RandomSource(4)))


def test_the_population_of_a_log() -> None:
    rows = [
        ("b", "late", "2006-03-02 10:00:00", None, None),
        ("b", "early", "2006-03-01 10:00:00", None, None),
        ("a", "between", "2006-03-01 12:00:00", 1, "http://x.example"),
        ("a", "between", "2006-03-01 12:00:00", 2, "http://y.example"),
        ("a", "never", None, None, None),
    ]
    people = population_from_log(QueryLog.from_rows(rows))
    sent = [(people.names[int(who)], people.texts[int(what)])
            for who, what in zip(people.who, people.what, strict=True)]  # fmt: skip
    assert sent == [("b", "early"), ("a", "between"), ("b", "late"), ("a", "never")]
    first = population_from_log(QueryLog.from_rows(rows), queries=1)
    assert (first.users, first.searches) == (2, 2)
    with pytest.raises(InputError):
        population_from_log(QueryLog.from_rows([]))


def test_two_friends_by_hand() -> None:
    """With one friend and no hop left she submits a third herself, and two thirds are his."""
    people = population_from_log(log_of(2, 600))
    outcome = run_simulation(people, Scenario(graph="barabasi-albert:m=1"), RandomSource(1))
    summary = summarize(outcome)
    assert summary.traffic.hops == pytest.approx(2 / 3, abs=0.05)
    assert summary.traffic.submissions == summary.queries == 1200
    assert sum(summary.traffic.hops_counted.values()) == 1200
    assert summary.graph.links == 1
    assert summary.service.queries.mean == pytest.approx(2 / 3, abs=0.05)


def test_who_relays_nothing_is_exposed_and_found() -> None:
    summary = figures(max_hops=0)
    assert summary.pel.mean == summary.pel.honest == 100
    assert summary.uncertainty.mean == summary.above_70 == summary.traffic.hops == 0
    assert summary.guess_rate == 1
    assert summary.service.words.mean == pytest.approx(0, abs=1e-9)
    assert summary.load.submissions.max_over_mean == 1
    assert summary.traffic.messages == MessageCounts(0, 0, 0, 0)
    assert summary.dishonest.sender_is_origin is None


def test_few_friends_expose_and_selfishness_does() -> None:
    summary = figures(selfish=0.2)
    levels = list(summary.pel.by_degree.values())
    assert levels[0] > 2 * levels[-1]
    assert summary.pel.selfish > 1.5 * summary.pel.honest
    assert summary.pel.honest + summary.uncertainty.honest == pytest.approx(100)
    assert summary.traffic.refusals == summary.traffic.messages.refused > 0
    assert sum(row.users for row in summary.degrees.values()) == 96


def test_what_dishonest_friends_learn() -> None:
    """The count of hops stands on a query: at the first they know whose it is, unless hidden."""
    summary = figures(dishonest=0.3).dishonest
    hidden = figures(dishonest=0.3, max_hops=10, random_hop_start=True).dishonest
    assert hidden.known_by_count < 0.1
    assert 0.5 < hidden.sender_is_origin < 0.7
    assert summary.users == 36
    assert summary.sender_is_origin >= summary.known_by_count > 0.5
    assert 0 < summary.queries_known < summary.recorded


def test_t1() -> None:
    people = population_from_log(log_of(120, 1))
    summary = summarize(run_simulation(people, Scenario(test="t1", queries=60), RandomSource(4)))
    spread = summary.t1
    assert summary.queries == 120 * 60
    assert spread.stands_out.mean <= 0.05
    assert spread.own_fraction.mean < spread.top_relay.mean
    assert spread.rank.mean > 1.5
    assert spread.evenness.mean > 0.7
    assert summary.guess_rate > 0.8  # but who knows the graph finds her


def test_spread_by_hand() -> None:
    origin = np.array([0] * 10 + [1] * 20)
    account = np.array([0] * 5 + [1] * 4 + [2] + [1] * 20)
    first, second = submission_spread(origin, account).to_dicts()
    assert (first["own_fraction"], first["rank"], first["top_relay"]) == (0.5, 1, 0.4)
    assert not first["stands_out"]  # five against four is noise
    assert (second["own_fraction"], second["evenness"], second["accounts"]) == (1, 0, 1)
    assert second["stands_out"]


def test_churn_and_loss_are_counted() -> None:
    summary = figures(churn=0.2, message_loss=0.05)
    assert summary.traffic.messages.silent > 0
    assert 0 < summary.traffic.duplicates <= summary.traffic.failures
    calm = figures()
    assert (calm.traffic.messages.silent, calm.traffic.duplicates, calm.traffic.failures) == (
        0,
        0,
        0,
    )


def test_the_same_seed_gives_the_same() -> None:
    assert figures(selfish=0.1, churn=0.1) == figures(selfish=0.1, churn=0.1)


def test_a_user_alone(tmp_path: Path) -> None:
    """Who has no friend submits all herself."""
    path = tmp_path / "links"
    path.write_text("u000 u001\n")
    people = population_from_log(log_of(3, 30))
    users = user_metrics(run_simulation(people, Scenario(graph=str(path)), RandomSource(1)))
    assert users["friends"].to_list() == [1, 1, 0]
    assert users["pel"][2] == pytest.approx(100)
    assert users["queries"][2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "given", [{"selfish": 1.5}, {"message_loss": 0.95}, {"selfish": 0.6, "dishonest": 0.6},
              {"queries": 0}, {"test": "t3"}, {"submit_probability": 0},
              {"graph": "barabasi-albert:x=1"}],
)  # fmt: skip
def test_scenarios_that_do_not_go(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Scenario(**given)


def test_changed_scenarios() -> None:
    changed = Scenario(graph="watts-strogatz:k=4").with_value(
        {"p": "0.3", "max_hops": "2", "churn": 0.1}
    )
    assert changed.graph == "watts-strogatz:k=4:p=0.3"
    assert Scenario().with_value({"random_hop_start": "true"}).random_hop_start
    assert (changed.value("max_hops"), changed.value("p"), changed.value("churn")) == (2, 0.3, 0.1)
    with pytest.raises(UsageError, match='no "m"'):
        Scenario(graph="interests").with_value({"m": "2"})
    with pytest.raises(ParameterError):
        Scenario().with_value({"max_hops": "some"})
