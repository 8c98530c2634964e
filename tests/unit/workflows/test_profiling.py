"""The figures of a profile, against a log small enough to count by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from queryveil.log.query_log import QueryLog
from queryveil.log.reading import read_log
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
def found(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return profile(read_log(path))


def test_sizes(found: dict[str, Any]) -> None:
    assert found["rows"] == 12
    assert found["dropped"] == {"query is -": 1, "empty query": 1}
    assert found["rejected"] == {}
    assert found["normalised"] == {"lower-cased": 1, "blanks collapsed": 1}
    assert (found["lines"], found["clicks"], found["users"]) == (10, 4, 4)
    assert (found["queries"], found["urls"]) == (4, 2)
    # ann: weather (three lines at once), e-mail; bob: weather, call, call the next day; cat two;
    # dan one.
    assert found["events"] == 8
    assert (found["first"][:19], found["last"][:19]) == (
        "2006-03-01 10:00:00", "2006-03-05 10:05:00",
    )  # fmt: skip
    assert found["distinct_share"] == 0.4
    assert found["several_words_share"] == 0.5
    assert found["lines_per_user"] == {"median": 2.5, "mean": 2.5, "most": 4}
    assert found["formats"] == ["aol"]


def test_who_is_singled_out(found: dict[str, Any]) -> None:
    risks = found["risks"]
    assert risks["queries_of_one_user"] == 2  # the e-mail address and the phone number
    assert risks["queries_of_one_user_share"] == 0.5
    assert risks["lines_of_such_queries_share"] == 0.3
    assert risks["users_singled_out_by_rarest_query"] == 2
    assert risks["users_singled_out_by_rarest_query_share"] == 0.5
    assert risks["users_whose_rarest_query_has_fewer_than_5_users_share"] == 1.0


def test_identifiers(found: dict[str, Any]) -> None:
    kinds = found["risks"]["identifiers"]
    assert {name: (kind["queries"], kind["users"]) for name, kind in kinds.items()} == {
        "email": (1, 1), "phone": (1, 1), "card": (0, 0), "iban": (0, 0), "ssn": (0, 0),
        "url-token": (0, 0), "ip": (0, 0), "street": (0, 0),
    }  # fmt: skip
    assert kinds["email"]["examples"] == ["j•••@•••"]
    assert kinds["phone"]["examples"] == ["call •••-•••-••••"]


def test_identifiers_are_counted_by_query_and_by_user() -> None:
    lines = [(user, "jane@mail.example", None, None, None) for user in "aab"]
    lines += [("c", f"jane{n}@mail.example", None, None, None) for n in range(5)]
    found = profile(QueryLog.from_rows(lines))["risks"]["identifiers"]["email"]
    assert (found["queries"], found["users"]) == (6, 3)
    assert len(found["examples"]) == 3


def test_no_example_shows_an_identifier(found: dict[str, Any]) -> None:
    text = str(found)
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
    risks = found["risks"]
    assert risks["queries_of_one_user"] == len(alone)
    assert risks["lines_of_such_queries_share"] == pytest.approx(
        sum(query in alone for _, query in rows) / len(rows), abs=1e-4
    )
    spread = Counter(rarest.values())
    assert risks["users_singled_out_by_rarest_query"] == spread[1]
    few = sum(number for users, number in spread.items() if users < 5) / len(rarest)
    name = "users_whose_rarest_query_has_fewer_than_5_users_share"
    assert risks[name] == pytest.approx(few, abs=1e-4)


def test_a_log_of_nothing() -> None:
    found = profile(QueryLog.from_rows([]))
    assert (found["lines"], found["users"], found["queries"]) == (0, 0, 0)
    assert found["risks"]["queries_of_one_user_share"] == 0.0
    assert found["first"] is None


def test_a_log_without_times_or_clicks() -> None:
    found = profile(QueryLog.from_rows([("a", "x", None, None, None)] * 3))
    assert (found["lines"], found["clicks"], found["urls"]) == (3, 0, 0)
    assert found["first"] is found["last"] is None
