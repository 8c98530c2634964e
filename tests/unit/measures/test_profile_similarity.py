"""Profiles that an engine could build: worked by hand, against the definition, at its edges."""

from __future__ import annotations

from math import sqrt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_logs import Sent, log_of, original_of, release_of, write_ruler

from queryveil.errors import InputError, UsageError
from queryveil.measures.profile_similarity import ProfileSimilarity, profile_cosines
from queryveil.testing import KitCheck, MeasureCase, measure_checks


@pytest.fixture(scope="module")
def ruler(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_ruler(tmp_path_factory.mktemp("ruler"))


def near(ruler: str, before: Sent, after: Sent, **more: object) -> dict:
    log = log_of(before)
    return ProfileSimilarity(taxonomy=ruler).compute(
        original_of(log, ruler), release_of(log, after, **more)
    )


counts = st.dictionaries(st.integers(0, 4), st.integers(1, 9), min_size=1, max_size=5)
tables = st.dictionaries(st.sampled_from("abcdef"), counts, max_size=6)


def frame(table: dict[str, dict[int, int]]) -> pl.DataFrame:
    rows = [(user, concept, n) for user, own in table.items() for concept, n in own.items()]
    kinds = {"user": pl.String, "concept": pl.Int32, "count": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def plain_cosine(p: dict[int, int], q: dict[int, int]) -> float:
    if not q:
        return 0.0
    lengths = [sqrt(sum(n * n for n in side.values())) for side in (p, q)]
    return sum(n * q.get(i, 0) for i, n in p.items()) / (lengths[0] * lengths[1])


@given(tables, tables)
def test_it_is_the_definition(before: dict, after: dict) -> None:
    found = dict(profile_cosines(frame(before), frame(after)).rows())
    assert found.keys() == before.keys()
    for user, own in before.items():
        assert found[user] == pytest.approx(plain_cosine(own, after.get(user, {})), abs=1e-12)


def test_values_worked_by_hand(ruler: str) -> None:
    before = {"a": ["tennis"] * 3 + ["music"] * 4, "b": ["asthma"], "c": ["zzz"]}
    found = near(ruler, before, {"a": ["tennis", "zzz"], "b": ["asthma"] * 5, "c": ["tennis"]})
    assert found.value == 0.8  # a: 3/5, b: 1
    assert (found.counts["users"], found.counts["left_out"], found.counts["without"]) == (2, 1, 0)
    # The whole log has 3, 4, 1: a has 25 / (5 sqrt 26), b 1 / sqrt 26.
    assert found.baselines["same_for_all"] == pytest.approx(3 / sqrt(26), abs=1e-6)
    assert "read from their texts" in found.basis


def test_the_same_log_is_near_and_an_empty_one_is_not(ruler: str) -> None:
    before = {"a": ["tennis", "music"], "b": ["asthma", "tennis"]}
    assert near(ruler, before, before).value == 1
    found = near(ruler, before, {})
    assert (found.value, found.counts["without"]) == (0, 2)


def test_refusals(ruler: str) -> None:
    sent = {"a": ["tennis"]}
    with pytest.raises(InputError, match="no user of this log"):
        near(ruler, {"a": ["zzz"]}, sent)
    with pytest.raises(UsageError, match="no private mapping"):
        near(ruler, sent, sent, mapping=None)
    with pytest.raises(UsageError, match="no users' logs"):
        near(ruler, sent, sent, log=None)


CASES = [
    # The cosine of (3, 4) and (1, 0).
    MeasureCase("3 of 5", {"a": ["tennis"] * 3 + ["music"] * 4}, {"a": ["tennis"]}, 0.6),
]


@pytest.mark.parametrize("check", measure_checks(ProfileSimilarity(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
