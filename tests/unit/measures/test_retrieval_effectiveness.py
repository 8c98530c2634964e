"""Ranking results for held-out users: worked by hand, without leaks, and at its edges."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from fold_logs import NO_ROWS, Row, always, at, release, table, unchanged
from hypothesis import given
from hypothesis import strategies as st

import queryveil as qv
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures.context import MeasureContext
from queryveil.measures.retrieval_effectiveness import RetrievalEffectiveness, clicked_events
from queryveil.release.release import Release
from queryveil.testing import KitCheck, MeasureCase, measure_checks

# As many folds as users: each is held out once, however folds are drawn.
ROWS: list[Row] = [
    ("a", "q", at(0), 1, "http://x.example"),
    ("b", "q", at(0), 1, "http://x.example"),
    ("c", "q", at(0), 2, "http://y.example"),
]
LOG = QueryLog.from_rows(ROWS)


def found(
    log: QueryLog, made: Callable[[QueryLog], Release], after: Release | None = None, **more: object
) -> dict:
    """Measure a method that is a function, with a fold for each user."""
    users = log.count_distinct("user")
    measure = RetrievalEffectiveness(**({"folds": users} | more))
    return measure.compute_rerun(MeasureContext(log), after or made(log), always(made))


def tables_of(clicks: list[tuple[str, str, int]]) -> Callable[[QueryLog], Release]:
    queries = sorted({(query, 9) for query, _, _ in clicks})
    tables = {"queries": table(["query"], queries), "clicks": table(["query", "url"], clicks)}
    return lambda log: release(log, tables=tables)


def test_values_worked_by_hand() -> None:
    """a and b find x first (of equals by name), c finds x alone where she clicked y."""
    told = found(LOG, unchanged)
    assert told.details["metrics"]["release"] == {
        "ndcg@10": 0.666667, "p@5": 0.133333, "p@10": 0.066667, "map": 0.666667,
    }  # fmt: skip
    assert (told.value, told.details["coverage"], told.counts["tests"]) == (0.666667, 1.0, 3)


def test_the_same_log_gives_exactly_the_original() -> None:
    told = found(LOG, unchanged)
    assert told.details["metrics"]["release"] == told.details["metrics"]["original"]
    assert told.value == told.baselines["original"]
    assert (told.details["difference"], told.details["p_value"], told.details["significant"]) == (
        0,
        1,
        False,
    )
    assert "not significant" in told.summary


def test_tables_are_enough() -> None:
    """Only y is released: c finds it first. Clicks whose count is not above 0 are none."""
    told = found(LOG, tables_of([("q", "http://y.example", 5), ("q", "http://x.example", -1)]))
    assert (told.value, told.baselines["original"], told.details["difference"]) == (
        0.333333,
        0.666667,
        -0.333333,
    )
    assert "the released tables" in told.basis


@pytest.mark.parametrize(
    ("metric", "value"), [("p@5", 0.133333), ("p@10", 0.066667), ("map", 0.666667)]
)
def test_the_metric_is_a_choice(metric: str, value: float) -> None:
    assert found(LOG, unchanged, metric=metric).value == value


def test_two_urls_of_one_search() -> None:
    """c clicked x and y; x stands first, y is unknown: DCG 1 of 1 + 1/log2(3)."""
    rows = [*ROWS[:2], ("c", "q", at(0), 1, "http://x.example"), ROWS[2]]
    told = found(QueryLog.from_rows(rows), unchanged)
    assert told.counts["tests"] == 3
    assert told.value == pytest.approx((2 + 1 / (1 + 1 / 1.584963)) / 3, abs=1e-6)


def test_a_step_to_the_next_query_leads_to_its_clicks() -> None:
    """Nobody else clicks anything for r; but b goes on from r to q, and clicks x there."""
    rows: list[Row] = [
        ("a", "r", at(0), 1, "http://x.example"),
        ("b", "r", at(0), None, None),
        ("b", "q", at(1), 1, "http://x.example"),
    ]
    log = QueryLog.from_rows(rows)
    told = found(log, unchanged)
    assert (told.value, told.details["coverage"]) == (0.5, 0.5)  # b's q is known to nobody else
    pauses = found(log, lambda log: release(log, log=log.local_frame.with_columns(time=None)))
    assert (pauses.value, pauses.baselines["original"]) == (0, 0.5)
    assert found(log, unchanged, ranker="implicit-feedback").details["coverage"] == 0


def test_only_released_queries_may_count() -> None:
    rows: list[Row] = [*ROWS, ("d", "rare", at(0), 1, "http://z.example")]
    log, made = QueryLog.from_rows(rows), tables_of([("q", "http://x.example", 2)])
    every, known = found(log, made), found(log, made, scope="released")
    assert (every.value, every.counts["tests"], every.details["coverage"]) == (0.5, 4, 0.75)
    assert (known.value, known.counts["tests"], known.details["coverage"]) == (0.666667, 3, 0.75)
    assert known.baselines["original"] == 0.666667
    assert known.summary.startswith("over 3 of 4 searches")


def test_a_release_without_clicks_loses_all() -> None:
    without = [pl.lit(None, pl.String).alias("url"), pl.lit(None, pl.Int32).alias("rank")]
    told = found(LOG, lambda log: release(log, log=log.local_frame.with_columns(without)))
    assert (told.value, told.details["coverage"], told.baselines["original"]) == (0, 0, 0.666667)
    assert "no click" in told.summary
    bare = found(LOG, lambda log: release(log, tables={"queries": table(["query"], [("q", 9)])}))
    assert (bare.value, bare.details["coverage"]) == (0, 0)


def test_an_empty_release_loses_all() -> None:
    empty = lambda log: release(log, log=QueryLog.from_rows(NO_ROWS).local_frame)  # noqa: E731
    assert found(LOG, empty).value == 0
    told = found(LOG, empty, scope="released")
    assert (told.value, told.baselines) == (0, {})
    assert (told.counts["tests"], told.details["p_value"]) == (0, None)


FEEDBACK: list[Row] = [
    *[(user, "q", at(0), 1, "http://y.example") for user in "ab"],
    *[(user, "q", at(0), 9, "http://x.example") for user in "cde"],
]


def test_feedback_of_training_users() -> None:
    """x is clicked more, but far down: .6/10 + .4/2 = .26, y at 1: .6/2 + .4/3 = .433.

    Held out is one of a and b: y stands first. One of c, d and e: both have 2 clicks, y first by
    its rank, x second: 1/log2(3).
    """
    log = QueryLog.from_rows(FEEDBACK)
    told = found(log, unchanged, ranker="implicit-feedback")
    assert (
        told.value == told.baselines["original"] == pytest.approx((2 + 3 * 0.63093) / 5, abs=1e-6)
    )
    assert "mean ranks" in told.basis


def test_tables_have_no_ranks_and_no_feedback() -> None:
    """By clicks alone x stands first: for c, d and e at 1, for a and b y at 2."""
    made = tables_of([("q", "http://x.example", 3), ("q", "http://y.example", 2)])
    told = found(QueryLog.from_rows(FEEDBACK), made, ranker="implicit-feedback")
    assert told.value == pytest.approx((3 + 2 * 0.63093) / 5, abs=1e-6)
    assert "no ranks" in told.basis


def test_the_papers_feedback_leaks() -> None:
    """A click at 1 lifts a URL that others hardly click: z, .6/2 + .4/4 = .4, above y's 1/3."""
    rows: list[Row] = [("a", "q", at(0), 1, "http://z.example")]
    made = tables_of([("q", f"http://{u}.example", n) for u, n in (("x", 3), ("y", 2), ("z", 1))])
    log = QueryLog.from_rows([*rows, ("b", "other", at(0), None, None)])
    options = {"ranker": "implicit-feedback"}
    assert found(log, made, **options).value == 0.5  # third: 1/log2(4)
    leaky = found(log, made, **options, feedback="test")
    assert leaky.value == pytest.approx(0.63093, abs=1e-6)
    assert "leak" in leaky.basis


