"""The second search by detectors, in what a method released, and the check on the card."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

import queryveil as qv
from queryveil.log.detectors import DETECTORS, Detector
from queryveil.release.checks import describe_check, run_check
from queryveil.release.detectors import CHECK, without_detected
from queryveil.release.formats import PUBLIC_SCHEMA
from queryveil.release.guarantee import Check, Guarantee
from queryveil.release.release import Release

GOLF = Detector("golf", "the word golf", "1", lambda texts: texts.str.contains("golf"))
ROWS = [("a", "weather", None, 1, "http://golf.example/"), ("a", "mini golf", None, None, None),
        ("b", "weather", None, None, None), ("b", "•••", None, None, None)]  # fmt: skip


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    with DETECTORS.adding("golf", GOLF):
        yield


def release(*checks: Check, tables: dict | None = None) -> Release:
    promise = Guarantee("none", "a rule", checks=checks or (Check("time-step", {"step": "none"}),))
    log = pl.DataFrame(ROWS, schema=PUBLIC_SCHEMA, orient="row").lazy()
    source = qv.QueryLog.from_rows([("a", "x", None, None, None)] * 4)
    return Release("frequent-queries", {}, promise, source, log, tables or {})


def test_a_flagged_text_is_dropped_and_its_check_is_on_the_card() -> None:
    clean = without_detected(release(), ("golf",))
    assert clean.log.collect()["query"].to_list() == ["weather", "weather", "•••"]
    assert clean.log.collect()["url"].null_count() == 2  # URLs are not searched
    assert dict(clean.dropped) == {"released text is flagged by a detector": 1}
    assert clean.guarantee.checks[-1].check == CHECK
    assert run_check(clean.guarantee.checks[-1], clean.log).holds
    assert run_check(clean.guarantee.checks[-1], release().log).holds is False


def test_where_rows_are_counted_a_text_is_emptied() -> None:
    clean = without_detected(release(Check("slots", {"rows": 2, "all": True})), ("golf",))
    assert clean.log.collect()["query"].to_list() == ["weather", "•••"] * 2
    assert clean.blanked["query: released text is flagged by a detector"] == 1


def test_the_empty_query_is_never_asked_about() -> None:
    """Else a detector that flags everything would empty a text that is empty already."""
    everything = Detector("all", "all", "1", lambda texts: pl.repeat(True, len(texts), eager=True))
    with DETECTORS.adding("all", everything):
        clean = without_detected(release(), ("all",))
    assert clean.log.collect()["query"].to_list() == ["•••"]


def test_tables_lose_their_rows() -> None:
    tables = {
        "queries": pl.DataFrame({"query": ["weather", "golf"], "count": [9, 8]}),
        "transitions": pl.DataFrame({"query": ["weather"], "next": ["golf"], "count": [5]}),
    }
    clean = without_detected(release(tables=tables), ("golf",))
    assert [table.height for table in clean.tables.values()] == [1, 0]
    assert run_check(clean.guarantee.checks[-1], None, tables).holds is False
    assert run_check(clean.guarantee.checks[-1], None, clean.tables).holds


def test_a_damaged_check_does_not_hold() -> None:
    log = release().log.clear()
    for damaged in (
        {},
        {"detectors": []},
        {"detectors": ["golf"]},
        {"detectors": [{"name": "golf"}]},
    ):
        assert run_check(Check(CHECK, damaged), log).holds is False
    (check,) = without_detected(release(), ("golf",)).guarantee.checks[1:]
    assert describe_check(check) == "no query is flagged by the detectors golf 1"
