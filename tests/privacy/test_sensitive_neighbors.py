"""Dropping sensitive topics leaves neighbors neighbors, whatever relation a promise is about."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryveil as qv
from queryveil.log.sensitive import drop_topics

LINES = {
    "semantic-replacement": "semantic-replacement:domain=sport:max-phrases-per-user=3",
    "profile-first": "profile-first:domain=A:max-phrases-per-user=3",
    "concept-histogram": "concept-histogram:domain=sport:max-phrases-per-user=3",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("queries", [("tennis", "golf"), ("herpes", "county jail")])
def test_who_sent_sensitive_queries_alone_is_still_there(
    line: str, queries: tuple[str, str], tmp_path: Path
) -> None:
    """Two logs of the same users: how many are released tells nothing about one of them."""
    rows = [(f"u{n}", query, "2006-03-01 10:00:00", None, None)
            for n in range(12) for query in (("tennis", "golf") if n else queries)]  # fmt: skip
    log = qv.QueryLog.from_rows(rows)
    assert qv.parse_method(line).guarantee().relation == "replace-one"
    release = qv.anonymize(log, line, ledger=str(tmp_path), sensitive="drop")
    names = release.log.collect()["user"]
    assert names.n_unique() == 12
    assert names.value_counts()["count"].n_unique() == 1


TEXTS = st.sampled_from(
    ["tennis", "herpes", "gay church", "county jail", "weather", "church street"]
)
PEOPLE = st.dictionaries(st.sampled_from("abcdef"), st.lists(TEXTS, min_size=1, max_size=4),
                         min_size=2, max_size=6)  # fmt: skip


def kept(people: dict[str, list[str]], users_stay: bool) -> dict[str, list[str]]:
    rows = [(user, query, None, None, None) for user, log in people.items() for query in log]
    log = drop_topics(qv.QueryLog.from_rows(rows), "drop:health,crime", users_stay=users_stay)
    texts = log.local_frame.select(pl.col("user", "query").cast(pl.String)).collect()
    left: dict[str, list[str]] = {}
    for user, query in texts.rows():
        left.setdefault(user, []).append(query)
    return left


@settings(max_examples=25, deadline=None)
@given(PEOPLE, st.booleans())
def test_the_rows_of_a_user_decide_alone_what_is_left_of_them(
    people: dict[str, list[str]], users_stay: bool
) -> None:
    """Without one user the rows of the others are as before: neighbors stay neighbors."""
    whole = kept(people, users_stay)
    gone = next(iter(people))
    others = kept({user: log for user, log in people.items() if user != gone}, users_stay)
    assert {user: log for user, log in whole.items() if user != gone} == others
    if users_stay:
        assert set(whole) == set(people)


def test_a_log_of_sensitive_queries_alone(tmp_path: Path) -> None:
    """A plain method refuses, and one that spends does not tell: it releases nothing."""
    path = tmp_path / "log.csv"
    path.write_text("user,query\n" + "".join(f"u{n},herpes\n" for n in range(30)))
    log = qv.read_log(path)
    with pytest.raises(qv.InputError, match="sensitive topic"):
        qv.anonymize(log, "frequent-queries:min-users=2:min-click-users=2", sensitive="drop")
    line = "dp-statistics:epsilon=30:delta=1e-4"
    release = qv.anonymize(log, line, sensitive="drop")
    assert release.tables["queries"].height == 0
    assert qv.anonymize(log, line).tables["queries"].height == 1
