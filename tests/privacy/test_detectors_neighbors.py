"""What detectors flag leaves neighbors neighbors, whatever relation a promise is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_shares import in_shares
from screened_users import (
    LINES,
    check_all_users_are_there,
    check_each_user_decides_alone,
    log_with_one_user_of,
    people_who_send,
)

import queryveil as qv
from queryveil.log.detectors import DETECTORS, Detector, drop_detected


def _flag(texts: pl.Series) -> pl.Series:
    if "crash" in texts.to_list():
        raise ValueError("a text that the detector cannot read")
    return texts.str.contains("member")


MEMBER = Detector("member", "number of a member", "1", _flag)
SLOTS = {name: LINES[name] for name in ("semantic-replacement", "profile-first")}


@pytest.fixture(autouse=True, scope="module")
def added() -> Iterator[None]:
    with DETECTORS.adding("member", MEMBER):
        yield


@pytest.mark.parametrize("line", SLOTS.values(), ids=SLOTS)
@pytest.mark.parametrize("queries", [("tennis", "golf"), ("member 7", "crash")])
def test_who_sent_flagged_queries_alone_is_still_there(
    line: str, queries: tuple[str, str], tmp_path: Path
) -> None:
    """Two logs of the same users: how many are released tells nothing about one of them."""
    log = log_with_one_user_of(queries)
    release = qv.anonymize(log, line, ledger=str(tmp_path), detectors="member")
    check_all_users_are_there(release)
    assert any("detectors (member 1)" in text for text in release.guarantee.assumptions)


TEXTS = ["tennis", "member 7", "crash", "weather", "golf"]


@settings(max_examples=25, deadline=None)
@given(people_who_send(TEXTS), st.booleans())
def test_the_rows_of_a_user_decide_alone_what_is_left_of_them(
    people: dict[str, list[str]], users_stay: bool
) -> None:
    """Even if a detector fails on a text of one user, the rows of the others are as before."""
    screen = partial(drop_detected, names=("member",), users_stay=users_stay)
    left = check_each_user_decides_alone(people, screen, users_stay)
    assert not {"member 7", "crash"} & {query for log in left.values() for query in log}


def test_a_log_of_flagged_queries_alone(tmp_path: Path) -> None:
    """A plain method refuses, and one that spends does not tell: it releases nothing."""
    path = tmp_path / "log.csv"
    path.write_text("user,query\n" + "".join(f"u{n},member 7\n" for n in range(30)))
    log = qv.read_log(path)
    with pytest.raises(qv.InputError, match="no row is left"):
        qv.anonymize(log, "frequent-queries:min-users=2:min-click-users=2", detectors="member")
    line = "dp-statistics:epsilon=30:delta=1e-4"
    assert qv.anonymize(log, line, detectors="member").tables["queries"].height == 0


WORK: dict[str, Callable[..., object]] = {
    "profile": qv.profile,
    "anonymize": lambda log, **more: qv.anonymize(log, "frequent-queries", **more),
    "plan": lambda log, **more: qv.plan(log, "frequent-queries", **more),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_a_cluster_is_refused(work: Callable[..., object]) -> None:
    log = in_shares(qv.QueryLog.from_rows([("u", "golf", None, None, None)]), 2)
    with pytest.raises(qv.UsageError, match="detectors do not run on Spark"):
        work(log, detectors="member")
