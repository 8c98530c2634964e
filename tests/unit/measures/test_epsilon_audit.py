"""An audit catches mechanisms that break their promise, and no honest one."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_logs import original_of, write_ruler

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures._shared.statistics import (
    GuessRule,
    clopper_pearson_lower,
    epsilon_lower_bound,
    fit_rule,
)
from queryveil.measures.context import MeasureContext
from queryveil.measures.epsilon_audit import EpsilonAudit, choose_trial
from queryveil.methods.click_graph import ClickGraph
from queryveil.methods.runner import run_method
from queryveil.release.guarantee import Guarantee
from queryveil.release.release import Release
from queryveil.testing import KitCheck, MeasureCase, measure_checks
from queryveil.workflows.measurement import make_rerun

QUERIES = ["tennis", "swimming", "music", "theatre", "asthma"]
ADD = "two logs of which one has the whole log of one more user"
SWAP = "two logs of the same users that differ in the whole log of one user"

MOST = log(0.05 ** (1 / 400) / (1 - 0.05 ** (1 / 400)))  # of 400 guesses, all right

Count = Callable[[pl.LazyFrame], pl.DataFrame]
Again = Callable[[QueryLog, int], Release]


def rows_of(users: int) -> QueryLog:

    rows = [(f"u{n}", QUERIES[n % 5], f"2006-03-0{1 + n % 9} 10:00:00") for n in range(users)]
    return QueryLog.from_rows([(*row, None, None) for row in rows])


def promise(epsilon: float | None = 1.0, neighbours: str | None = ADD, **more: object) -> Guarantee:
    model = "none" if epsilon is None else "pure-dp"
    return Guarantee(model=model, statement="", epsilon=epsilon, neighbours=neighbours, **more)


def release_of(source: QueryLog, given: Guarantee, **more: object) -> Release:
    found = {"parameters": {"max_queries_per_user": 1}} | more
    return Release(method="test", guarantee=given, source=source, **found)


def audit(
    again: Again, given: Guarantee, audit: EpsilonAudit | None = None, **more: object
) -> dict[str, object]:
    log = rows_of(30)
    after = release_of(log, given, **more)
    return (audit or EpsilonAudit()).compute_rerun(MeasureContext(log), after, again)


def users_of(rows: pl.LazyFrame) -> pl.DataFrame:
    """Count the users of each query, of whose first queries alone."""
    first = rows.sort("time").group_by("user").agg(pl.col("query").first())
    return first.group_by("query").agg(count=pl.len()).collect()


def lines_of(rows: pl.LazyFrame) -> pl.DataFrame:
    return rows.group_by("query").agg(count=pl.len()).collect()


def laplace(scale: float, count: Count = users_of, least: float = 20.0) -> Again:
    """Make a mechanism that puts noise on counts, and shows those above a number.

    A key of one user alone shows with a chance of e^-19, which is no delta to speak of.
    """

    def again(log: QueryLog, turn: int) -> Release:
        table = count(log.local_frame).with_columns(pl.col("query").cast(pl.String)).sort("query")
        noise = np.random.default_rng(turn).laplace(scale=scale, size=table.height)
        noisy = table.select("query", count=pl.col("count") + pl.Series(noise))
        shown = noisy.filter(pl.col("count") >= least)
        return release_of(log, promise(), tables={"queries": shown})

    return again


@pytest.mark.parametrize("scale", [1 / 3, 1e-9], ids=["noise too small by 3", "no noise"])
def test_too_little_noise_is_caught(scale: float) -> None:
    found = audit(laplace(scale), promise(1.0))
    assert found.value > found.details["claimed"] == 1.0
    assert found.details["holds"] is False
    assert "broken" in found.summary


def test_no_noise_at_all_proves_the_most_that_can_be() -> None:
    found = audit(laplace(1e-9), promise(None, None))
    assert found.value == found.details["max_bound"] == pytest.approx(MOST, abs=1e-6)
    assert (found.details["holds"], found.details["claimed"], found.counts["right"]) == (
        None,
        None,
        400,
    )
    assert "could not be proven" in found.summary


def test_an_honest_mechanism_is_not_caught() -> None:
    found = audit(laplace(1.0), promise(1.0))
    assert 0 < found.value <= 1.0
    assert found.details["holds"] is True
    assert "does not disprove" in found.summary


def test_who_is_not_bounded_is_caught_by_sending_again_and_again() -> None:
    found = audit(laplace(1.0, lines_of), promise(1.0))
    assert (found.details["holds"], found.details["design"]) == (False, "again and again")


def test_what_shows_without_a_threshold_is_caught_by_being_alone() -> None:
    found = audit(laplace(1.0, least=-1e9), promise(1.0))
    assert (found.details["holds"], found.details["design"]) == (False, "alone")
    assert found.value == found.details["max_bound"]


def test_nothing_proves_nothing() -> None:
    found = audit(laplace(1.0, least=1e9), promise(1.0))
    assert (found.value, found.details["holds"]) == (0.0, True)
    assert "proves nothing" in found.summary


@pytest.mark.parametrize("runs", [2, 3, 4])
def test_a_few_trials_prove_nothing_and_break_nothing(runs: int) -> None:
    found = audit(laplace(1e-9), promise(1.0), EpsilonAudit(runs=runs, targets=1))
    assert (found.value, found.counts["trials"]) == (0.0, runs - runs // 2)
    assert "proves nothing" in found.summary


def test_a_large_delta_leaves_nothing_to_prove() -> None:
    found = audit(laplace(1e-9), promise(1.0, delta=0.01))
    assert (found.value, found.details["max_bound"]) == (0.0, 0.0)


def test_a_real_method_is_not_caught() -> None:
    method, log = ClickGraph(epsilon=1), rows_of(60)
    after = run_method(method, log, RandomSource(1), NoProgress())
    found = EpsilonAudit(runs=40).compute_rerun(MeasureContext(log), after, make_rerun(method, 1))
    assert found.details["holds"] is True
    assert found.counts["crowd"] in (64, 512)


def told_as(chance: float) -> Again:
    """Make a mechanism that tells a user's query with that chance, and else any of five."""

    def again(log: QueryLog, turn: int) -> Release:
        draw = np.random.default_rng(turn)
        rows = log.local_frame.group_by("user").agg(pl.col("query").first()).sort("user").collect()
        own = pl.Series(draw.random(rows.height) < chance)
        other = pl.Series(draw.choice(QUERIES, rows.height))
        query = pl.when(own).then(pl.col("query").cast(pl.String)).otherwise(other)
        return release_of(log, promise(), log=rows.select("user", query=query).lazy())

    return again


