"""A release against its log: each wrong text, click, rank, day, kind or share is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import queryveil as qv
from part_methods import FirstWords, first_words
from queryveil.concepts.mapping.occurrences import TextRuns
from queryveil.errors import UsageError
from queryveil.release import source_checks
from queryveil.release.source_checks import SourceRules, check_source

DAY, URL = "2006-03-01", "http://a.example"
USERS = ["ann", "bob", "cem", "dan"]
LOG = qv.QueryLog.from_rows(
    [(user, "red shoes", f"{DAY} 10:00:00", 1, URL) for user in USERS]
    + [(user, f"{user} tennis", f"{DAY} 11:00:00", None, None) for user in USERS]
    + [("ann", "rare", "2006-03-02 10:00:00", 2, URL)]
    + [("ann", "red shoes", f"{DAY} 12:00:00", 2, URL), ("ann", "dogs", None, None, None)]
    + [(user, "dogs", None, None, None) for user in ("cem", "dan")]
)
GROUPS = pl.DataFrame(
    {"user": USERS, "pseudonym": ["p1", "p2", "p3", "p4"], "group": ["0", "0", "1", "1"]}
)
RULES = SourceRules(2, 2, "day", max_fraction=0.5, k=2)
ROWS = [("red shoes", DAY, 1, URL, "query"), ("tennis", None, None, None, "part")]
FIELDS = {"user": pl.String, "query": pl.String, "time": pl.String, "rank": pl.Int32,
          "url": pl.String, "kind": pl.String}  # fmt: skip


def release(*more: tuple[Any, ...]) -> pl.LazyFrame:
    """A log that all members share, with further rows."""
    rows = [(name, *row) for name in GROUPS["pseudonym"] for row in (*ROWS, *more)]
    return pl.LazyFrame(rows, schema=FIELDS, orient="row")


def failed(released: pl.LazyFrame, rules: SourceRules = RULES, groups: Any = GROUPS) -> set[str]:
    results = check_source(LOG.local_frame, released, groups, rules)
    return {result.check for result in results if not result.holds}


def test_a_true_release_holds() -> None:
    assert failed(release()) == set()
    assert len(check_source(LOG.local_frame, release(), GROUPS, RULES)) == 4


@pytest.mark.parametrize(
    ("row", "check"),
    [
        (("rare", None, None, None, "query"), "log-texts"),
        (("rare", None, None, None, "part"), "log-texts"),
        (("never sent", None, None, None, "query"), "log-texts"),
        (("shoes red", None, None, None, "part"), "log-texts"),
        (("hoes", None, None, None, "part"), "log-texts"),
        (("tennis", None, None, None, "query"), "log-texts"),  # a wrong kind
        (("red shoes", None, None, "http://b.example", "query"), "log-clicks"),
        (("red shoes", None, 2, URL, "query"), "log-clicks"),
        (("red shoes", "2006-03-02", None, None, "query"), "log-times"),
        (("red shoes", "never", None, None, "query"), "log-times"),
    ],
)
def test_a_row_of_too_few_users_is_found(row: tuple[Any, ...], check: str) -> None:
    assert check in failed(release(row))


def test_a_share_above_the_limit_is_found() -> None:
    # In the first group ann alone sent dogs: 2 of 4 rows are allowed, and 3 of 5 are not.
    dogs = ("dogs", None, None, None, "query")
    assert failed(release(dogs, dogs)) == set()
    assert failed(release(dogs, dogs, dogs)) == {"log-shares"}


def test_chunks_of_users_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_checks, "_CHUNK_ROWS", 3)
    test_a_true_release_holds()
    test_a_share_above_the_limit_is_found()


@pytest.mark.parametrize(
    "groups",
    [
        None,
        GROUPS.drop("group"),
        GROUPS.head(3),
        GROUPS.with_columns(group=pl.Series(["0", "0", "0", "1"])),
        GROUPS.with_columns(user=pl.Series(["ann", "bob", "cem", "eve"])),
        GROUPS.with_columns(user=pl.Series(["ann", "bob", "cem", "cem"])),
    ],
)
def test_a_mapping_that_does_not_fit_is_found(groups: pl.DataFrame | None) -> None:
    assert failed(release(), groups=groups) == {"log-shares"}


def test_members_with_other_logs_are_found() -> None:
    assert failed(release().slice(0, 7)) == {"log-shares"}


def test_phrases_without_kinds_are_parts() -> None:
    plain = release().drop("kind")
    assert failed(plain) == {"log-texts"}
    phrases = SourceRules(2, 2, "day", has_phrases=True, max_fraction=0.5, k=2)
    assert failed(plain, phrases) == set()


def test_runs_of_words_are_whole_words_in_order() -> None:
    runs = TextRuns(pl.Series(["b c", "c", "!", "x-y", "x y", "eau"]))
    queries = pl.Series(["a b c", "bb cc", "c b", "x y", "l'eau"])
    found = runs.find(queries).rows()
    assert found == [(0, 0), (0, 1), (2, 1), (3, 3), (3, 4), (4, 5)]


@pytest.mark.parametrize(
    "spec", ["frequent-queries:min-users=3", "string-microaggregation:k=3",
             "semantic-microaggregation:k=3"]
)  # fmt: skip
def test_verify_counts_in_the_log(tmp_path: Path, spec: str) -> None:
    log = qv.make_log(60)
    qv.anonymize(log, spec).write(tmp_path / "out")
    report = qv.verify(tmp_path / "out", log=log)
    assert report
    assert {"log-texts", "log-clicks", "log-times"} <= {of.check for of in report.findings}
    assert not [claim for claim in report.claims if "min_users" in claim]
    with pytest.raises(UsageError, match="another log"):
        qv.verify(tmp_path / "out", log=qv.make_log(50))


def test_a_release_with_parts_holds_in_its_log(tmp_path: Path) -> None:
    log = qv.make_log(60)
    with first_words():
        qv.anonymize(log, FirstWords(k=3, max_member_fraction=1.0)).write(tmp_path / "out")
        assert qv.verify(tmp_path / "out", log=log)


def test_a_method_without_thresholds_has_nothing_to_count(tmp_path: Path) -> None:
    log = qv.make_log(60)
    qv.anonymize(log, "disconnected-graph").write(tmp_path / "out")
    with pytest.raises(UsageError, match="nothing to count again"):
        qv.verify(tmp_path / "out", log=log)
