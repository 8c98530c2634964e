"""Record linkage: worked by hand, against the plain definition, and at its edges."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from risk_logs import Logs, log_of, logs, logs_and_releases, names_of, release_of

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog
from queryveil.log.reading import read_log
from queryveil.measures._shared import queries as overlap
from queryveil.measures.base import parse_measure
from queryveil.measures.context import MeasureContext
from queryveil.measures.record_linkage import RecordLinkage
from queryveil.methods.base import parse_method
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.methods.microaggregation.semantic import SemanticMicroaggregation
from queryveil.methods.runner import run_method
from queryveil.synthetic.output import write_synthetic_log
from queryveil.testing import KitCheck, MeasureCase, measure_checks


def found(before: Logs, after: Logs, **more: object) -> dict:
    log = log_of(before)
    return RecordLinkage().compute(MeasureContext(log), release_of(log, after, **more))


def plain(before: Logs, after: Logs) -> float:
    """RL of SPEC 8.3 as it stands."""
    return 100 * sum(_chance(before, log, user) for user, log in after.items()) / len(before)


def _chance(before: Logs, queries: list[str], user: str) -> float:
    common = {u: (Counter(queries) & Counter(own)).total() for u, own in before.items()}
    best = max(common.values())
    likely = [u for u, score in common.items() if score == best] if best else []
    return 1 / len(likely) if user in likely else 0.0


@given(logs_and_releases())
def test_it_is_the_definition(both: tuple[Logs, Logs]) -> None:
    before, after = both
    assert found(before, after).value == pytest.approx(plain(before, after), abs=1e-5)


@given(logs_and_releases())
def test_blocks_of_any_size_give_the_same(both: tuple[Logs, Logs]) -> None:
    before, after = both
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "_CELLS", 1)
        patch.setattr(overlap, "_VISITS", 3)
        small = found(before, after)
    assert small == found(before, after)


def test_values_worked_by_hand() -> None:
    before = {"1": ["a", "a", "b"], "2": ["a", "b", "b"], "3": ["c"], "4": ["d"]}
    after = {"1": ["a", "a", "b"], "2": ["a", "b"], "3": ["a"], "4": ["z"]}
    # 1: three in common with herself, two with user 2: found. 2: two with both: 1/2.
    # 3: her log shows a, which is 1's and 2's. 4: nobody ever sent z.
    told = found(before, after)
    assert told.value == 37.5
    assert (
        told.baselines["chance"],
        told.counts["users"],
        told.counts["vanished"],
        told.counts["logs"],
    ) == (25, 4, 0, 4)
    assert told.summary.endswith(
        "re-identifies 37.5 of 100 users in the release; guessing re-identifies 25"
    )


@given(logs)
def test_an_unchanged_log_gives_everybody_away(before: Logs) -> None:
    value = found(before, before).value
    assert value > 0
    # A log that lies within another one is not told from it.
    held = [Counter(log) for log in before.values()]
    if all(one is two or not one <= two for one in held for two in held):
        assert value == 100


def test_equal_logs_hide_in_each_other() -> None:
    assert found({"1": ["a"], "2": ["a"], "3": ["b"]}, {"1": ["a"], "2": ["a"]}).value == (
        pytest.approx(100 / 3, abs=1e-5)
    )


def test_who_is_not_released_is_not_found() -> None:
    told = found({"1": ["a"], "2": ["b"]}, {})
    assert (told.value, told.counts["vanished"], told.counts["logs"]) == (0, 2, 0)
    told = found({"1": ["a"], "2": ["b"]}, {"2": ["b"]})
    assert (told.value, told.counts["vanished"]) == (50, 1)


def test_a_user_with_several_logs_is_found_by_each() -> None:
    log = log_of({"1": ["a", "b"], "2": ["b"]})
    names = names_of([("1", "p-x"), ("1", "p-y"), ("2", "p-z")])
    release = release_of(log, {"x": ["a"], "y": ["b"], "z": ["b"], "nobody": ["a"]}, mapping=names)
    told = RecordLinkage().compute(MeasureContext(log), release)
    assert told.value == 62.5  # 1: a finds her, b is hers or 2's; 2: b
    assert told.counts["logs"] == 4


def test_a_group_of_k_gives_one_in_k() -> None:
    people = {str(n): [f"mine {n}", "ours", "theirs"] for n in range(6)}
    log = log_of(people)
    shared = {user: ["ours", "theirs"] for user in people}
    assert found(people, shared).value == pytest.approx(100 / 6, abs=1e-5)
    made = run_method(FrequentQueries(min_users=2), log, RandomSource(1), NoProgress())
    assert RecordLinkage().compute(MeasureContext(log), made).value == pytest.approx(
        100 / 6, abs=1e-5
    )


@pytest.fixture
def sports(tmp_path: Path) -> str:
    path = tmp_path / "sports.txt"
    path.write_text("Top/Sports/Tennis\nTop/Sports/Swimming\nTop/Arts/Music\nTop/Arts/Theatre\n")
    return str(path)


def test_phrases_are_compared_with_phrases(sports: str) -> None:
    log = log_of({"1": ["tennis and music", "tennis"], "2": ["swimming and music"]})
    after = {"1": ["tennis", "tennis", "music"], "2": ["music", "tennis"]}
    whole = release_of(log, after)
    assert (
        RecordLinkage().compute(MeasureContext(log), whole).value == 50
    )  # as queries: "tennis" is 1's
    parts = release_of(log, after, parameters={"output_unit": "phrase", "taxonomy": sports})
    told = RecordLinkage().compute(MeasureContext(log), parts)
    assert told.value == 50
    assert "phrases of the log's queries" in told.basis
    only = release_of(
        log,
        {"1": ["music"], "2": ["swimming"]},
        parameters={"output_unit": "phrase", "taxonomy": sports},
    )
    assert RecordLinkage().compute(MeasureContext(log), only).value == 75  # 1: both have music
    assert found({"1": ["x"]}, {"1": ["x"]}, parameters={"output_unit": "query"}).value == 100


def test_a_taxonomy_that_only_the_owner_can_find_is_asked_for(sports: str) -> None:
    log = log_of({"1": ["tennis and music"], "2": ["swimming"]})
    shown = {
        "output_unit": "phrase",
        "taxonomy": "sports.txt",
    }  # a card does not tell where it lies
    release = release_of(log, {"1": ["music"]}, parameters=shown)
    with pytest.raises(UsageError, match=r"record-linkage:taxonomy=FILE"):
        RecordLinkage().compute(MeasureContext(log), release)
    measure = RecordLinkage(taxonomy=sports)
    assert measure.compute(MeasureContext(log), release).value == 50
    assert parse_measure(f"record-linkage:taxonomy={sports}") == measure


def test_a_release_of_semantic_microaggregation(sports: str) -> None:
    people = {str(n): ["tennis", "music"] if n % 2 else ["swimming pool"] for n in range(8)}
    log = log_of(people)
    made = run_method(
        SemanticMicroaggregation(k=2, taxonomy=sports), log, RandomSource(1), NoProgress()
    )
    told = RecordLinkage(taxonomy=sports).compute(MeasureContext(log), made)
    assert 0 < told.value <= 50
    assert told.counts["vanished"] == 0


def test_what_cannot_be_linked_is_refused() -> None:
    with pytest.raises(UsageError, match="no logs of users"):
        found({"1": ["a"]}, {"1": ["a"]}, log=None)
    with pytest.raises(UsageError, match="no private mapping"):
        found({"1": ["a"]}, {"1": ["a"]}, mapping=None)
    with pytest.raises(UsageError, match="no user of this release"):
        found({"1": ["a"]}, {"2": ["a"]})


def test_the_log_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = MeasureContext(log_of({"1": ["a"], "2": ["b"]}))
    RecordLinkage().prepare(before)
    monkeypatch.setattr(before, "log", QueryLog.from_rows([]))
    assert RecordLinkage().compute(before, release_of(before.log, {"1": ["a"]})).value == 50


LINES = (
    "frequent-queries:min-users=3",
    "frequent-queries:min-users=2:pseudonym-scope=session",
    "string-microaggregation:k=3",
)


@pytest.mark.parametrize("line", LINES)
def test_releases_of_real_methods(line: str, tmp_path: Path) -> None:
    write_synthetic_log(tmp_path / "log.tsv", users=60)
    log = read_log(tmp_path / "log.tsv")
    release = run_method(parse_method(line), log, RandomSource(1), NoProgress())
    owner = dict(release.mapping.select("pseudonym", "user").rows())
    before, after = _sent(log.local_frame), _sent(release.log)
    total: dict[str, list[float]] = {}
    for name, queries in after.items():
        total.setdefault(owner[name], []).append(_chance(before, queries, owner[name]))
    want = 100 * sum(sum(chances) / len(chances) for chances in total.values()) / len(before)
    told = RecordLinkage().compute(MeasureContext(log), release)
    assert told.value == pytest.approx(want, abs=1e-5)
    assert (told.counts["logs"], told.counts["vanished"]) == (len(after), len(before) - len(total))


def _sent(rows: pl.LazyFrame) -> Logs:
    found: Logs = {}
    for user, query in rows.select("user", "query").collect().rows():
        found.setdefault(user, []).append(query)
    return found


CASES = [
    # 1 is re-identified, 2 is one of two, 3 shows the queries of others, 4 what nobody sent.
    MeasureCase(
        "four users",
        {"1": ["a", "a", "b"], "2": ["a", "b", "b"], "3": ["c"], "4": ["d"]},
        {"1": ["a", "a", "b"], "2": ["a", "b"], "3": ["a"], "4": ["z"]},
        37.5,
        {"users": 4, "vanished": 0},
    ),
]


@pytest.mark.parametrize("check", measure_checks(RecordLinkage(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
