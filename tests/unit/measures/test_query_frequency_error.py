"""Counts of the most frequent queries: worked by hand, against the definition, at its edges."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_logs import Sent, log_of, release_of, table_of

from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures._shared.counts import compare_frequencies, rank_correlation
from queryveil.measures.context import MeasureContext
from queryveil.measures.query_frequency_error import QueryFrequencyError
from queryveil.testing import KitCheck, MeasureCase, measure_checks

BEFORE = {"a": ["tennis"] * 4 + ["music"] * 2, "b": ["asthma", "theatre"]}


def wrong(before: Sent, after: Sent, line: dict | None = None, **more: object) -> dict:
    log = log_of(before)
    return QueryFrequencyError(**(line or {})).compute(
        MeasureContext(log), release_of(log, after, **more)
    )


counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), max_size=6)


def frame(table: dict[str, int]) -> pl.DataFrame:
    kinds = {"text": pl.String, "count": pl.Int64}
    return pl.DataFrame(list(table.items()), schema=kinds, orient="row")


def plain_top(table: dict[str, int], top: int) -> list[str]:
    return sorted(table, key=lambda text: (-table[text], text))[:top]


@given(counts.filter(bool), counts, st.integers(1, 7))
def test_it_is_the_definition(before: dict, after: dict, top: int) -> None:
    found = compare_frequencies(frame(before), frame(after), top)
    first = plain_top(before, top)
    scale = sum(before.values()) / max(sum(after.values()), 1)
    for name, grown in (("error_scaled", scale), ("error_as_given", 1)):
        errors = [abs(after.get(t, 0) * grown - before[t]) / before[t] for t in first]
        assert getattr(found, name) == pytest.approx(sum(errors) / len(first), abs=1e-6)
    common = set(first) & set(plain_top(after, top))
    assert found.overlap == pytest.approx(len(common) / len(first), abs=1e-6)
    assert -1 <= found.rank_correlation <= 1


def plain_ranks(values: list[float]) -> list[float]:
    return [sum(x < v for x in values) + (values.count(v) + 1) / 2 for v in values]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8))
def test_spearman_is_the_correlation_of_ranks(pairs: list) -> None:
    one, two = (np.array(side, np.float64) for side in zip(*pairs, strict=True))
    found = rank_correlation(one, two)
    a, b = plain_ranks(one.tolist()), plain_ranks(two.tolist())
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert found == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-9)
    else:
        assert found == (1.0 if a == b and two.any() else 0.0)


def test_values_worked_by_hand() -> None:
    after = {"a": ["tennis", "music", "music", "new"], "b": []}
    found = wrong(BEFORE, after, {"top_n": 2})
    # 8 lines before, 4 after: tennis 1 becomes 2 of 4, music 2 becomes 4 of 2.
    assert found.details["error_scaled"] == 0.75
    assert found.value == found.details["error_as_given"] == 0.375
    assert (found.details["overlap"], found.details["rank_correlation"], found.counts["top"]) == (
        0.5,
        -1,
        2,
    )
    assert wrong(BEFORE, after, {"top_n": 2, "rescale": "volume"}).value == 0.75


def test_a_log_with_fewer_queries_than_the_top() -> None:
    assert wrong(BEFORE, BEFORE).counts["top"] == 4


def test_a_table_goes_before_a_log() -> None:
    log = log_of(BEFORE)
    table = table_of(log, {"tennis": 4, "music": 2, "asthma": 1, "theatre": 1})
    both = release_of(log, {"a": ["new"]}, tables=table.tables)
    for release in (table, both):
        found = QueryFrequencyError().compute(MeasureContext(log), release)
        assert (found.value, found.details["overlap"], found.details["rank_correlation"]) == (
            0,
            1,
            1,
        )
        assert found.basis == "counts of the table of queries"


def test_the_same_log_has_no_error_and_an_empty_one_has_all() -> None:
    same, none = wrong(BEFORE, BEFORE, mapping=None), wrong(BEFORE, {})
    assert (same.value, same.details["overlap"], same.details["rank_correlation"]) == (0, 1, 1)
    assert (none.value, none.details["overlap"], none.details["rank_correlation"]) == (1, 0, 0)
    once = {"a": ["tennis", "music"]}
    assert wrong(once, once).details["rank_correlation"] == 1
    assert wrong(once, {}).details["rank_correlation"] == 0


def test_refusals() -> None:
    with pytest.raises(UsageError, match="neither a log nor a table"):
        wrong(BEFORE, {}, log=None)
    with pytest.raises(InputError, match="nothing"):
        QueryFrequencyError().prepare(MeasureContext(QueryLog.from_rows([])))
    with pytest.raises(ParameterError):
        QueryFrequencyError(top_n=0)


CASES = [
    # tennis has 1 of 4 left, music 1 of 2: (3/4 + 1/2) / 2.
    MeasureCase(
        "two queries", {"a": ["tennis"] * 4 + ["music"] * 2}, {"a": ["tennis", "music"]}, 0.625
    ),
]


@pytest.mark.parametrize("check", measure_checks(QueryFrequencyError(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
