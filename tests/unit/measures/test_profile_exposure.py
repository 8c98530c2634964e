"""What released logs tell of users' own queries: PEL by the maximal coupling."""

from __future__ import annotations

from collections import Counter
from math import log2

import polars as pl
import pytest
from hypothesis import given
from risk_logs import Logs, log_of, logs, logs_and_releases, names_of, release_of

from queryveil.errors import UsageError
from queryveil.measures.context import MeasureContext
from queryveil.measures.profile_exposure import ProfileExposure, exposure_levels
from queryveil.testing import KitCheck, MeasureCase, measure_checks

TABLE = [
    ("abcd", "abcd", 100.0, 100.0, 100.0),
    ("abcd", "wxyz", 0.0, 0.0, 0.0),
    ("abcd", "axyz", 40.563906, 25.0, 25.0),
    ("abcd", "abyz", 75.0, 50.0, 50.0),
    ("aabb", "ab", 100.0, 100.0, 100.0),
    ("a", "aaxx", 50.0, 50.0, 100.0),
    ("aa", "x", 0.0, 0.0, 0.0),
    # Y is always a, so it tells nothing: I = 0
    ("aaab", "a", 0.0, 100.0, 38.368855),
]


def frame(sent: Logs) -> pl.DataFrame:
    rows = [(user, *pair) for user, texts in sent.items() for pair in Counter(texts).items()]
    kinds = {"user": pl.String, "text": pl.String, "count": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def value(before: Logs, after: Logs, way: str = "coupling", **more: object) -> dict[str, object]:
    log = log_of(before)
    return ProfileExposure(variant=way).compute(MeasureContext(log), release_of(log, after, **more))


@pytest.mark.parametrize(("was", "now", "coupling", "share", "cover"), TABLE)
def test_values_worked_out_by_hand(
    was: str, now: str, coupling: float, share: float, cover: float
) -> None:
    found = value({"1": list(was)}, {"1": list(now)})
    assert found.value == found.details["coupling"] == pytest.approx(coupling, abs=1e-6)
    assert found.details["share"] == pytest.approx(share)
    assert found.details["cover"] == pytest.approx(cover, abs=1e-3)
    assert value({"1": list(was)}, {"1": list(now)}, "share").value == pytest.approx(share)


def plain(was: list[str], now: list[str]) -> float:
    """Make the whole joint law, cell by cell."""
    p, q = ({text: count / len(log) for text, count in Counter(log).items()} for log in (was, now))
    entropy = -sum(x * log2(x) for x in p.values())
    if len(p) == 1:
        return 100 * q.get(was[0], 0.0)
    common = {text: min(p.get(text, 0), q.get(text, 0)) for text in p | q}
    rest = 1 - sum(common.values())
    told = 0.0
    for x in p:
        for y in q:
            cell = common[x] if x == y else 0.0
            if rest > 1e-12:
                cell += (p[x] - common[x]) * (q[y] - common[y]) / rest
            told += cell * log2(cell / (p[x] * q[y])) if cell > 1e-15 else 0.0
    return 100 * told / entropy


@given(logs_and_releases())
def test_it_is_the_joint_law_cell_by_cell(drawn: tuple[Logs, Logs]) -> None:
    before, after = drawn
    found = exposure_levels(frame(before), frame(after))
    want = [plain(before[user], after[user]) if user in after else 0.0 for user in sorted(before)]
    assert found["user"].to_list() == sorted(before)
    assert found["coupling"].to_list() == pytest.approx(want, abs=1e-6)
    assert found.select(pl.col("coupling", "share", "cover").is_between(0, 100).all()).row(0) == (
        True, True, True,
    )  # fmt: skip


@given(logs)
def test_an_unchanged_log_is_told_whole(before: Logs) -> None:
    found = value(before, before)
    assert (found.value, found.details["share"], found.details["cover"]) == (100.0, 100.0, 100.0)
    assert (found.details["uncertainty"], found.details["above_70"], found.counts["vanished"]) == (
        0.0,
        0.0,
        0,
    )


def test_who_vanished_has_told_nothing() -> None:
    found = value({"1": ["a", "b"], "2": ["a"]}, {"1": ["a", "b"]})
    assert (found.value, found.counts["vanished"], found.counts["users"]) == (50.0, 1, 2)
    assert (found.details["above_70"], found.details["above_80"]) == (0.5, 0.5)
    assert value({"1": ["a"]}, {}).value == 0.0


def test_an_uncertainty_of_just_70_is_not_above_it() -> None:
    texts = ["a"] * 3 + ["x"] * 7
    found = value({"1": ["a"]}, {"1": texts})
    assert (found.details["uncertainty"], found.details["above_70"]) == (70.0, 0.0)


def test_users_who_appear_are_left_out() -> None:
    now = frame({"1": ["a"], "9": ["a"]})
    assert exposure_levels(frame({"1": ["a"]}), now).rows() == [("1", 100.0, 100.0, 100.0)]


def test_several_logs_of_a_user_are_taken_together() -> None:
    log = log_of({"1": ["a", "b"]})
    released = release_of(
        log, {"x": ["a"], "y": ["b"]}, mapping=names_of([("1", "p-x"), ("1", "p-y")])
    )
    assert ProfileExposure().compute(MeasureContext(log), released).value == 100.0


def test_tables_and_strangers_are_refused() -> None:
    log = log_of({"1": ["a"]})
    with pytest.raises(UsageError, match="no logs of users"):
        ProfileExposure().compute(MeasureContext(log), release_of(log, {}, log=None))
    with pytest.raises(UsageError, match="is in the log"):
        ProfileExposure().compute(MeasureContext(log), release_of(log, {"2": ["a"]}))


CASES = [
    MeasureCase("the same log", {"1": list("aabb")}, {"1": list("aabb")}, 100.0),
    MeasureCase("another log", {"1": ["a", "b"]}, {"1": ["c"]}, 0.0),
]


@pytest.mark.parametrize("check", measure_checks(ProfileExposure(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
