"""The synthetic log: made of released tables and public constants, and of nothing else."""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from conftest import python_calls
from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError, ParameterError
from queryveil.methods.statistics import synthesis as synthetic
from queryveil.methods.statistics.synthesis import SYNTHESIS_NOTE, public_constants, synthesize_log

TABLES = {
    "queries": pl.DataFrame({"query": ["weather", "news", "cats"], "count": [600, 300, 100]}),
    "clicks": pl.DataFrame(
        {"query": ["news", "news", "cats"], "url": ["n1", "n2", "c"], "count": [90, 10, 50]}
    ),
    "transitions": pl.DataFrame(
        {"query": ["weather", "weather", "news"], "next": ["news", "cats", "weather"],
         "count": [75, 25, 10]}
    ),
}  # fmt: skip


def chi_square(found: dict[str, int], weights: dict[str, int]) -> float:
    """Give the sum of squares; far beyond the number of kinds where weights are not followed."""
    rows, whole = sum(found.values()), sum(weights.values())
    assert found.keys() <= weights.keys()
    expected = {kind: rows * weight / whole for kind, weight in weights.items()}
    return sum((found.get(kind, 0) - n) ** 2 / n for kind, n in expected.items())


def test_columns_are_those_of_a_release() -> None:
    log = synthesize_log(TABLES, 500, RandomSource(1))
    assert log.schema == {
        "user": pl.String, "query": pl.String, "time": pl.Date, "rank": pl.Int32, "url": pl.String,
    }  # fmt: skip
    assert not log.select("user", "query", "time").null_count().sum_horizontal().item()
    assert (log["rank"].is_null() == log["url"].is_null()).all()
    assert log["time"].is_between(date(2000, 1, 1), date(2000, 3, 30)).all()
    assert log["time"].n_unique() == 90
    assert log["rank"].drop_nulls().is_between(1, 10).all()


@pytest.mark.parametrize("users", [1, 2, 1000])
def test_every_user_has_a_row(users: int) -> None:
    log = synthesize_log(TABLES, users, RandomSource(2))
    assert log["user"].n_unique() == users
    assert log["user"].str.contains(r"^[a-z]{12}$").all()


def test_rows_a_user_are_about_as_many_as_told() -> None:
    log = synthesize_log(TABLES, 20_000, RandomSource(3))
    assert 18 < log.height / 20_000 < 20
    assert "19 rows a user" in public_constants()["queries of a session"]


def test_rows_are_shuffled() -> None:
    names = synthesize_log(TABLES, 200, RandomSource(4))["user"]
    assert (names == names.shift()).sum() < len(names) / 20


def test_only_what_was_released_occurs() -> None:
    log = synthesize_log(TABLES, 2000, RandomSource(5))
    assert set(log["query"]) == {"weather", "news", "cats"}
    clicks = {(query, url) for query, url in log.select("query", "url").rows() if url}
    assert clicks == {("news", "n1"), ("news", "n2"), ("cats", "c")}


def test_keys_that_are_no_released_queries_are_never_drawn() -> None:
    strange = {
        "queries": TABLES["queries"],
        "clicks": pl.DataFrame({"query": ["dogs", "news"], "url": ["d", "n"], "count": [9, 0]}),
        "transitions": pl.DataFrame({"query": ["news", "dogs"], "next": ["dogs", "news"],
                                     "count": [99, 99]}),
    }  # fmt: skip
    log = synthesize_log(strange, 500, RandomSource(6))
    assert set(log["query"]) == {"weather", "news", "cats"}
    assert log["url"].count() == 0


