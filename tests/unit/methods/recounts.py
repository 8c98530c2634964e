"""Oracles of the methods' promises: plain Python over the log and the written files.

They share nothing with the checks of `verify`, which they recount.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import queryveil as qv
from queryveil.testing import MethodRun

TIMES = {
    "month": r"2006-\d\d-01",
    "day": r"2006-\d\d-\d\d",
    "hour": r"2006-\d\d-\d\d \d\d:00:00(\.0+)?",
}


def whole_logs(run: MethodRun) -> dict[str, frozenset[tuple[tuple[Any, ...], int]]]:
    """Return each pseudonym's rows without it, and how often each row is there."""
    logs: dict[str, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    for user, *row in run.released:
        logs[user][tuple(row)] += 1
    return {user: frozenset(log.items()) for user, log in logs.items()}


def recount_equal_logs(run: MethodRun, check: dict[str, Any]) -> None:
    k = run.method.guarantee().k
    assert type(k) is int
    assert k >= 2
    assert check["k"] == run.card.guarantee.k == k
    logs = whole_logs(run)
    groups = Counter(logs.values())
    assert len(groups) > 5  # one log for everybody would be easy, and of no use
    assert len(set(run.released)) > 50
    assert min(groups.values()) >= k
    assert len(logs) <= len({user for user, *_ in run.rows})
    members = defaultdict(list)
    for _, pseudonym, *group in run.mapping:
        members[tuple(group)].append(logs[pseudonym])
    assert all(len(group) >= k and len(set(group)) == 1 for group in members.values())


def recount_time_step(run: MethodRun, check: dict[str, Any]) -> None:
    for _, _, time, _, _ in run.released:
        if check["step"] == "none":
            assert time is None
        else:
            assert time is None or re.fullmatch(TIMES[check["step"]], time), time


def recount_no_clicks(run: MethodRun, check: dict[str, Any]) -> None:
    assert check == {"check": "no-clicks"}
    assert not [row for row in run.released if row[3:] != (None, None)]


def recount_slots(run: MethodRun, check: dict[str, Any]) -> None:
    slots = defaultdict(list)
    for user, _, time, _, _ in run.released:
        slots[user].append(int(time or 0))
    assert check == {"check": "slots", "rows": run.method.max_phrases_per_user, "all": True}
    assert len(slots) == len({user for user, *_ in run.rows})
    assert {tuple(sorted(mine)) for mine in slots.values()} == {tuple(range(1, check["rows"] + 1))}
    queries = {query for _, query, *_ in run.released}
    assert len(queries) > 50
    plain = {query for query in queries if "•" not in query}  # others look like identifiers
    assert len(plain) > 0.9 * len(queries)
    assert plain <= set(qv.open_taxonomy("wordnet").labels.series())


def recount_disjoint_clicks(run: MethodRun, check: dict[str, Any]) -> None:
    assert check == {"check": "disjoint-clicks"}
    queries = defaultdict(set)
    for _, query, _, _, url in run.released:
        queries[url].add(query)
    queries.pop(None, None)
    assert len(queries) > 50
    assert {len(several) for several in queries.values()} == {1}


def recount_no_identifiers(run: MethodRun, check: dict[str, Any]) -> None:
    assert check == {"check": "no-identifiers"}
    assert not [query for _, query, *_ in run.released if "@" in query]


def recount_row_kinds(run: MethodRun, check: dict[str, Any]) -> None:
    """Recount the users of whole queries and of parts, which have no clicks."""
    assert check == {"check": "row-kinds"}
    senders, holders = defaultdict(set), defaultdict(set)
    for user, query, *_ in run.rows:
        senders[query].add(user)
        holders[words_of(query)].add(user)
    least = run.card.parameters["min_users"]
    assert run.kinds is not None
    rows = list(zip(run.released, run.kinds, strict=True))
    kinds = {(row[1], kind) for row, kind in rows}
    assert {kind for _, kind in kinds} == {"query", "part"}
    for text, kind in kinds:
        inside = (users for words, users in holders.items() if words_of(text) in words)
        users = senders[text] if kind == "query" else set().union(*inside)
        assert len(users) >= least, text
    clicks = {kind for row, kind in rows if row[3:] != (None, None)}
    assert clicks <= {"query"}


RECOUNTS: dict[str, Callable[[MethodRun, dict[str, Any]], None]] = {
    "equal-logs": recount_equal_logs,
    "time-step": recount_time_step,
    "no-clicks": recount_no_clicks,
    "slots": recount_slots,
    "disjoint-clicks": recount_disjoint_clicks,
    "no-identifiers": recount_no_identifiers,
    "row-kinds": recount_row_kinds,
}


def recount_checks(run: MethodRun) -> None:
    """Recount each check of the card; a check without an oracle is an error."""
    checks = run.card.to_dict()["guarantee"]["checks"]
    names = {check["check"] for check in checks}
    assert names <= RECOUNTS.keys(), "a check of this method has no oracle here"
    if run.method.guarantee().model == "k-anonymity":
        assert "equal-logs" in names
    for check in checks:
        RECOUNTS[check["check"]](run, dict(check))


def words_of(text: str) -> str:
    """Return the words of a text, each between two blanks, so that only whole ones are found."""
    return " ".join(["", *re.findall(r"\w+", text), ""])


def recount_microaggregation(run: MethodRun) -> None:
    """Recount the checks, and that every text was made of queries or phrases of the log."""
    recount_checks(run)
    queries = {query for _, query, *_ in run.rows}
    texts = "\n".join(map(words_of, queries))
    strange = {query for _, query, *_ in run.released} - queries
    assert not [query for query in strange if words_of(query) not in texts]
    assert {row[4] for row in run.released} <= {row[4] for row in run.rows} | {None}


def recount_rows_of_the_log(run: MethodRun) -> None:
    """Recount that each released row is one of the log, coarser, and none was made."""
    assert not run.release.generated
    days = Counter((query, time[:10]) for _, query, time, _, _ in run.rows if time)
    clicks = Counter((q, time[:10], rank, url) for _, q, time, rank, url in run.rows if time)
    timed = [(q, time[:10], rank, url) for _, q, time, rank, url in run.released if time]
    assert Counter((query, day) for query, day, _, _ in timed) <= days
    assert Counter(row for row in timed if row[2] is not None) <= clicks


def recount_tables(run: MethodRun) -> None:
    """Recount the thresholds of the tables, their order, and that their queries are published."""
    checks = [check for check in run.card.to_dict()["guarantee"]["checks"] if "at_least" in check]
    least = {check["table"]: check["at_least"] for check in checks}
    assert run.tables["queries"]
    for name, table in run.tables.items():
        counts = [int(row[-1]) for row in table]
        assert all(count >= least[name] for count in counts if name in least)
        assert counts == sorted(counts, reverse=True)
    known = {row[0] for row in run.tables["queries"]}
    assert {row[0] for row in run.tables.get("clicks", [])} <= known
    pairs = run.tables.get("transitions", [])
    assert {query for *pair, _ in pairs for query in pair} <= known
