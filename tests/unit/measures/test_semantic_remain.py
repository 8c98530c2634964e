"""What remains of users' categories: worked by hand, against the plain definition, at its edges."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_logs import Sent, log_of, original_of, release_of, write_ruler

from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.measures.semantic_remain import SemanticRemain, remaining_shares
from queryveil.testing import KitCheck, MeasureCase, measure_checks


@pytest.fixture(scope="module")
def ruler(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_ruler(tmp_path_factory.mktemp("ruler"))


def remain(ruler: str, before: Sent, after: Sent, line: dict | None = None, **more: object) -> dict:
    log = log_of(before)
    measure = SemanticRemain(taxonomy=ruler, **(line or {"level": 1}))
    return measure.compute(original_of(log, ruler), release_of(log, after, **more))


counts = st.dictionaries(st.integers(0, 4), st.integers(1, 9), min_size=1, max_size=5)
tables = st.dictionaries(st.sampled_from("abcdef"), counts, max_size=6)


def frame(table: dict[str, dict[int, int]]) -> pl.DataFrame:
    rows = [(user, category, n) for user, own in table.items() for category, n in own.items()]
    kinds = {"user": pl.String, "category": pl.Int32, "count": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@given(tables, tables)
def test_it_is_the_definition(before: dict, after: dict) -> None:
    found = dict(remaining_shares(frame(before), frame(after)).rows())
    assert found.keys() == before.keys()
    for user, own in before.items():
        rho = sum(min(n, after.get(user, {}).get(category, 0)) for category, n in own.items())
        assert found[user] == pytest.approx(rho / sum(own.values()), abs=1e-12)


def test_levels_worked_by_hand(ruler: str) -> None:
    before = {"a": ["tennis", "tennis", "music"], "b": ["asthma"]}
    after = {"a": ["swimming", "tennis", "theatre"], "b": ["tennis"]}
    found = remain(ruler, before, after)
    # Level 1: a kept 2 Sports and 1 Arts of 3, b nothing. Level 2: a kept 1 Tennis of 3.
    assert found.value == 0.5
    assert found.details["levels"] == {
        "1": 0.5,
        "2": pytest.approx(1 / 6, abs=1e-6),
    } | dict.fromkeys("345")
    assert (found.counts["users"], found.counts["left_out"], found.baselines) == (2, 0, {})
    assert "level 1" in found.basis
    assert remain(ruler, before, after, {"level": 2}).value == pytest.approx(1 / 6, abs=1e-6)


def test_the_same_log_remains_and_an_empty_one_does_not(ruler: str) -> None:
    before = {"a": ["tennis", "music"], "b": ["asthma", "zzz"]}
    assert remain(ruler, before, before).details["levels"]["2"] == 1
    assert remain(ruler, before, {}).value == 0


def test_more_of_a_category_than_before_adds_nothing(ruler: str) -> None:
    assert remain(ruler, {"a": ["tennis", "music"]}, {"a": ["tennis"] * 9}).value == 0.5


def test_who_has_no_category_is_left_out(ruler: str) -> None:
    found = remain(ruler, {"a": ["tennis"], "b": ["zzz"]}, {"a": ["tennis"], "b": ["music"]})
    assert (found.value, found.counts["users"], found.counts["left_out"]) == (1, 1, 1)


def test_the_worst_case_of_the_paper_stands_beside(ruler: str) -> None:
    assert remain(ruler, {"a": ["tennis"]}, {"a": ["tennis"]}, k=4).baselines["worst_case"] == 0.25


def test_refusals(ruler: str) -> None:
    sent = {"a": ["tennis"]}
    with pytest.raises(InputError, match="level 3"):
        remain(ruler, sent, sent, {"level": 3})
    with pytest.raises(UsageError, match="no private mapping"):
        remain(ruler, sent, sent, mapping=None)
    with pytest.raises(UsageError, match="no users' logs"):
        remain(ruler, sent, sent, log=None)
    with pytest.raises(ParameterError):
        SemanticRemain(level=31)


def test_random_groups_note_the_floor(ruler: str) -> None:
    """With one group of all users chance has no part in it: everybody gets the same prototype."""
    before = {"a": ["tennis"] * 4, "b": ["tennis"] * 3 + ["music"]}
    known = {
        "mapping": pl.DataFrame({"user": ["a", "b"], "pseudonym": ["p-a", "p-b"], "group": [0, 0]}),
        "method": "string-microaggregation",
        "k": 2,
    }
    found = remain(ruler, before, before, {"level": 2}, **known)
    # Each gives 2 of her 4, the most repeated first: 4 times tennis. So b lost her music.
    assert found.baselines["random_groups"] == pytest.approx((1 + 3 / 4) / 2)
    assert "1 random groups" in found.details["random_groups_note"]
    assert "random_groups" not in remain(ruler, before, before).baselines


def test_how_deep_concepts_are(ruler: str) -> None:
    found = remain(ruler, {"a": ["tennis", "music"], "b": ["asthma"]}, {})
    assert found.details["reached"]["1"] == 1
    assert found.details["reached"]["5"] == 0


def test_the_usual_level_is_one_that_most_reach(ruler: str) -> None:
    before = {"a": ["tennis", "music"], "b": ["asthma"]}
    found = remain(ruler, before, before, {"level": "auto"})
    assert "level 2" in found.basis  # the paths have two levels
    assert found.details["reached"] == {"1": 1, "2": 1, "3": 0, "4": 0, "5": 0}


CASES = [
    MeasureCase("one of two", {"a": ["tennis", "music"]}, {"a": ["tennis"] * 9}, 0.5),
]


@pytest.mark.parametrize("check", measure_checks(SemanticRemain(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
