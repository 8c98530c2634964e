"""What a user contributes is decided by her own log: never by others, never more than allowed.

Chance is zero everywhere here, so that what differs between two runs can only come from the rows
of others. With chance gone, all of a user's rows that she likes equally are tied.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.log.query_log import QueryLog
from queryveil.methods.statistics.contributions import (
    bound_contributions,
    brevity_scores,
    click_pairs,
    query_pairs,
    transition_pairs,
)

HER = "her"
QUERIES = ("a", "b", "c", "d", "a b", "b c", "c d", "a b c", "b c d", "a b c d")
RELEASED = ("a b", "a", "c", "b", "b c d")  # in the order of the released table
URLS = (None, "u", "v", "w")

Row = tuple[str, str, str | None, int | None, str | None]


class Zeros:
    """Chance that decides nothing."""

    is_secure = True

    def uint64s(self, size: int) -> np.ndarray:
        return np.zeros(size, np.uint64)


def rows_of(names: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[Row]]:
    times = st.integers(0, 300).map(lambda m: f"2006-03-01 {m // 60:02}:{m % 60:02}:00")
    row = st.tuples(
        names, st.sampled_from(QUERIES), times, st.none() | st.just(1), st.sampled_from(URLS)
    )
    return st.lists(row, max_size=most)


HERS = rows_of(st.just(HER), 25)
OTHERS = rows_of(st.sampled_from(("ann", "bob", "cid", "zoe")), 40)
SHUFFLES = st.randoms(use_true_random=False)


def mixed(hers: list[Row], others: list[Row], chance: Random) -> QueryLog:
    """Put her rows, in their order, among those of others."""
    turns = [True] * len(hers) + [False] * len(others)
    chance.shuffle(turns)
    left = {True: iter(hers), False: iter(others)}
    return QueryLog.from_rows([next(left[turn]) for turn in turns])


def released(log: QueryLog) -> pl.DataFrame:
    kind = log.local_frame.collect_schema()["query"]
    return pl.DataFrame({"query": pl.Series(RELEASED).cast(kind)})


def contributed(log: QueryLog, table: str, most: int, chance: RandomSource | Zeros) -> pl.DataFrame:
    """Bound a table as the method does, and give it as texts."""
    liking = None
    if table == "queries":
        pairs = query_pairs(log.local_frame, chance)
        liking = brevity_scores(pairs["query"])
    elif table == "clicks":
        pairs = click_pairs(log.local_frame, released(log), chance)
    else:
        pairs = transition_pairs(log.local_frame, released(log), chance)
    return bound_contributions(pairs, most, liking, chance).with_columns(
        pl.col(pl.Categorical).cast(pl.String)
    )


def hers_of(table: pl.DataFrame) -> set[tuple]:
    return set(table.filter(pl.col("user") == HER).drop("user").rows())


def counts_of(table: pl.DataFrame) -> Counter:
    return Counter(table.drop("user").rows())


TABLES = pytest.mark.parametrize("table", ["queries", "clicks", "transitions"])


@TABLES
@settings(max_examples=40)
@given(HERS, OTHERS, OTHERS, SHUFFLES, st.integers(1, 6))
def test_others_have_no_say(table, hers, others, more, chance, most) -> None:
    one = contributed(mixed(hers, others, chance), table, most, Zeros())
    two = contributed(mixed(hers, more, chance), table, most, Zeros())
    assert hers_of(one) == hers_of(two)


@TABLES
@settings(max_examples=40)
@given(HERS, OTHERS, SHUFFLES, st.integers(1, 6))
def test_she_changes_few_counts_by_one(table, hers, others, chance, most) -> None:
    with_her = counts_of(contributed(mixed(hers, others, chance), table, most, Zeros()))
    without = counts_of(contributed(mixed([], others, chance), table, most, Zeros()))
    assert not without - with_her
    added = with_her - without
    assert set(added.values()) <= {1}
    assert len(added) <= most


@TABLES
@settings(max_examples=25)
@given(HERS, OTHERS, SHUFFLES, st.integers(1, 6), st.integers(0, 10**9))
def test_nobody_contributes_more_than_allowed(table, hers, others, chance, most, seed) -> None:
    log = mixed(hers, others, chance)
    for source in (RandomSource(seed), RandomSource()):
        kept = contributed(log, table, most, source)
        everything = contributed(log, table, 10**6, source)
        assert kept.is_unique().all()
        assert max(kept.group_by("user").len()["len"], default=0) <= most
        assert set(kept.rows()) <= set(everything.rows())
        # Nothing is wasted either, but for equal numbers of 17 bits.
        full = everything.group_by("user").len().with_columns(pl.col("len").clip(upper_bound=most))
        assert kept.height >= int(full["len"].sum()) - 1


def test_what_is_liked_more_comes_first() -> None:
    rows = [(HER, text, None, None, None) for text in ("x y z", "x y", "x", "z")]
    log = QueryLog.from_rows(rows)
    assert hers_of(contributed(log, "queries", 2, RandomSource(1))) == {("x",), ("z",)}
    assert hers_of(contributed(log, "queries", 3, RandomSource(1))) == {("x",), ("z",), ("x y",)}


def test_equal_rows_that_do_not_all_fit_are_left_out() -> None:
    """Which of them stand first is up to the rows of others, so it must not count."""
    rows = [(HER, text, None, None, None) for text in ("x", "a b", "c d", "e f", "g h i")]
    log = QueryLog.from_rows(rows)
    assert hers_of(contributed(log, "queries", 3, Zeros())) == {("x",)}
    assert len(hers_of(contributed(log, "queries", 4, Zeros()))) == 4


def test_many_rows_of_others_have_no_say_either() -> None:
    """Enough rows for the engine to work in parts and in parallel."""
    hers = [(HER, f"q {n}" if n > 14 else f"q{n}", None, None, "u") for n in range(400)]
    kept = []
    for size in (0, 50_000):
        others = [(f"o{n % 977}", f"q {n % 1009}", None, None, "u") for n in range(size)]
        log = mixed(hers, others, Random(size))
        kept.append(hers_of(contributed(log, "queries", 20, Zeros())))
    assert kept[0] == kept[1] == {(f"q{n}",) for n in range(15)}


# --- transitions ---------------------------------------------------------------------------------


def steps(*rows: tuple[str, str, str | None]) -> set[tuple]:
    log = QueryLog.from_rows([(user, query, time, None, None) for user, query, time in rows])
    return hers_of(transition_pairs(log.local_frame, released(log), Zeros())
                   .with_columns(pl.col("user").cast(pl.String)))  # fmt: skip


def test_a_step_joins_two_released_queries_of_one_session() -> None:
    at = "2006-03-01 10:{:02}:00".format
    assert steps((HER, "a", at(0)), (HER, "c", at(10))) == {(2, 3)}
    assert steps((HER, "a", at(0)), (HER, "c", at(31))) == set()
    assert steps((HER, "a", at(0)), (HER, "d", at(1)), (HER, "c", at(2))) == set()  # d is not out
    assert steps((HER, "a", at(0)), (HER, "a", at(1))) == set()
    assert steps((HER, "c", at(10)), (HER, "a", at(0))) == {(2, 3)}


def test_a_step_never_goes_from_one_user_to_another() -> None:
    at = "2006-03-01 10:{:02}:00".format
    others = [("zoe", "c", at(1)), ("ann", "b", at(0))]
    assert steps((HER, "a", at(0)), *others) == set()
    assert steps(*others, (HER, "a", at(0)), (HER, "b", at(2))) == {(2, 4)}
    assert steps((HER, "a", None), ("zoe", "c", None), (HER, "b", None)) == {(2, 4)}


def test_an_empty_log_contributes_nothing() -> None:
    log = QueryLog.from_rows([])
    for table in ("queries", "clicks", "transitions"):
        assert contributed(log, table, 3, RandomSource()).height == 0


# --- levels --------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=2, max_size=30), st.floats(-1e4, 1e4))
def test_how_much_a_row_is_liked_does_not_depend_on_other_rows(likings, another) -> None:
    from queryveil.methods.statistics.contributions import _priority_levels

    likings = [liking + 0.0 for liking in likings]  # -0.0 is a level of its own
    levels = _priority_levels(np.array(likings))
    assert _priority_levels(np.array([another, *likings]))[1:].tolist() == levels.tolist()
    order = np.argsort(-np.array(likings), kind="stable")
    assert (np.diff(levels[order].astype(np.int64)) >= 0).all()
    assert int(levels.max()) < 2**15
