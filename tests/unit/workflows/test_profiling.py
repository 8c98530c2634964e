"""The figures of a profile, against a log small enough to count by hand."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from queryveil.log.query_log import QueryLog
from queryveil.log.reading import read_log
from queryveil.workflows.log_profile import LogProfile, RowsPerUser
from queryveil.workflows.profiling import profile

LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
ann\tweather\t2006-03-01 10:00:00\t1\thttp://w.example
ann\tweather\t2006-03-01 10:00:00\t2\thttp://x.example
ann\tWeather\t2006-03-01 10:01:00\t\t
ann\tjane.doe@mail.example\t2006-03-01 10:02:00\t\t
bob\tweather\t2006-03-02 10:00:00\t1\thttp://w.example
bob\tcall 212-555-0123\t2006-03-02 10:01:00\t\t
bob\tcall 212-555-0123\t2006-03-03 10:01:00\t\t
cat\tweather\t2006-03-04 10:00:00\t\t
cat\tred  shoes\t2006-03-04 10:05:00\t\t
dan\tred shoes\t2006-03-05 10:05:00\t3\thttp://x.example
dan\t-\t2006-03-05 10:06:00\t\t
dan\t\t2006-03-05 10:07:00\t\t
"""


@pytest.fixture
def found(tmp_path: Path) -> LogProfile:
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return profile(read_log(path))


def test_sizes(found: LogProfile) -> None:
    assert found.accounting.rows == 12
    assert found.accounting.dropped == {"query is -": 1, "empty query": 1}
    assert found.accounting.rejected == {}
    assert found.accounting.normalized == {"lower-cased": 1, "blanks collapsed": 1}
    assert (found.size.kept_rows, found.size.clicks, found.size.users) == (10, 4, 4)
    assert (found.size.queries, found.size.urls) == (4, 2)
    # ann: weather (three lines at once), e-mail; bob: weather, call, call the next day; cat two;
    # dan one.
    assert found.size.events == 8
    assert (found.size.first[:19], found.size.last[:19]) == (
        "2006-03-01 10:00:00", "2006-03-05 10:05:00",
    )  # fmt: skip
    assert found.size.distinct_fraction == 0.4
    assert found.size.several_words_fraction == 0.5
    assert found.size.rows_per_user == RowsPerUser(2.5, 2.5, 4)
    assert found.formats == ("aol",)


def test_json_is_flat_and_comes_back(found: LogProfile) -> None:
    document = json.loads(found.to_json())
    assert LogProfile.from_dict(document) == found
    assert " ".join(document) == (
        "schema rows dropped rejected normalized kept_rows events clicks users queries urls first "
        "last distinct_fraction several_words_fraction rows_per_user topics language risks "
        "sensitive columns formats notes"
    )


def test_who_is_singled_out(found: LogProfile) -> None:
    risks = found.risks
    assert risks.unique_queries == 2  # the e-mail address and the phone number
    assert risks.unique_queries_fraction == 0.5
    assert risks.rows_with_unique_query_fraction == 0.3
    assert risks.users_with_unique_query == 2
    assert risks.users_with_unique_query_fraction == 0.5
    assert risks.users_with_rare_query_fraction == 1.0


def test_identifiers(found: LogProfile) -> None:
    kinds = found.risks.identifiers
    assert {name: (kind.queries, kind.users) for name, kind in kinds.items()} == {
        "email": (1, 1), "phone": (1, 1), "card": (0, 0), "iban": (0, 0), "ssn": (0, 0),
        "url-token": (0, 0), "ip": (0, 0), "street": (0, 0), "national-id": (0, 0),
        "vat": (0, 0), "name": (0, 0),
        "known-name": (0, 0),
    }  # fmt: skip
    assert kinds["email"].examples == ("j•••@•••",)
    assert kinds["phone"].examples == ("call •••-•••-••••",)


def test_identifiers_are_counted_by_query_and_by_user() -> None:
    lines = [(user, "jane@mail.example", None, None, None) for user in "aab"]
    lines += [("c", f"jane{n}@mail.example", None, None, None) for n in range(5)]
    found = profile(QueryLog.from_rows(lines)).risks.identifiers["email"]
    assert (found.queries, found.users) == (6, 3)
    assert len(found.examples) == 3


def test_no_example_shows_an_identifier(found: LogProfile) -> None:
    text = found.to_json() + repr(found)
    assert "jane.doe" not in text
    assert "0123" not in text


def test_figures_of_a_large_log_against_a_plain_count(synthetic: Path) -> None:
    log = read_log(synthetic)
    rows = log.local_frame.collect().select("user", "query").rows()
    senders = defaultdict(set)
    for user, query in rows:
        senders[query].add(user)
    alone = {query for query, users in senders.items() if len(users) == 1}
    rarest: dict[str, int] = {}
    for user, query in rows:
        rarest[user] = min(rarest.get(user, 10**9), len(senders[query]))
    found = profile(log)
    risks = found.risks
    assert risks.unique_queries == len(alone)
    assert risks.rows_with_unique_query_fraction == pytest.approx(
        sum(query in alone for _, query in rows) / len(rows), abs=1e-4
    )
    spread = Counter(rarest.values())
    assert risks.users_with_unique_query == spread[1]
    few = sum(number for users, number in spread.items() if users < 5) / len(rarest)
    assert risks.users_with_rare_query_fraction == pytest.approx(few, abs=1e-4)


def test_a_log_of_nothing() -> None:
    found = profile(QueryLog.from_rows([]))
    assert (found.size.kept_rows, found.size.users, found.size.queries) == (0, 0, 0)
    assert found.risks.unique_queries_fraction == 0.0
    assert found.size.first is None


def test_a_log_without_times_or_clicks() -> None:
    found = profile(QueryLog.from_rows([("a", "x", None, None, None)] * 3))
    assert (found.size.kept_rows, found.size.clicks, found.size.urls) == (3, 0, 0)
    assert found.size.first is found.size.last is None
