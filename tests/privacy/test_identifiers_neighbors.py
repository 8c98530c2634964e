"""The search for identifiers leaves neighbors neighbors, whatever relation a promise is about."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from screened_users import LINES, check_all_users_are_there, log_with_one_user_of

import queryveil as qv
from queryveil.core.progress import NoProgress
from queryveil.workflows.known_names import users_for_names
from queryveil.workflows.screened_runs import Screening, searched


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize(
    "queries",
    [
        ("tennis", "golf"),
        ("jane@mail.example", "078-05-1120"),
        ("rosalind kowalczyk", "kowalczyk, rosalind"),
        ("abraham lincoln", "rosalind kowalczyk"),
    ],
)
def test_who_sent_identifiers_alone_is_still_there(
    line: str, queries: tuple[str, str], tmp_path: Path
) -> None:
    """Two logs of the same users: how many are released tells nothing about one of them."""
    log = log_with_one_user_of(queries)
    assert qv.parse_method(line).guarantee().relation == "replace-one"
    release = qv.anonymize(log, line, ledger=str(tmp_path))
    check_all_users_are_there(release)


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_the_card_names_who_vanishes_by_reading(line: str, tmp_path: Path) -> None:
    """A user of whom no row is read and kept has no pseudonym: that is not covered, and said so."""
    path = tmp_path / "log.csv"
    rows = [f"u{n},{query},2006-03-01\n" for n in range(3) for query in ("tennis", "golf")]
    path.write_text("user,query,time\n" + "".join(rows) + "u3,-,2006-03-01\nu4,golf,soon\n")
    release = qv.anonymize(qv.read_log(path, may_stop=False), line)
    assert release.log.collect()["user"].n_unique() == 3
    assert any("was dropped when the log was read" in one for one in release.guarantee.not_covered)
    assert any("read and kept" in one for one in release.guarantee.assumptions)


SPENDING = {
    **LINES,
    "dp-statistics": "dp-statistics:epsilon=1:delta=1e-6",
    "click-graph": "click-graph:epsilon=1:delta=1e-6",
}


@pytest.mark.parametrize("line", SPENDING.values(), ids=SPENDING)
def test_names_in_methods_that_spend_depend_on_no_other_row(line: str) -> None:
    """A name of a known person passes, however many users sent it; every other name does not."""
    method = qv.parse_method(line)
    queries = ["abraham lincoln", "rosalind kowalczyk", "tennis"]
    outcomes = set()
    for others in range(4):
        rows = [("u", query, None, None, None) for query in queries]
        rows += [(f"v{n}", "abraham lincoln", None, None, None) for n in range(others)]
        seen = searched(qv.QueryLog.from_rows(rows), method, Screening(), NoProgress())
        mine = seen.local_frame.filter(pl.col("user").cast(pl.String) == "u").collect()
        outcomes.add(tuple(mine["query"].cast(pl.String)))
    assert outcomes == {("abraham lincoln", "tennis")}


@pytest.mark.parametrize(
    ("line", "users"),
    [
        ("frequent-queries:min-users=3", 3),
        ("semantic-microaggregation:k=3", 3),
        ("string-microaggregation:k=3:min-users=4", 4),
        ("string-microaggregation:k=4:min-users=3", 4),
        ("disconnected-graph", 1 << 62),
        *((line, 0) for line in SPENDING.values()),
    ],
)
def test_how_many_users_a_known_name_needs(line: str, users: int) -> None:
    """By the larger of k and min_users; a rule that counts no users never gets such a name."""
    assert users_for_names(qv.parse_method(line)) == users
