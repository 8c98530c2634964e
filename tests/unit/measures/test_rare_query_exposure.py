"""Rare queries and identifiers in a release: by hand, against a plain count, at the edges."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from risk_logs import Logs, log_of, logs_and_releases, release_of

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.measures.context import MeasureContext
from queryveil.measures.rare_query_exposure import RareQueryExposure
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.methods.runner import run_method
from queryveil.testing import KitCheck, MeasureCase, measure_checks


def found(before: Logs, after: Logs, **more: object) -> dict:
    log = log_of(before)
    return RareQueryExposure().compute(MeasureContext(log), release_of(log, after, **more))


@given(logs_and_releases())
def test_it_is_the_plain_count(both: tuple[Logs, Logs]) -> None:
    before, after = both
    rows = [query for log in after.values() for query in log]
    senders = {q: sum(q in log for log in before.values()) for q in rows}
    rare = [query for query, users in senders.items() if users == 1]
    told = found(before, after)
    assert (told.counts["rows"], told.counts["queries"], told.counts["rare"]) == (
        len(rows),
        len(senders),
        len(rare),
    )
    exposed = sum(query in rare for query in rows)
    assert told.value == pytest.approx(exposed / max(len(rows), 1), abs=1e-6)
    assert told.counts["new"] == sum(not users for users in senders.values())


def test_values_worked_by_hand() -> None:
    mail = "jane@mail.example"
    before = {"1": ["a", "a", "mine"], "2": ["a", mail], "3": [mail, "call 212-555-0123"]}
    after = {"1": ["a", "mine", "mine"], "2": ["a", mail], "3": ["call 212-555-0123", "z"]}
    told = found(before, after)
    # mine and the call were sent by one user each; the address by two, but it is an address.
    assert told.value == pytest.approx(4 / 7, abs=1e-6)
    assert (told.counts["rare"], told.details["rare_fraction"]) == (2, 0.4)
    assert (told.counts["identifiers"], told.details["identifiers_fraction"]) == (2, 0.4)
    assert (told.counts["queries"], told.counts["rows"], told.counts["new"]) == (5, 7, 1)
    assert told.summary == (
        "2 of 5 released queries had been sent by one user only, and 2 look like personal "
        "identifiers; they make up 4 of 7 rows"
    )


def test_an_unchanged_and_an_empty_release() -> None:
    before = {"1": ["a", "b"], "2": ["b"]}
    assert found(before, before).value == pytest.approx(1 / 3, abs=1e-6)
    assert found(before, {}).value == 0


def test_frequent_queries_expose_no_rare_ones() -> None:
    log = log_of({str(n): ["ours", f"mine {n}"] for n in range(3)})
    made = run_method(FrequentQueries(min_users=2), log, RandomSource(1), NoProgress())
    told = RareQueryExposure().compute(MeasureContext(log), made)
    assert (told.value, told.counts["queries"]) == (0, 1)


def test_tables_are_read_too() -> None:
    queries = pl.DataFrame({"query": ["a", "mine"], "count": [7, 1]})
    steps = pl.DataFrame({"query": ["a"], "next": ["mine"], "count": [1]})
    tables = {"queries": queries, "transitions": steps}
    before = {"1": ["a", "mine"], "2": ["a"]}
    told = found(before, {}, log=None, mapping=None, tables=tables)
    assert (told.value, told.counts["rare"], told.counts["rows"]) == (0.5, 1, 4)


def test_phrases(tmp_path: Path) -> None:
    path = tmp_path / "sports.txt"
    path.write_text("Top/Sports/Tennis\nTop/Arts/Music\nTop/Arts/Theatre\n")
    before = {"1": ["tennis and music"], "2": ["music and theatre"]}
    after = {"1": ["tennis"], "2": ["music"]}
    shown = {"output_unit": "phrase", "taxonomy": str(path)}
    told = found(before, after, parameters=shown)
    assert (told.value, told.counts["rare"], told.counts["new"]) == (0.5, 1, 0)
    assert found(before, after).counts["new"] == 2  # nobody sent these as whole queries


CASES = [
    # Of three rows one has a query that only user 1 sent.
    MeasureCase(
        "one of three", {"1": ["a", "b"], "2": ["b"]}, {"1": ["a", "b"], "2": ["b"]}, 1 / 3
    ),
]


@pytest.mark.parametrize("check", measure_checks(RareQueryExposure(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