def test_persons_who_change_their_texts_are_told_apart_or_not() -> None:
    given = promise(1.0, SWAP)
    asked = EpsilonAudit(runs=200, targets=1)
    caught = audit(told_as(0.9), given, asked)
    assert caught.details["holds"] is False
    assert caught.details["design"] == "one text or another"
    honest = audit(told_as((exp(1) - 1) / (exp(1) + 4)), given, asked)  # randomised response
    assert honest.details["holds"] is True


LENGTHS = "how many phrases with a concept each user has in each log, up to the cap"


def names_of_topics(keep: bool) -> Again:
    """Make a mechanism that tells another concept of a query's topic; sports may fill two rows."""
    other = {"Tennis": "Swimming", "Swimming": "Tennis", "Music": "Theatre", "Theatre": "Music"}
    number = {"Tennis": 4, "Swimming": 5, "Music": 6, "Theatre": 7, "Asthma": 8}

    def again(log: QueryLog, turn: int) -> Release:
        draw = np.random.default_rng(turn)
        sent = log.local_frame.select(pl.col("user", "query").cast(pl.String)).collect()
        text = sent["query"].str.to_titlecase()
        told = pl.Series(draw.random(len(text)) < 0.5)
        rows = sent.select("user", query=pl.when(told).then(text).otherwise(text.replace(other)))
        rows = rows.filter(pl.lit(text != "Asthma")) if keep else rows
        concept = rows["query"].replace_strict(number, return_dtype=pl.Int32).alias("concept")
        names = rows.select(user="user", pseudonym="user").unique()
        concepts = rows.select("user", concept)
        return release_of(log, promise(), log=rows.lazy(), concepts=concepts, mapping=names)

    return again


def audit_topics(given: Guarantee, keep: bool, tmp_path: Path) -> dict[str, object]:
    ruler, log = write_ruler(tmp_path), rows_of(30)
    values = {"max_queries_per_user": 3, "taxonomy": ruler}
    after = release_of(log, given, parameters=values)
    asked = EpsilonAudit(runs=40, targets=1)
    return asked.compute_rerun(original_of(log, ruler), after, names_of_topics(keep))


def test_concepts_that_are_near_give_a_person_away(tmp_path: Path) -> None:
    found = audit_topics(promise(1.0, SWAP), False, tmp_path)
    assert (found.value, found.details["holds"]) == (found.details["max_bound"], False)
    assert found.details["statistic"] in ("likeness", "nearest log")