def walked(restart: int, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Give sessions of five queries, as the walks have them before rows are shuffled."""
    monkeypatch.setattr(synthetic, "_RESTART", restart)
    names, weight = synthetic._weighted_queries(TABLES)
    one = np.zeros(len(names), np.int64)
    anywhere = synthetic._Choices.of(one, np.arange(len(names)), weight, 1)
    steps = synthetic._build_steps(TABLES, names)
    query = synthetic._sample_walks(np.full(20_000, 5), anywhere, steps, RandomSource(7))
    return names.gather(query).to_numpy().reshape(-1, 5).tolist()


def pairs_of(sessions: list[list[str]]) -> Counter[tuple[str, str]]:
    return Counter((one, two) for s in sessions for one, two in pairwise(s))


def test_steps_follow_the_table_and_restart_where_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = walked(0, monkeypatch)
    counts = dict(TABLES["queries"].rows())
    assert chi_square(Counter(s[0] for s in sessions), counts) < 12
    pairs = pairs_of(sessions)
    known = {(one, two): n for one, two, n in TABLES["transitions"].rows()}
    assert {pair for pair in pairs if pair[0] != "cats"} == known.keys()
    weather = {pair: n for pair, n in pairs.items() if pair[0] == "weather"}
    assert chi_square(weather, {p: n for p, n in known.items() if p[0] == "weather"}) < 12
    # Nothing follows cats in the table, so all that follows was drawn by the counts of queries.
    assert chi_square({two: n for (one, two), n in pairs.items() if one == "cats"}, counts) < 12


def test_some_steps_go_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = pairs_of(walked(25, monkeypatch))
    news = {two: n for (one, two), n in pairs.items() if one == "news"}
    # Three of four go to the one next query; of the rest, six of ten go there too.
    assert chi_square(news, {"weather": 750 + 150, "news": 75, "cats": 25}) < 12


def test_shares_follow_the_noisy_counts() -> None:
    no_steps = {name: TABLES[name] for name in ("queries", "clicks")}
    log = synthesize_log(no_steps, 5000, RandomSource(8))
    counts = dict(TABLES["queries"].rows())
    assert chi_square(Counter(log["query"]), counts) < 12
    news = log.filter(query="news")
    assert chi_square(Counter(news["url"].drop_nulls()), {"n1": 90, "n2": 10}) < 12
    clicked = Counter(news["url"].is_not_null())
    assert chi_square(clicked, {True: 50, False: 50}) < 12
    assert chi_square(Counter(log["rank"].drop_nulls()), synthetic._RANKS) < 28


def test_one_query_alone() -> None:
    log = synthesize_log(
        {"queries": pl.DataFrame({"query": ["x"], "count": [1]})}, 50, RandomSource(9)
    )
    assert set(log["query"]) == {"x"}
    assert log["url"].dtype == pl.String
    assert log["url"].count() == log["rank"].count() == 0


def test_empty_tables_are_like_missing_ones() -> None:
    empty = {name: table.clear() for name, table in TABLES.items()} | {"queries": TABLES["queries"]}
    missing = {"queries": TABLES["queries"]}
    one, two = (synthesize_log(tables, 50, RandomSource(10)) for tables in (empty, missing))
    assert one.equals(two)


def test_counts_that_noise_made_negative_are_never_drawn() -> None:
    queries = pl.DataFrame({"query": ["a", "b", "c"], "count": [5, 0, -3]})
    log = synthesize_log({"queries": queries}, 300, RandomSource(11))
    assert set(log["query"]) == {"a"}


def test_large_counts() -> None:
    queries = pl.DataFrame({"query": ["a", "b"], "count": [2**60, 2**60]})
    log = synthesize_log({"queries": queries}, 2000, RandomSource(12))
    assert chi_square(Counter(log["query"]), {"a": 1, "b": 1}) < 12


def test_seeds() -> None:
    one, two, three = (synthesize_log(TABLES, 100, RandomSource(seed)) for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(three)
    open_one, open_two = (synthesize_log(TABLES, 100, RandomSource()) for _ in range(2))
    assert set(open_one["user"]).isdisjoint(open_two["user"])


@pytest.mark.parametrize("users", [0, -1])
def test_no_users(users: int) -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        synthesize_log(TABLES, users, RandomSource())


@pytest.mark.parametrize("counts", [[], [0, -4]])
def test_nothing_released(counts: list[int]) -> None:
    names = pl.Series("query", ["a", "b"][: len(counts)], pl.String)
    table = pl.DataFrame({"query": names, "count": pl.Series(counts, dtype=pl.Int64)})
    for tables in ({"queries": table}, {}):
        with pytest.raises(InputError, match="larger epsilon"):
            synthesize_log(tables, 5, RandomSource())


def test_a_million_rows_take_no_loop_over_rows() -> None:
    size = 30_000
    names = pl.select(query=pl.format("query {}", pl.int_range(size)))
    queries = names.with_columns(count=1_000_000 // (pl.int_range(size) + 10))
    steps = queries.with_columns(next=pl.col("query").reverse())
    clicks = queries.with_columns(url=pl.format("http://{}.example", "query"))
    tables = {"queries": queries, "clicks": clicks, "transitions": steps}
    with python_calls() as made:
        log = synthesize_log(tables, 56_000, RandomSource())
    assert log.height > 1_000_000
    assert len(made) < 200_000  # a tenth of that


def test_words_for_the_card() -> None:
    assert "no user of it is a person" in SYNTHESIS_NOTE
    facts = public_constants()
    assert all(isinstance(says, str) and says for says in facts.values())
    assert facts["days"].startswith("90 days from 2000-01-01")
