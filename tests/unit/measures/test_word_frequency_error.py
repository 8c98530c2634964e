"""Counts of the most frequent words: worked by hand, and at its edges."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_logs import Sent, log_of, release_of, table_of

from queryveil.errors import InputError, UsageError
from queryveil.measures.context import MeasureContext
from queryveil.measures.word_frequency_error import WordFrequencyError
from queryveil.testing import KitCheck, MeasureCase, measure_checks

BEFORE = {"a": ["cheap hotels in paris", "paris hotels"], "b": ["paris"]}

texts = st.lists(st.sampled_from(["ants", "bees", "cats"]), max_size=4).map(" ".join)


def wrong(before: Sent, after: Sent, line: dict | None = None, **more: object) -> dict:
    log = log_of(before)
    return WordFrequencyError(**(line or {})).compute(
        MeasureContext(log), release_of(log, after, **more)
    )


@given(st.dictionaries(texts, st.integers(1, 9)))
def test_words_are_counted_where_they_stand(queries: dict) -> None:
    rows = pl.DataFrame(
        list(queries.items()), schema={"text": pl.String, "count": pl.Int64}, orient="row"
    )
    want = Counter()
    for text, n in queries.items():
        want.update({word: n * text.split().count(word) for word in set(text.split())})
    assert dict(WordFrequencyError().texts(rows).rows()) == dict(want)


def test_values_worked_by_hand() -> None:
    # Before: paris 3, hotels 2, cheap 1. After, of 2 words: paris 1 and rome 1, so paris is 3 of 6.
    found = wrong(BEFORE, {"a": ["Paris"], "b": ["rome"]}, {"top_n": 2})
    assert found.details["error_scaled"] == 0.5  # paris 0, hotels 1
    assert (found.details["overlap"], found.counts["top"]) == (0.5, 2)
    assert found.value == found.details["error_as_given"]
    assert found.value == pytest.approx((2 / 3 + 1) / 2, abs=1e-6)


def test_stop_words_count_if_asked_for() -> None:
    assert wrong(BEFORE, BEFORE).counts["top"] == 3
    assert wrong(BEFORE, BEFORE, {"include_stop_words": True}).counts["top"] == 4


def test_the_order_of_words_does_not_matter() -> None:
    assert wrong(BEFORE, {"x": ["hotels paris paris", "cheap hotels", "paris"]}).value == 0


def test_the_same_log_has_no_error_and_an_empty_one_has_all() -> None:
    assert wrong(BEFORE, BEFORE).value == 0
    assert wrong(BEFORE, {}).value == 1
    log = log_of(BEFORE)
    table = table_of(log, {"cheap hotels in paris": 1, "paris hotels": 1, "paris": 1})
    assert WordFrequencyError().compute(MeasureContext(log), table).value == 0


def test_refusals() -> None:
    with pytest.raises(UsageError, match="neither a log nor a table"):
        wrong(BEFORE, {}, log=None)
    with pytest.raises(InputError, match="nothing"):
        wrong({"a": ["of the"]}, {})
    with pytest.raises(UsageError):
        wrong(BEFORE, BEFORE, {"language": "klingon"})


CASES = [
    # hotels and paris have 1 of 2 left, cheap nothing: (1/2 + 1/2 + 1) / 3.
    MeasureCase(
        "three words",
        {"a": ["cheap hotels", "paris hotels"], "b": ["paris"]},
        {"a": ["hotels"], "b": ["paris"]},
        2 / 3,
    ),
]


@pytest.mark.parametrize("check", measure_checks(WordFrequencyError(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