def test_lengths_that_are_public_are_the_same_on_both_sides(tmp_path: Path) -> None:
    # Asthma shows no row at all: to compare it with others would break what is given.
    log, ruler = rows_of(30), write_ruler(tmp_path)
    after = release_of(
        log,
        promise(1.0, SWAP, given=LENGTHS),
        parameters={"max_queries_per_user": 3, "taxonomy": ruler},
    )
    before, again = original_of(log, ruler), names_of_topics(True)
    trial = choose_trial(before, after, again, 20, 20)
    assert sorted(text for pair in trial.texts for text in pair) == [
        "Music", "Swimming", "Tennis", "Theatre",
    ]  # fmt: skip
    sizes = [trial.log(np.array(coins), trial.designs).count("event") for coins in ((0, 1), (1, 1))]
    assert sizes == [6, 6]


def test_promises_that_no_log_can_try_are_refused() -> None:
    topics = promise(1.0, SWAP, given="the topics of each user's queries in their order")
    with pytest.raises(UsageError, match="agree in the topics"):
        audit(laplace(1.0), topics)
    with pytest.raises(UsageError, match="these neighbors: two planets"):
        audit(laplace(1.0), promise(1.0, "two planets"))
    with pytest.raises(UsageError, match="no users' logs"):
        audit(laplace(1.0), promise(1.0, SWAP))
    with pytest.raises(UsageError, match="runs the method again"):
        EpsilonAudit().compute(MeasureContext(rows_of(3)), release_of(rows_of(3), promise()))


def plain_least_share(right: int, guesses: int, doubt: float) -> float:
    """Find the share at which so many right ones, or more, are as unlikely as the doubt."""
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        tail = sum(
            comb(guesses, n) * share**n * (1 - share) ** (guesses - n)
            for n in range(right, guesses + 1)
        )
        low, high = (share, high) if tail < doubt else (low, share)
    return low


@pytest.mark.parametrize("right", [0, 1, 7, 15, 20])
@pytest.mark.parametrize("doubt", [0.05, 0.01])
def test_the_lower_bound_is_that_of_clopper_and_pearson(right: int, doubt: float) -> None:
    assert clopper_pearson_lower(right, 20, doubt) == pytest.approx(
        plain_least_share(right, 20, doubt), abs=1e-9
    )


def test_the_most_that_can_be_proven_grows_with_the_trials() -> None:
    share = 0.05 ** (1 / 100)
    assert epsilon_lower_bound(100, 100, 100) == pytest.approx(log(share / (1 - share)))
    assert (
        epsilon_lower_bound(99, 100, 100)
        < epsilon_lower_bound(100, 100, 100)
        < epsilon_lower_bound(200, 200, 200)
    )
    assert epsilon_lower_bound(100, 100, 100, delta=1e-5) < epsilon_lower_bound(100, 100, 100)
    assert epsilon_lower_bound(50, 100, 100) == epsilon_lower_bound(0, 0, 100) == 0.0


def test_at_most_5_of_100_audits_of_randomised_response_go_wrong() -> None:
    draw = np.random.default_rng(7)
    right = draw.binomial(100, exp(1) / (1 + exp(1)), 2000)
    wrong = np.mean([epsilon_lower_bound(int(one), 100, 100) > 1.0 for one in right])
    assert 0.01 < wrong <= 0.055


def test_rules_guess_what_they_say() -> None:
    table = {"x": np.array([5.0, 1.0, 4.0, 2.0, 3.0, 0.0, 6.0, 7.0])}
    coins = np.array([True, False, True, False, False, False, True, True])
    rule = GuessRule("x", 1, tops=0.25, bottoms=0.25)
    assert (rule.guesses(8), rule.right(table, coins)) == (4, 4)
    assert GuessRule("x", -1, tops=0.25, bottoms=0.25).right(table, coins) == 0
    (_, found), backwards = fit_rule(table, coins, 0.0), fit_rule(table, ~coins, 0.0)[1]
    assert (found.threshold, found.right(table, coins)) == (3.5, 8)
    assert (backwards.sign, backwards.right(table, ~coins)) == (-1, 8)


CASES = [
    # Nothing is released: no two logs can be distinguished.
    MeasureCase("an empty release", {f"u{n}": [f"q{n}", "common"] for n in range(40)}, {}, 0.0),
]


@pytest.mark.parametrize("check", measure_checks(EpsilonAudit(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
