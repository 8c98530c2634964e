"""Telling who was in the log: an honest advantage over guessing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_logs import Logs, log_of, release_of

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures._shared.queries import count_user_queries
from queryveil.measures._shared.statistics import auc, best_threshold, rates_at_threshold
from queryveil.measures.context import MeasureContext
from queryveil.measures.membership_inference import (
    MembershipInference,
    attack_scores,
    gather_knowledge,
)
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.methods.runner import run_method
from queryveil.release.release import Release
from queryveil.testing import KitCheck, MeasureCase, measure_checks
from queryveil.workflows.measurement import measure

Again = Callable[[QueryLog, int], Release]


def many(users: int) -> Logs:
    """Give users of whom each has a query of her own, one of a few, and the same as all."""
    return {f"u{n}": [f"own {n}", f"few {n % 5}", "all", "all"] for n in range(users)}


def sent_in(log: QueryLog) -> Logs:
    rows = log.local_frame.select(pl.col("user", "query").cast(pl.String)).collect()
    found = rows.group_by("user", maintain_order=True).agg("query").sort("user")
    return dict(found.iter_rows())


def unchanged(log: QueryLog, turn: int) -> Release:
    return release_of(log, sent_in(log))


def without_own(log: QueryLog, turn: int) -> Release:
    kept = {user: [q for q in sent if "own" not in q] for user, sent in sent_in(log).items()}
    return release_of(log, kept)


def empty(log: QueryLog, turn: int) -> Release:
    return release_of(log, {})


def exact_table(log: QueryLog, turn: int) -> Release:
    counts = log.local_frame.group_by("query").agg(count=pl.len()).collect()
    table = counts.with_columns(pl.col("query").cast(pl.String)).sort("query")
    return release_of(log, {}, log=None, mapping=None, tables={"queries": table})


def found(again: Again, users: int = 60, **more: int) -> dict[str, object]:
    log = log_of(many(users))
    asked = MembershipInference(**more)
    return asked.compute_rerun(MeasureContext(log), again(log, 0), again)


@pytest.mark.parametrize("again", [unchanged, exact_table], ids=["log", "table"])
def test_what_shows_everything_gives_everybody_away(again: Again) -> None:
    told = found(again)
    assert (
        told.value,
        told.details["raw"],
        told.details["true_positive_rate"],
        told.details["false_positive_rate"],
    ) == (1, 1, 1, 0)
    assert told.details["auc"]["shown"] == told.details["auc"]["rarest"] == 1
    assert told.interval.low == pytest.approx(0.879656)  # of 60 persons
    assert told.summary.startswith("of 100 guesses whether a user was in the log 100 are right")


def test_an_empty_release_tells_nothing() -> None:
    told = found(empty)
    assert (told.value, told.details["raw"], told.baselines["chance"]) == (0, 0, 0)
    assert set(told.details["auc"].values()) == {0.5}
    assert told.interval.low < 0 < told.interval.high
    assert "50 are right; random guessing has 50 right" in told.summary


def test_without_what_is_hers_alone_a_person_is_not_found() -> None:
    told = found(without_own, users=200)
    assert told.interval.low < 0 < told.interval.high
    assert told.details["raw"] == told.value or told.value == 0


def test_it_is_always_the_same_and_tries_no_more_than_asked() -> None:
    assert found(unchanged, runs=4) == found(unchanged, runs=4)
    assert found(unchanged, max_targets=20, runs=2).counts["users"] == 20


def test_each_half_has_half_of_the_users_and_of_the_persons() -> None:
    sizes, log = [], log_of(many(60))

    def again(half: QueryLog, turn: int) -> Release:
        sizes.append((turn, half.count_distinct("user")))
        return unchanged(half, turn)

    MembershipInference(runs=3, max_targets=30).compute_rerun(
        MeasureContext(log), unchanged(log, 0), again
    )
    assert sizes == [(0, 30), (1, 30), (2, 30)]


def test_scores_worked_out_by_hand() -> None:
    log = log_of({"1": ["a", "a", "b"], "2": ["a", "c"], "3": ["d"]})
    known = gather_knowledge(count_user_queries(log.local_frame), pl.Series([0, 1, 2]))
    told = attack_scores(known, release_of(log, {"x": ["a", "b", "z"], "y": ["a"]}))
    assert told["shown"].tolist() == [1.0, 0.5, 0.0]
    assert told["rarest"].tolist() == [1.0, 0.0, 0.0]
    assert told["closest"].tolist() == pytest.approx([2 / 3, 1 / 2, 0.0])
    assert told["fits"].tolist() == pytest.approx([2 / 3, 1.0, 0.0])
    # 3 released rows have texts of the log's 6: a is expected 1.5 times, the others half a time
    a, there, gone = np.log(3 / 2.5), np.log(2 / 1.5), np.log(1 / 1.5)
    assert told["counts"].tolist() == pytest.approx([a + there, a + gone, gone])


def test_tables_have_no_single_logs_to_compare() -> None:
    log = log_of({"1": ["a"], "2": ["b"]})
    known = gather_knowledge(count_user_queries(log.local_frame), pl.Series([0, 1]))
    assert sorted(attack_scores(known, exact_table(log, 0))) == ["counts", "rarest", "shown"]


tries = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30).filter(
    lambda drawn: 0 < sum(member for _, member in drawn) < len(drawn)
)


@given(tries)
def test_thresholds_and_areas_are_what_they_are_called(drawn: list[tuple[int, bool]]) -> None:
    values = np.array([float(score) for score, _ in drawn])
    members = np.array([member for _, member in drawn])
    gains = [np.subtract(*rates_at_threshold(values, members, float(t))) for t in range(7)]
    threshold, gain = best_threshold(values, members)
    assert gain == pytest.approx(max(0.0, *gains))
    assert np.subtract(*rates_at_threshold(values, members, threshold)) == pytest.approx(gain)
    wins = [(a > b) + (a == b) / 2 for a in values[members] for b in values[~members]]
    assert auc(values, members) == pytest.approx(np.mean(wins))


def test_few_users_and_releases_alone_are_refused() -> None:
    with pytest.raises(InputError, match="has 19 users"):
        found(unchanged, users=19)
    log = log_of(many(20))
    with pytest.raises(UsageError, match="runs the method again"):
        MembershipInference().compute(MeasureContext(log), unchanged(log, 0))


def test_what_a_method_refuses_is_told() -> None:
    def again(log: QueryLog, turn: int) -> Release:
        raise ParameterError("`k` is 30, but the log has 20 users")

    log = log_of(many(40))
    with pytest.raises(ParameterError, match="has 20 users"):
        MembershipInference().compute_rerun(MeasureContext(log), unchanged(log, 0), again)


def test_a_method_is_run_by_the_job() -> None:
    log = log_of(many(40))
    release = run_method(FrequentQueries(min_users=5), log, RandomSource(1), NoProgress())
    told = measure(log, release, ["membership-inference:runs=4"])["membership-inference:runs=4"]
    assert -1 <= told.interval.low <= told.details["raw"] <= told.interval.high <= 1
    assert told.value == max(0, told.details["raw"])


OWN_QUERIES = {f"u{n}": [f"q{n}", "common"] for n in range(40)}
CASES = [
    # Everybody has a query of their own: its absence shows that they were left out.
    MeasureCase("the same log", OWN_QUERIES, OWN_QUERIES, 1.0),
    MeasureCase("nothing", OWN_QUERIES, {}, 0.0),
]


@pytest.mark.parametrize("check", measure_checks(MembershipInference(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
