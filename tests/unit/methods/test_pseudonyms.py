"""Pseudonyms: one for each unit, new each time, derived from nothing."""

from __future__ import annotations

import polars as pl

from queryveil.core.randomness import RandomSource
from queryveil.methods.publication import pseudonymize

ROWS = pl.DataFrame(
    {"user": ["b", "a", "b", "a", "c"], "session": [2, 1, 3, 1, 4], "query": list("vwxyz")}
)


def test_one_for_each_user() -> None:
    rows, mapping = pseudonymize(ROWS, "user", RandomSource())
    assert rows["query"].to_list() == list("vwxyz")
    assert rows.columns == ROWS.columns
    names = dict(mapping.rows())
    assert names.keys() == {"a", "b", "c"}
    assert len(set(names.values())) == 3
    assert rows["user"].to_list() == [names[user] for user in ROWS["user"]]


def test_one_for_each_session() -> None:
    rows, mapping = pseudonymize(ROWS, "session", RandomSource())
    b, a, other_b, again, c = rows["user"]
    assert a == again
    assert len({a, b, other_b, c}) == 4
    assert sorted(mapping.rows()) == sorted([("a", a), ("b", b), ("b", other_b), ("c", c)])


def test_encoded_users_are_named_as_texts() -> None:
    encoded = ROWS.with_columns(pl.col("user").cast(pl.Categorical))
    rows, mapping = pseudonymize(encoded, "user", RandomSource(seed=4))
    plain, same = pseudonymize(ROWS, "user", RandomSource(seed=4))
    assert mapping.schema["user"] == pl.String
    assert mapping.rows() == same.rows()
    assert rows["user"].cast(pl.String).to_list() == plain["user"].to_list()


def test_two_runs_share_no_name() -> None:
    users = pl.DataFrame({"user": [f"u{n}" for n in range(500)]})
    (one, _), (two, _) = (pseudonymize(users, "user", RandomSource()) for _ in range(2))
    assert set(one["user"]).isdisjoint(two["user"])
    order = sorted(range(500), key=one["user"].to_list().__getitem__)
    assert order != list(range(500))  # the order of names tells nothing of the order of users
