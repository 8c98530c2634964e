"""Which queries are still there: worked by hand, against the definition, and at its edges."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_logs import Sent, log_of, release_of, table_of

from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures.context import MeasureContext
from queryveil.measures.query_coverage import QueryCoverage, coverage_fractions
from queryveil.testing import KitCheck, MeasureCase, measure_checks


def kept(before: Sent, after: Sent, **more: object) -> dict:
    log = log_of(before)
    return QueryCoverage().compute(MeasureContext(log), release_of(log, after, **more))


counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), max_size=6)


def frame(table: dict[str, int]) -> pl.DataFrame:
    kinds = {"text": pl.String, "count": pl.Int64}
    return pl.DataFrame(list(table.items()), schema=kinds, orient="row")


@given(counts.filter(bool), counts)
def test_it_is_the_definition(before: dict, after: dict) -> None:
    found = coverage_fractions(frame(before), frame(after))
    common = (Counter(before) & Counter(after)).total()
    beyond = (Counter(after) - Counter(before)).total()
    assert found["kept"] == pytest.approx(common / sum(before.values()), abs=1e-6)
    assert found["kept"] + found["lost"] == pytest.approx(1, abs=1e-6)
    assert found["invented"] == pytest.approx(beyond / max(sum(after.values()), 1), abs=1e-6)


def test_values_worked_by_hand() -> None:
    before = {"a": ["tennis", "tennis", "music"], "b": ["tennis", "asthma"]}
    found = kept(before, {"a": ["tennis"], "b": ["tennis", "new"], "made up": ["asthma", "asthma"]})
    assert found.details["distinct"] == {"kept": 0.666667, "lost": 0.333333, "invented": 0.333333}
    assert found.details["volume"] == {"kept": 0.6, "lost": 0.4, "invented": 0.4}
    assert found.value == 0.666667
    assert found.basis == "rows of the released log"


def test_the_value_may_be_of_the_volume() -> None:
    log = log_of({"a": ["tennis", "tennis", "tennis", "music"]})
    found = QueryCoverage(weighting="volume").compute(
        MeasureContext(log), release_of(log, {"a": ["tennis"] * 3})
    )
    assert found.value == 0.75


def test_a_table_of_queries_is_enough() -> None:
    log = log_of({"a": ["tennis", "tennis", "music"]})
    found = QueryCoverage().compute(
        MeasureContext(log), table_of(log, {"tennis": 3, "gone": 0, "less": -2})
    )
    assert found.details["volume"] == {"kept": 0.666667, "lost": 0.333333, "invented": 0.333333}
    assert found.details["distinct"] == {"kept": 0.5, "lost": 0.5, "invented": 0}
    assert found.basis == "counts of the table of queries"


def test_the_same_log_and_an_empty_one() -> None:
    before = {"a": ["tennis", "music"], "b": ["tennis"]}
    whole, none = kept(before, before, mapping=None), kept(before, {})
    assert (
        whole.details["distinct"]
        == whole.details["volume"]
        == {"kept": 1, "lost": 0, "invented": 0}
    )
    assert (
        none.details["distinct"] == none.details["volume"] == {"kept": 0, "lost": 1, "invented": 0}
    )


def test_refusals() -> None:
    with pytest.raises(UsageError, match="neither a log nor a table"):
        kept({"a": ["tennis"]}, {}, log=None)
    with pytest.raises(InputError, match="no queries"):
        QueryCoverage().prepare(MeasureContext(QueryLog.from_rows([])))
    with pytest.raises(ParameterError):
        QueryCoverage(weighting="rows")


CASES = [
    MeasureCase(
        "one of three queries",
        {"a": ["tennis", "tennis", "music"], "b": ["tennis", "asthma"]},
        {"a": ["tennis"], "b": ["tennis", "new"]},
        1 / 3,
    ),
]


@pytest.mark.parametrize("check", measure_checks(QueryCoverage(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
