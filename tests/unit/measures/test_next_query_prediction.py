"""Suggesting the next query: by hand, against the definition, without leaks, and at its edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl
import pytest
from fold_logs import NO_ROWS, Row, always, at, release, table, unchanged
from hypothesis import given
from hypothesis import strategies as st

import queryveil as qv
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures._shared.counts import transitions
from queryveil.measures.context import MeasureContext
from queryveil.measures.next_query_prediction import NextQueryPrediction, hits_at
from queryveil.measures.retrieval_effectiveness import RetrievalEffectiveness
from queryveil.release.release import Release
from queryveil.testing import KitCheck, MeasureCase, measure_checks

# Two users go from q to r, one from q to s; as many folds as users.
ROWS: list[Row] = [
    *[(user, "q", at(0), None, None) for user in "abc"],
    *[(user, "r", at(1), None, None) for user in "ab"],
    ("c", "s", at(1), None, None),
]
LOG = QueryLog.from_rows(ROWS)
NEXT = ["query", "next"]


def found(
    log: QueryLog, made: Callable[[QueryLog], Release], after: Release | None = None, **more: object
) -> dict:
    measure = NextQueryPrediction(**({"folds": log.count_distinct("user")} | more))
    return measure.compute_rerun(MeasureContext(log), after or made(log), always(made))


def tables_of(steps: list[tuple[str, str, int]]) -> Callable[[QueryLog], Release]:
    queries = table(["query"], [("q", 9), ("r", 5), ("s", 0)])
    return lambda log: release(log, tables={"queries": queries, "transitions": table(NEXT, steps)})


def test_values_worked_by_hand() -> None:
    """a and b find r, which one of two others took; c finds r alone where she took s."""
    told = found(LOG, unchanged)
    assert (told.value, told.baselines["original"], told.details["coverage"]) == (
        0.666667,
        0.666667,
        1,
    )
    assert told.counts["tests"] == 3
    # Of q, r and s, all are among the ten most frequent ones, but s is c's alone.
    assert told.baselines["popular"] == 0.666667


def test_equally_frequent_ones_share_the_last_place() -> None:
    """For a and b, r and s are equally frequent in the others' log; the one place goes to q."""
    told = found(LOG, unchanged, top_n=1)
    assert told.value == pytest.approx((0.5 + 0.5 + 0) / 3, abs=1e-6)
    assert told.baselines["popular"] == 0


def test_the_same_log_gives_exactly_the_original() -> None:
    told = found(LOG, unchanged, top_n=1)
    assert told.baselines["popular"] == told.details["original_popular"]
    assert told.details["coverage"] == told.details["original_coverage"]
    assert told.value == told.baselines["original"]


def test_a_table_of_transitions_is_enough() -> None:
    told = found(LOG, tables_of([("q", "s", 3), ("q", "r", -1), ("z", "r", 2)]))
    assert (told.value, told.details["coverage"], told.baselines["popular"]) == (
        0.333333,
        1,
        0.666667,
    )
    assert "the released tables" in told.basis
    assert found(LOG, tables_of([("z", "r", 2)])).details["coverage"] == 0


def test_a_table_without_any_transition_suggests_nothing() -> None:
    told = found(LOG, tables_of([]))
    assert (told.value, told.details["coverage"], told.baselines["popular"]) == (0, 0, 0.666667)
    assert "no step" in told.summary


def test_an_empty_release_suggests_nothing() -> None:
    told = found(LOG, lambda log: release(log, log=QueryLog.from_rows(NO_ROWS).local_frame))
    assert (told.value, told.baselines["popular"], told.details["coverage"]) == (0, 0, 0)


def test_days_alone_tell_no_order() -> None:
    day = pl.col("time").dt.date()
    told = found(LOG, lambda log: release(log, log=log.local_frame.with_columns(time=day)))
    assert (told.value, told.details["coverage"], told.baselines["original"]) == (0, 0, 0.666667)
    assert "no step" in told.summary


def test_numbers_of_rows_tell_an_order() -> None:
    number = pl.col("time").rank("ordinal").over("user").cast(pl.Int32)
    told = found(LOG, lambda log: release(log, log=log.local_frame.with_columns(time=number)))
    assert told.value == 0.666667
    assert "numbers of rows" in told.basis


def follows(*rows: tuple[str, str, object], whole: bool = False) -> list[tuple[str, str]]:
    lines = [(user, query, time, None, None) for user, query, time in rows]
    return transitions(QueryLog.from_rows(lines).local_frame, whole).select(NEXT).rows()


def test_what_is_a_step() -> None:
    assert follows(("a", "q", at(5)), ("a", "r", at(0))) == [("r", "q")]
    assert follows(("a", "q", at(0)), ("a", "q", at(1)), ("a", "r", at(2))) == [("q", "r")]
    assert follows(("a", "q", at(0)), ("b", "r", at(1))) == []
    assert follows(("a", "q", at(0)), ("a", "r", at(30))) == [("q", "r")]
    assert follows(("a", "q", at(0)), ("a", "r", at(31))) == []
    assert follows(("a", "q", at(0)), ("a", "r", at(31)), whole=True) == [("q", "r")]
    assert follows(("a", "q", None), ("a", "r", at(1))) == []


def test_rows_of_one_time_have_no_order() -> None:
    """Nothing leads to or from them, and they still stand in between."""
    assert follows(("a", "q", at(0)), ("a", "r", at(0))) == []
    one = ("a", "q", at(0)), ("a", "r", at(1)), ("a", "s", at(1)), ("a", "t", at(2))
    assert follows(*one) == []
    assert follows(("a", "q", at(0)), ("a", "q", at(0)), ("a", "t", at(2))) == [("q", "t")]