def test_no_test_row_is_in_what_is_learned_from() -> None:
    """Each user has a query and a URL of her own: whoever saw her rows would rank it."""
    rows: list[Row] = [(f"u{n}", f"own {n}", at(0), 1, f"http://{n}.example") for n in range(12)]
    log, trained = QueryLog.from_rows(rows), list[set[str]]()

    def spy(part: QueryLog, turn: int) -> Release:
        trained.append(set(part.local_frame.collect()["user"].cast(pl.String)))
        return unchanged(part)

    told = RetrievalEffectiveness(folds=4).compute_rerun(MeasureContext(log), unchanged(log), spy)
    everybody = {row[0] for row in rows}
    held = [everybody - part for part in trained]
    assert [len(part) for part in held] == [3] * 4
    assert set().union(*held) == everybody
    assert told.value == told.details["coverage"] == told.details["original_coverage"] == 0


def test_the_tests_are_drawn_and_always_the_same() -> None:
    rows: list[Row] = [(f"u{n}", "q", at(0), 1, f"http://{n % 3}.example") for n in range(30)]
    log = QueryLog.from_rows(rows)
    some = [found(log, unchanged, folds=5, max_tests=7) for _ in range(2)]
    assert some[0] == some[1]
    assert some[0].counts["tests"] == 7
    assert found(log, unchanged, folds=5, max_tests=1).details["p_value"] is None


