"""The attacker who knows a few queries: by hand, against a plain version, and at the edges."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_logs import Logs, log_of, logs, logs_and_releases, names_of, release_of

from queryveil.errors import ParameterError, UsageError
from queryveil.measures.base import parse_measure
from queryveil.measures.context import MeasureContext
from queryveil.measures.partial_knowledge_linkage import PartialKnowledgeLinkage, wilson_interval
from queryveil.testing import KitCheck, MeasureCase, measure_checks


def found(before: Logs, after: Logs, more: dict | None = None, **line: object) -> dict:
    log = log_of(before)
    release = release_of(log, after, **(more or {}))
    return PartialKnowledgeLinkage(**line).compute(MeasureContext(log), release)


def plain(before: Logs, after: Logs) -> float:
    """An attacker who knows all different queries of everybody, as a loop over all logs."""
    total = 0.0
    for user in after:
        known = set(before[user])
        scores = {name: len(known & set(log)) for name, log in after.items()}
        likely = [name for name, score in scores.items() if score == max(scores.values())]
        total += (user in likely) / len(likely)
    return 100 * total / len(before)


@given(logs_and_releases())
def test_one_who_knows_all_is_the_plain_loop(both: tuple[Logs, Logs]) -> None:
    before, after = both
    told = found(before, after, known_queries=10)
    assert told.value == pytest.approx(plain(before, after), abs=1e-5)
    assert told.interval.low <= told.value + 1e-6
    assert told.value <= told.interval.high + 1e-6
    assert (told.counts["tries"], told.counts["vanished"]) == (
        len(before),
        len(before) - len(after),
    )


@given(logs_and_releases(), st.sampled_from(["random", "rarest"]), st.integers(1, 6))
def test_what_is_known_is_a_part_of_a_persons_queries(
    both: tuple[Logs, Logs], choice: str, number: int
) -> None:
    before, _ = both
    measure = PartialKnowledgeLinkage(known_queries=number, knowledge=choice)
    sent = measure.original_counts(
        MeasureContext(log_of(before)), release_of(log_of(before), before)
    )
    tried, asked = measure._sample_tries(sent)
    senders = Counter(query for own in before.values() for query in set(own))
    for ask, user in tried.rows():
        own = set(before[sent.users[user]])
        known = [sent.queries[text] for at, text, _ in asked.rows() if at == ask]
        assert len(known) == len(set(known)) == min(number, len(own))
        assert set(known) <= own
        if choice == "rarest":
            rest = [senders[query] for query in own - set(known)]
            assert max(senders[query] for query in known) <= min(rest, default=9)


def test_the_rarest_queries_find_more() -> None:
    people = {str(n): [f"mine {n}", *"abcdefghij"] for n in range(40)}
    rare = found(people, people, known_queries=1, knowledge="rarest")
    assert (rare.value, rare.baselines["chance"]) == (100, 2.5)
    any_one = found(people, people, known_queries=1)
    assert 2.5 <= any_one.value < 50
    assert found(people, people, known_queries=1) == any_one  # the same persons, the same queries


def test_words() -> None:
    people = {str(n): ["same"] for n in range(10)}
    told = found(people, people)
    assert told.value == told.baselines["chance"] == 10
    assert told.counts["knew_fewer"] == 10
    assert told.summary == (
        "an attacker who knows five queries of a user re-identifies that user in 1 of 10 tries; "
        "guessing succeeds in 1"
    )
    one = found(people, people, known_queries=1, knowledge="rarest").summary
    assert one.startswith("an attacker who knows the rarest query of a user")
    assert "twenty" not in found(people, people, known_queries=20).summary


def test_some_persons_stand_for_all() -> None:
    people = {str(n): [f"mine {n}"] for n in range(50)}
    told = found(people, people, max_targets=20)
    assert (told.value, told.counts["tries"], told.counts["users"]) == (100, 20, 50)
    assert told.interval.low == pytest.approx(100 * wilson_interval(20, 20)[0], abs=1e-5)
    assert told.interval.high == 100


def test_who_finds_nothing_guesses() -> None:
    before = {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["d"]}
    told = found(before, {user: ["z"] for user in before})
    assert told.value == told.baselines["chance"] == 25
    told = found(before, {"1": ["z"], "2": ["z"]})
    assert (
        told.value == told.baselines["chance"] == 25
    )  # half of the persons are there, each by 1 in 2


def test_an_empty_release_finds_nobody() -> None:
    told = found({"1": ["a"], "2": ["b"]}, {})
    assert (told.value, told.baselines["chance"], told.counts["vanished"]) == (0, 0, 2)


@given(logs)
def test_logs_that_nobody_shares_a_query_of_give_all_away(before: Logs) -> None:
    own = {user: [f"{user} {query}" for query in queries] for user, queries in before.items()}
    assert found(own, own, known_queries=1).value == 100


def test_several_logs_of_a_person_and_logs_of_nobody() -> None:
    log = log_of({"1": ["a", "b"]})
    names = names_of([("1", "p-x"), ("1", "p-y")])
    after = {"x": ["a"], "y": ["b"], "nobody": ["a"], "no one": ["z"]}
    told = PartialKnowledgeLinkage().compute(
        MeasureContext(log), release_of(log, after, mapping=names)
    )
    assert told.value == pytest.approx(100 * 2 / 3, abs=1e-5)  # x, y and nobody: one each
    assert told.baselines["chance"] == 50


def test_phrases(tmp_path: Path) -> None:
    path = tmp_path / "sports.txt"
    path.write_text("Top/Sports/Tennis\nTop/Arts/Music\nTop/Arts/Theatre\n")
    shown = {"output_unit": "phrase", "taxonomy": str(path)}
    before = {"1": ["tennis and music"], "2": ["theatre"]}
    told = found(before, {"1": ["music"], "2": ["tennis"]}, {"parameters": shown})
    assert told.value == 50  # both logs have a phrase of 1; none has one of 2, who is guessed
    assert "five phrases of a user" in told.summary


def test_wilson() -> None:
    assert wilson_interval(0, 10)[0] == 0
    assert wilson_interval(0, 10)[1] == pytest.approx(0.2775, abs=1e-4)
    assert wilson_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson_interval(10, 10)[1] == pytest.approx(1)
    assert wilson_interval(0, 0) == (0, 1)


def test_what_cannot_be_linked_is_refused() -> None:
    one = {"1": ["a"]}
    with pytest.raises(UsageError, match="no logs of users"):
        found(one, one, {"log": None})
    with pytest.raises(UsageError, match="no private mapping"):
        found(one, one, {"mapping": None})
    with pytest.raises(ParameterError):
        parse_measure("partial-knowledge-linkage:known-queries=0")
    with pytest.raises(ParameterError):
        parse_measure("partial-knowledge-linkage:knowledge=best")


CASES = [
    # Of four users two are alone with their query, and two share theirs: (1 + 1 + 1/2 + 1/2) / 4.
    MeasureCase(
        "two alike",
        {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["c"]},
        {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["c"]},
        75.0,
    ),
]


@pytest.mark.parametrize("check", measure_checks(PartialKnowledgeLinkage(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