def test_a_name_may_stand_for_a_session() -> None:
    """Hours alone: with names of sessions the order within one is still told."""
    rows: list[Row] = [
        (user, query, f"2006-03-01 {hour}:{minute}:00", None, None)
        for user in "ab"
        for query, hour, minute in (("q", 10, 55), ("r", 11, 10))
    ]
    log, hour = QueryLog.from_rows(rows), pl.col("time").dt.truncate("1h")
    hours = lambda log, **more: release(log, log=log.local_frame.with_columns(time=hour), **more)  # noqa: E731
    assert found(log, hours).value == 0
    told = found(log, lambda log: hours(log, parameters={"pseudonym_scope": "session"}))
    assert told.value == told.baselines["original"] == 1


counts = st.lists(st.integers(1, 4), max_size=6)


@given(counts, st.integers(1, 7))
def test_hits_are_the_mean_over_all_orders_of_equals(numbers: list[int], top: int) -> None:
    names = [f"n{place}" for place in range(len(numbers))]
    rows = [("q", name, number) for name, number in zip(names, numbers, strict=True)]
    asked = pl.DataFrame(
        {"query": ["q"] * len(names), "next": names}, schema=dict.fromkeys(NEXT, pl.String)
    )
    got = hits_at(table(NEXT, rows), asked, top).to_list()
    for number, chance in zip(numbers, got, strict=True):
        above, equal = sum(n > number for n in numbers), numbers.count(number)
        assert chance == pytest.approx(sum(above + turn < top for turn in range(equal)) / equal)
    assert sum(got) == pytest.approx(min(top, len(numbers)))


def test_no_test_row_is_in_what_is_learned_from() -> None:
    """Each user has a step of her own: whoever saw her rows would suggest it."""
    rows: list[Row] = [
        (f"u{n}", f"{step} {n}", at(minute), None, None)
        for n in range(8)
        for minute, step in enumerate(("from", "to"))
    ]
    log, trained = QueryLog.from_rows(rows), list[set[str]]()

    def spy(part: QueryLog, turn: int) -> Release:
        trained.append(set(part.local_frame.collect()["user"].cast(pl.String)))
        return unchanged(part)

    told = NextQueryPrediction(folds=4).compute_rerun(MeasureContext(log), unchanged(log), spy)
    held = [{row[0] for row in rows} - part for part in trained]
    assert [len(part) for part in held] == [2] * 4
    assert len(set().union(*held)) == 8
    assert (
        told.value
        == told.details["coverage"]
        == told.details["original_coverage"]
        == told.baselines["popular"]
        == 0
    )


def test_measures_over_the_same_folds_share_the_runs() -> None:
    rows = [*ROWS, *[(user, "q", at(0), 1, "http://x.example") for user in "abc"]]
    log, turns = QueryLog.from_rows(rows), list[int]()

    def again(part: QueryLog, turn: int) -> Release:
        turns.append(turn)
        return unchanged(part)

    before, after = MeasureContext(log), unchanged(log)
    for measure in (
        RetrievalEffectiveness(folds=3),
        NextQueryPrediction(folds=3),
        NextQueryPrediction(folds=3, top_n=1),
    ):
        measure.compute_rerun(before, after, again)
    assert turns == [0, 1, 2]
    NextQueryPrediction(folds=2).compute_rerun(before, after, again)
    assert turns == [0, 1, 2, 0, 1]
    NextQueryPrediction(folds=2).compute_rerun(before, after, partial(again))
    assert turns == [0, 1, 2, 0, 1, 0, 1]


def test_a_real_method() -> None:
    made = qv.anonymize(
        LOG, "frequent-queries:min-users=1:min-click-users=1:time-precision=day", seed=1
    )
    told = qv.measure(LOG, made, ["next-query-prediction:folds=3"], seed=1)[
        "next-query-prediction:folds=3"
    ]
    assert (told.value, told.baselines["original"], told.baselines["popular"]) == (
        0,
        0.666667,
        0.666667,
    )


def test_refusals() -> None:
    alone = QueryLog.from_rows([(user, "q", at(0), None, None) for user in "abcdef"])
    with pytest.raises(InputError, match=r"no steps from one query.*times"):
        NextQueryPrediction().prepare(MeasureContext(alone))
    with pytest.raises(UsageError, match="neither a log nor tables"):
        found(LOG, unchanged, after=release(LOG))
    queries = {"queries": table(["query"], [("q", 9)])}
    with pytest.raises(UsageError, match="no table of transitions and no log"):
        found(LOG, unchanged, after=release(LOG, tables=queries))
    timeless = release(LOG, log=LOG.local_frame.with_columns(time=pl.lit(None, pl.Date)))
    with pytest.raises(UsageError, match="have no times"):
        found(LOG, unchanged, after=timeless)
    with pytest.raises(UsageError, match="runs the method again"):
        NextQueryPrediction().compute(MeasureContext(LOG), unchanged(LOG))
    with pytest.raises(ParameterError):
        NextQueryPrediction(top_n=0)


CASES = [
    # a and b find r, which one of two others took; c finds r alone where they took s.
    MeasureCase(
        "three users", ROWS, ROWS, 2 / 3, {"tests": 3}, measure=NextQueryPrediction(folds=3)
    ),
]


@pytest.mark.parametrize("check", measure_checks(NextQueryPrediction(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