def test_many_topics_are_ranked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = found(LOG, unchanged)
    monkeypatch.setattr("queryveil.measures.retrieval_effectiveness._BLOCK", 1)
    assert found(LOG, unchanged) == whole


def test_phrases_are_said_to_be_taken_for_queries() -> None:
    made = lambda log: release(log, log=log.local_frame, parameters={"output_unit": "phrase"})  # noqa: E731
    assert "phrases are taken for queries" in found(LOG, made).basis


def test_a_real_method() -> None:
    made = qv.anonymize(LOG, "frequent-queries:min-users=1:min-click-users=1", seed=1)
    told = qv.measure(LOG, made, ["retrieval-effectiveness:folds=3"], seed=1)[
        "retrieval-effectiveness:folds=3"
    ]
    assert told.value == told.baselines["original"] == 0.666667
    assert told.kind == "utility"


def test_a_method_that_leaves_nothing_of_fewer_users_loses_all() -> None:
    made = qv.anonymize(LOG, "frequent-queries:min-users=3:min-click-users=1", seed=1)
    told = qv.measure(LOG, made, ["retrieval-effectiveness:folds=3"], seed=1)[
        "retrieval-effectiveness:folds=3"
    ]
    assert (told.value, told.details["coverage"], told.baselines["original"]) == (0, 0, 0.666667)


def test_a_method_that_stops_on_fewer_users_is_told() -> None:
    def stops(log: QueryLog) -> Release:
        raise InputError("2 users are too few", hint="take more")

    with pytest.raises(UsageError, match=r"without the test users: 2 users are too few.*take more"):
        found(LOG, stops, after=unchanged(LOG))


def test_refusals() -> None:
    bare = QueryLog.from_rows([(user, "q", at(0), None, None) for user in "abcdef"])
    with pytest.raises(InputError, match=r"no searches with a clicked URL.*clicks"):
        RetrievalEffectiveness().prepare(MeasureContext(bare))
    with pytest.raises(InputError, match="5 folds of users"):
        RetrievalEffectiveness().prepare(MeasureContext(LOG))
    with pytest.raises(UsageError, match="neither a log nor tables"):
        found(LOG, unchanged, after=release(LOG))
    with pytest.raises(UsageError, match="runs the method again"):
        RetrievalEffectiveness().compute(MeasureContext(LOG), unchanged(LOG))
    with pytest.raises(ParameterError, match="no feedback"):
        RetrievalEffectiveness(feedback="test")
    for wrong in ({"metric": "mrr"}, {"folds": 1}, {"max_tests": 0}, {"scope": "some"}):
        with pytest.raises(ParameterError):
            RetrievalEffectiveness(**wrong)


some_rows = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("qr"),
        st.sampled_from([None, at(0), at(1), at(45)]),
        st.sampled_from([None, "http://x.example", "http://y.example"]),
    ),
    max_size=12,
)


@given(some_rows)
def test_searches_are_the_events_of_the_log(rows: list[tuple[str, str, str | None, str]]) -> None:
    lines = [(user, query, time, url and 1, url) for user, query, time, url in rows]
    log = QueryLog.from_rows(lines)
    found = clicked_events(log.local_frame)
    events = log.events().filter(pl.col("clicks") > 0).collect()
    assert found["topic"].n_unique() == events.height
    searches = found.unique("topic").select(pl.col("user", "query").cast(pl.String))
    expected = events.select(pl.col("user", "query").cast(pl.String))
    assert sorted(searches.rows()) == sorted(expected.rows())
    assert set(found["url"].cast(pl.String)) == {url for *_, url in rows if url}


CASES = [
    # a and b find x first; c finds x alone where they clicked y.
    MeasureCase(
        "three users", ROWS, ROWS, 2 / 3, {"tests": 3}, measure=RetrievalEffectiveness(folds=3)
    ),
]


@pytest.mark.parametrize("check", measure_checks(RetrievalEffectiveness(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
