"""The search for identifiers leaves neighbors neighbors, whatever relation a promise is about."""

from __future__ import annotations

from pathlib import Path

import pytest

import queryveil as qv

LINES = {
    "semantic-replacement": "semantic-replacement:domain=sport:max-phrases-per-user=3",
    "profile-first": "profile-first:domain=A:max-phrases-per-user=3",
    "concept-histogram": "concept-histogram:domain=sport:max-phrases-per-user=3",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("queries", [("tennis", "golf"), ("jane@mail.example", "078-05-1120")])
def test_who_sent_identifiers_alone_is_still_there(
    line: str, queries: tuple[str, str], tmp_path: Path
) -> None:
    """Two logs of the same users: how many are released tells nothing about one of them."""
    rows = [(f"u{n}", query, "2006-03-01 10:00:00", None, None)
            for n in range(12) for query in (("tennis", "golf") if n else queries)]  # fmt: skip
    log = qv.QueryLog.from_rows(rows)
    assert qv.parse_method(line).guarantee().relation == "replace-one"
    release = qv.anonymize(log, line, ledger=str(tmp_path))
    names = release.log.collect()["user"]
    assert names.n_unique() == 12
    assert names.value_counts()["count"].n_unique() == 1


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
