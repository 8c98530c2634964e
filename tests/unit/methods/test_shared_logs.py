"""Shared logs: which texts can be released, what stands for a query, and how rows are divided."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import queryveil as qv
from queryveil.concepts.mapping.options import MappingOptions
from queryveil.core.randomness import RandomSource
from queryveil.engine.operations import unique_queries
from queryveil.errors import InputError
from queryveil.methods.microaggregation.apportionment import (
    largest_remainder,
    spread_evenly,
    systematic_rounding,
)
from queryveil.methods.microaggregation.emission import apportion_clicks
from queryveil.methods.microaggregation.queries import user_query_pairs
from queryveil.methods.microaggregation.senders import sole_senders
from queryveil.methods.microaggregation.shared_logs import composition
from queryveil.methods.microaggregation.shared_logs.composition import compose_logs
from queryveil.methods.microaggregation.shared_logs.rows import find_rows
from queryveil.methods.microaggregation.shared_logs.texts import SentQueries, Texts, find_texts

MAPPER = MappingOptions("wordnet").mapper()


def log_of(sent: dict[str, list[str]]) -> qv.QueryLog:
    return qv.QueryLog.from_rows(
        [(user, query, "2006-03-01", None, None) for user in sent for query in sent[user]]
    )


def read(sent: dict[str, list[str]], min_users: int = 2) -> tuple[SentQueries, Texts]:
    log = log_of(sent)
    mapping = MAPPER.map(unique_queries(log.local_frame))
    pairs = user_query_pairs(log, pl.Series(sorted(sent)), mapping)
    queries = SentQueries(mapping, pairs, len(sent))
    return queries, find_texts(queries, MAPPER, min_users)


def rows_of(sent: dict[str, list[str]], user: str) -> list[tuple[str | None, str | None]]:
    """Return the text of each row of a user, and the concept of its cell, by its label."""
    queries, texts = read(sent)
    rows = find_rows(queries.mapping, texts).of_users(queries)
    taxonomy, mine = MAPPER.taxonomy, rows.user == sorted(sent).index(user)
    return sorted(
        (
            texts.names[text] if text >= 0 else None,
            taxonomy.label(cell) if cell < len(taxonomy) else None,
        )
        for text, cell in zip(rows.text[mine].tolist(), rows.cell[mine].tolist(), strict=True)
    )


def test_texts_are_queries_and_runs_of_words_of_enough_users() -> None:
    sent = {
        "a": ["cheap hotels in paris", "Paris!"],
        "b": ["cheap hotels in paris france"],
        "c": ["hotels in rome", "paris", "paris"],
    }
    _, texts = read(sent)
    found = dict(zip(texts.names.to_list(), texts.users.tolist(), strict=True))
    assert found == {
        "cheap": 2, "hotels": 3, "paris": 3, "cheap hotels": 2,
        "hotels in paris": 2, "cheap hotels in paris": 2,
    }  # fmt: skip
    assert not texts.is_query.any()  # "Paris!" is another query than "paris"


def test_a_query_is_one_only_if_enough_users_sent_it_as_a_whole() -> None:
    _, texts = read({"a": ["red shoes"], "b": ["red shoes"], "c": ["red shoes sale"]})
    kinds = dict(zip(texts.names.to_list(), texts.is_query.tolist(), strict=True))
    assert kinds == {"red shoes": True, "red": False, "shoes": False}
    users = dict(zip(texts.names.to_list(), texts.users.tolist(), strict=True))
    assert users["red shoes"] == 3


@given(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(
            st.lists(st.sampled_from(["red", "car", "of", "x9"]), min_size=1, max_size=6).map(
                " ".join
            ),
            min_size=1,
            max_size=4,
        ),
        min_size=2,
    ),
    st.integers(1, 3),
)
def test_every_part_is_counted_as_by_hand(sent: dict[str, list[str]], min_users: int) -> None:
    try:
        _, texts = read(sent, min_users)
    except InputError:
        texts = None
    holders: dict[str, set[str]] = {}
    for user, queries in sent.items():
        for query in queries:
            words = query.split()
            runs = {
                " ".join(words[i : i + n])
                for n in range(1, 5)
                for i in range(len(words) - n + 1)
                if words[i] != "of" and words[i + n - 1] != "of"
            }
            for run in {*runs, query}:
                holders.setdefault(run, set()).add(user)
    senders = Counter(query for queries in sent.values() for query in set(queries))
    expected = {
        run: len(users)
        for run, users in holders.items()
        if len(users) >= min_users
        and (
            senders[run] >= min_users
            or (len(run.split()) <= 4 and not {run.split()[0], run.split()[-1]} & {"of"})
        )
    }
    found = (
        {} if texts is None else dict(zip(texts.names.to_list(), texts.users.tolist(), strict=True))
    )
    assert found == expected


def test_a_frequent_query_is_its_own_row() -> None:
    sent = {"a": ["paris hotels"], "b": ["paris hotels"]}
    assert rows_of(sent, "a") == [("paris hotels", None)]


def test_a_rare_query_is_the_parts_that_mean_its_concepts() -> None:
    sent = {"a": ["tennis near lyon"], "b": ["tennis"], "c": ["lyon zzqx"], "d": ["zzqx"]}
    assert [text for text, _ in rows_of(sent, "a")] == ["lyon", "tennis"]
    assert ("zzqx", None) in rows_of(sent, "c")


def test_a_concept_without_a_text_is_stood_for_by_a_near_one() -> None:
    sent = {"a": ["poodle"], "b": ["dog"], "c": ["dog"], "d": ["tennis"], "e": ["tennis"]}
    assert rows_of(sent, "a") == [(None, "dog")]


def test_a_name_inside_of_queries_is_no_text() -> None:
    sent = {user: [f"gertrud schmitz {word}"] for user, word in zip("abc", "xyz", strict=True)}
    try:
        _, texts = read(sent)
    except InputError:
        return
    assert "gertrud schmitz" not in texts.names.to_list()


def test_nothing_that_can_be_released_is_an_error() -> None:
    with pytest.raises(InputError, match="no text was sent by enough users"):
        read({"a": ["poodle"], "b": ["tennis"]})


def test_shared_logs_mark_as_many_rows_as_queries_as_the_log_has() -> None:
    sent = {f"u{n}": ["tennis"] * 3 + [f"tennis {n}x"] * 3 for n in range(4)}
    queries, texts = read(sent)
    rows = compose_logs(queries, texts, np.array([0, 0, 1, 1]), RandomSource(1))
    kinds = rows.filter(pl.col("query") == "tennis")["kind"].cast(pl.String).to_list()
    assert Counter(kinds) == {"query": 6, "part": 6}  # of 12 rows, in two groups of two users


def test_logs_that_are_composed_in_parts_keep_groups_apart(monkeypatch) -> None:
    sent = {f"u{n}": [("tennis", "opera")[n % 2]] * 3 for n in range(12)}
    queries, texts = read(sent)
    group = np.array([5, 4, 3, 2, 1, 0] * 2)  # the users of a group are all alike
    monkeypatch.setattr(composition, "_USERS", 4)
    rows = composition.compose_logs(queries, texts, group, RandomSource(1))
    logs = rows.group_by("group").agg(pl.col("query").cast(pl.String).unique()).sort("group")
    assert logs.rows() == [(g, [("opera", "tennis")[g % 2]]) for g in range(6)]


def test_sole_senders_are_members_whom_nobody_else_of_the_group_matches() -> None:
    log = log_of({"a": ["red shoes", "car"], "b": ["shoes"], "c": ["car", "red"]})
    members = pl.DataFrame({"user": ["a", "b", "c"], "group": [0, 0, 1]}).cast(
        {"user": log.local_frame.collect_schema()["user"]}
    )
    texts = pl.DataFrame(
        {"group": [0, 0, 0, 0, 1, 1], "query": ["shoes", "red", "car", "bus", "red", "shoes"]}
    )
    assert sole_senders(texts, members, log.local_frame).tolist() == [-1, 0, 0, -1, 2, -1]


def test_clicks_have_the_proportions_of_the_log() -> None:
    rows = [(f"u{n}", "tennis", "2006-03-01", 1 + n % 2, "http://a.example") for n in range(8)]
    rows += [(f"v{n}", "tennis", "2006-03-01", None, None) for n in range(4)]
    rows += [("w", "tennis", "2006-03-01", 1, "http://rare.example")] * 4
    log = qv.QueryLog.from_rows(rows)
    texts = pl.DataFrame({"group": [0] * 16 + [1] * 5, "query": ["tennis"] * 21,
                          "kind": ["query"] * 16 + ["part"] * 5})  # fmt: skip
    clicks = apportion_clicks(log.local_frame, texts, 3, RandomSource(1))
    assert Counter(clicks.select("rank", "url").rows()) == {
        (1, "http://a.example"): 4, (2, "http://a.example"): 4, (None, None): 13,
    }  # fmt: skip
    assert clicks["url"].to_list()[16:] == [None] * 5
    assert clicks["click"].sum() == 12  # the rare ones too, which are blank


@given(st.lists(st.floats(0, 9), min_size=1, max_size=9), st.integers(0, 40))
def test_largest_remainders_sum_up(shares: list[float], total: int) -> None:
    values = np.array(shares) + 1e-3
    values *= total / values.sum()
    rounded = largest_remainder(values, total)
    assert rounded.sum() == total
    assert (np.abs(rounded - values) < 1 + 1e-6).all()


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 10**6))
def test_systematic_rounding_sums_up_in_every_segment(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    segment = np.repeat(np.arange(len(sizes)), sizes)
    shares, totals = rng.random(len(segment)) + 0.01, rng.integers(0, 20, len(sizes))
    copies = systematic_rounding(shares, segment, totals, RandomSource(seed))
    assert (np.bincount(segment, copies, len(sizes)) == totals).all()
    exact = shares / np.bincount(segment, shares)[segment] * totals[segment]
    assert (np.abs(copies - exact) < 1 + 1e-6).all()


def test_systematic_rounding_has_no_bias() -> None:
    shares, segment = np.array([0.1, 0.3, 0.6]), np.zeros(3, np.int64)
    drawn = [
        systematic_rounding(shares, segment, np.array([1]), RandomSource(n)) for n in range(2000)
    ]
    np.testing.assert_allclose(np.mean(drawn, axis=0), shares, atol=0.04)


def test_an_even_order_has_every_candidate_in_every_stretch() -> None:
    copies = np.array([30, 20, 10])
    order = spread_evenly(copies, np.zeros(3, np.int64), RandomSource(3))
    assert np.bincount(order).tolist() == copies.tolist()
    for begin in range(0, 60, 12):
        counted = np.bincount(order[begin : begin + 12], minlength=3)
        assert (np.abs(counted - [6, 4, 2]) <= 1).all()
