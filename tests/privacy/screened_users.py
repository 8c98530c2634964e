"""Logs of the same users, of whom one sends other queries, and what screening leaves of them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from hypothesis import strategies as st

import queryveil as qv

LINES = {
    "semantic-replacement": "semantic-replacement:domain=sport:max-phrases-per-user=3",
    "profile-first": "profile-first:domain=A:max-phrases-per-user=3",
    "concept-histogram": "concept-histogram:domain=sport:max-phrases-per-user=3",
}
People = dict[str, list[str]]
Screen = Callable[[qv.QueryLog], qv.QueryLog]


def log_with_one_user_of(queries: tuple[str, str]) -> qv.QueryLog:
    """Return a log of twelve users, of whom the first sent these queries."""
    rows = [(f"u{n}", query, "2006-03-01 10:00:00", None, None)
            for n in range(12) for query in (("tennis", "golf") if n else queries)]  # fmt: skip
    return qv.QueryLog.from_rows(rows)


def check_all_users_are_there(release: qv.Release) -> None:
    """Check that each of the twelve users has as many rows as the others."""
    names = release.log.collect()["user"]
    assert names.n_unique() == 12
    assert names.value_counts()["count"].n_unique() == 1


def people_who_send(texts: list[str]) -> st.SearchStrategy[People]:
    """Return logs of a few people who send some of the texts."""
    return st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(st.sampled_from(texts), min_size=1, max_size=4),
        min_size=2,
        max_size=6,
    )


def kept(people: People, screen: Screen) -> People:
    """Return what screening leaves of each user's queries."""
    rows = [(user, query, None, None, None) for user, log in people.items() for query in log]
    log = screen(qv.QueryLog.from_rows(rows))
    texts = log.local_frame.select(pl.col("user", "query").cast(pl.String)).collect()
    left: People = {}
    for user, query in texts.rows():
        left.setdefault(user, []).append(query)
    return left


def check_each_user_decides_alone(people: People, screen: Screen, users_stay: bool) -> People:
    """Check that without one user the rows of the others are as before; return what is left."""
    everybody = kept(people, screen)
    gone = next(iter(people))
    others = kept({user: log for user, log in people.items() if user != gone}, screen)
    assert {user: log for user, log in everybody.items() if user != gone} == others
    if users_stay:
        assert set(everybody) == set(people)
    return everybody
