"""The relational steps, each against a plain slow version of itself."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.engine.operations import (
    count_rows,
    count_users_by_key,
    filter_keys,
    sample_users,
    shuffle_rows,
    unique_users,
    values_of,
)

Row = tuple[str, str, str | None]
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"), st.sampled_from("xyz"), st.none() | st.sampled_from("uvw")
    ),
    max_size=40,
)
SCHEMA = {"user": pl.String, "query": pl.String, "url": pl.String}


def table(rows: list[Row], encoded: bool = False) -> pl.LazyFrame:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row").lazy()
    return frame.with_columns(pl.all().cast(pl.Categorical)) if encoded else frame


def slow_keys(rows: list[Row], width: int, at_least: int) -> dict[tuple[str, ...], int]:
    users = defaultdict(set)
    for user, *key in rows:
        if None not in key[:width]:
            users[tuple(key[:width])].add(user)
    return {key: len(who) for key, who in users.items() if len(who) >= at_least}


@given(ROWS, st.integers(1, 7), st.sampled_from([1, 2]), st.booleans())
def test_keys_with_users(rows: list[Row], at_least: int, width: int, encoded: bool) -> None:
    keys = ["query", "url"][:width]
    found = count_users_by_key(table(rows, encoded), keys, at_least)
    plain = found.with_columns(pl.col(keys).cast(pl.String)).select(*keys, "users").rows()
    assert len(plain) == found.height
    assert {tuple(key): users for *key, users in plain} == slow_keys(rows, width, at_least)


@given(ROWS, st.sets(st.sampled_from("xyz")))
def test_keep(rows: list[Row], wanted: set[str]) -> None:
    kept = filter_keys(
        table(rows), pl.DataFrame({"query": sorted(wanted)}, {"query": pl.String}), ["query"]
    )
    expected = Counter(row for row in rows if row[1] in wanted)
    assert Counter(kept.collect().rows()) == expected
    assert count_rows(kept) == expected.total()


@given(ROWS, st.booleans())
def test_distinct_users(rows: list[Row], encoded: bool) -> None:
    assert unique_users(table(rows, encoded)).to_list() == sorted({row[0] for row in rows})


@given(ROWS, st.none() | st.integers(0, 9))
def test_permute_keeps_every_row(rows: list[Row], seed: int | None) -> None:
    mixed = shuffle_rows(table(rows), RandomSource(seed)).collect()
    assert Counter(mixed.rows()) == Counter(rows)


def test_permute_mixes_and_keeps_rows_whole() -> None:
    numbers = pl.DataFrame({"a": range(1000), "b": range(1000)}).lazy()
    mixed = shuffle_rows(numbers, RandomSource()).collect()
    assert mixed["a"].to_list() == mixed["b"].to_list() != list(range(1000))
    assert mixed.rows() != shuffle_rows(numbers, RandomSource()).collect().rows()


def test_permute_puts_the_first_row_anywhere() -> None:
    numbers = pl.DataFrame({"a": range(4)}).lazy()
    chance = RandomSource(seed=1)
    places = Counter(
        shuffle_rows(numbers, chance).collect()["a"].to_list().index(0) for _ in range(800)
    )
    assert all(140 < places[place] < 260 for place in range(4))  # 200 expected


@given(ROWS.filter(bool), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_sample_keeps_whole_users(rows: list[Row], size: int, seed: int, encoded: bool) -> None:
    everyone = {row[0] for row in rows}
    kept = sample_users(table(rows, encoded), size, RandomSource(seed)).collect()
    plain = kept.with_columns(pl.all().cast(pl.String)).rows()
    chosen = {row[0] for row in plain}
    assert len(chosen) == min(size, len(everyone))
    assert Counter(plain) == Counter(row for row in rows if row[0] in chosen)


@pytest.mark.parametrize("lines_of_a", [1, 200])
def test_sample_is_uniform_over_users_however_much_they_wrote(lines_of_a: int) -> None:
    rows = [("a", "x", None)] * lines_of_a + [(user, "x", None) for user in "bcde"]
    chance = RandomSource(seed=3)
    picked = Counter(
        user
        for _ in range(500)
        for user in sample_users(table(rows), 2, chance).collect()["user"].unique()
    )
    assert all(150 < picked[user] < 250 for user in "abcde")  # 200 expected


@given(ROWS, st.booleans())
def test_values_of_a_column_each_once(rows: list[Row], encoded: bool) -> None:
    frame = table(rows, encoded)
    for place, name in enumerate(SCHEMA):
        found = values_of(frame, name)
        assert found.schema == frame.select(name).collect_schema()
        values = found[name].cast(pl.String).to_list()
        assert sorted(values) == sorted({row[place] for row in rows if row[place] is not None})
