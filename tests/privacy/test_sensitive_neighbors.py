"""Dropping sensitive topics leaves neighbors neighbors, whatever relation a promise is about."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from screened_users import (
    LINES,
    check_all_users_are_there,
    check_each_user_decides_alone,
    log_with_one_user_of,
    people_who_send,
)

import queryveil as qv
from queryveil.log.sensitive import drop_topics


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("queries", [("tennis", "golf"), ("herpes", "county jail")])
def test_who_sent_sensitive_queries_alone_is_still_there(
    line: str, queries: tuple[str, str], tmp_path: Path
) -> None:
    """Two logs of the same users: how many are released tells nothing about one of them."""
    log = log_with_one_user_of(queries)
    assert qv.parse_method(line).guarantee().relation == "replace-one"
    release = qv.anonymize(log, line, ledger=str(tmp_path), sensitive="drop")
    check_all_users_are_there(release)


TEXTS = ["tennis", "herpes", "gay church", "county jail", "weather", "church street"]


@settings(max_examples=25, deadline=None)
@given(people_who_send(TEXTS), st.booleans())
def test_the_rows_of_a_user_decide_alone_what_is_left_of_them(
    people: dict[str, list[str]], users_stay: bool
) -> None:
    """Without one user the rows of the others are as before: neighbors stay neighbors."""
    screen = partial(drop_topics, setting="drop:health,crime", users_stay=users_stay)
    check_each_user_decides_alone(people, screen, users_stay)


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
