"""`semantic-replacement` goes on with an earlier release: names, numbers, and what is left."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.ledger.ledger import Ledger
from queryveil.methods.continuation import PreviousContributions
from queryveil.methods.replacement.semantic import SemanticReplacement as Replacement
from queryveil.methods.runner import run_extension, run_method

SPORT = "n#00523513"
STRICT = Replacement(domain=SPORT, max_phrases_per_user=3)
KEPT = Replacement(domain=SPORT, max_phrases_per_user=3, preserve_length=True)

known_mapper = cache(Mapper)


@pytest.fixture(autouse=True)
def no_hints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("queryveil.concepts.mapping.options.Mapper", known_mapper)


def log(day: int, **queries: list[str]) -> qv.QueryLog:
    return qv.QueryLog.from_rows(
        [
            (user, query, f"2006-03-{day:02} {hour:02}:00:00", None, None)
            for user, mine in queries.items()
            for hour, query in enumerate(mine)
        ]
    )


def first(method: Replacement) -> qv.Release:
    return run_method(
        method, log(1, ann=["tennis", "golf"], bob=["judo"]), RandomSource(1), NoProgress()
    )


def rows_of(release: qv.Release) -> dict[str, list[int]]:
    """Give the numbers of each user's rows."""
    rows = release.log.collect().with_columns(pl.col("user").cast(pl.String))
    named = dict(release.mapping.select("pseudonym", "user").rows())
    found: dict[str, list[int]] = {}
    for name, slot in rows.select("user", "time").rows():
        found.setdefault(named[name], []).append(slot)
    return {user: sorted(slots) for user, slots in found.items()}


def slots_in(mapping: pl.DataFrame) -> dict[str, int]:
    return dict(mapping.select("user", "slots").rows())


NEW = log(2, ann=["polo", "rugby", "football"], cat=["swimming"], dan=["zz"])


def test_a_first_release_tells_what_was_used() -> None:
    assert slots_in(first(STRICT).mapping) == {"ann": 3, "bob": 3}
    assert slots_in(first(KEPT).mapping) == {"ann": 2, "bob": 1}


@pytest.mark.parametrize(
    ("method", "most", "rows", "used"),
    [
        # Who has used all gets no row, who is new all of them, also for unknown queries.
        (STRICT, 3, {"cat": [1, 2, 3], "dan": [1, 2, 3]}, {"ann": 3, "bob": 3, "cat": 3, "dan": 3}),
        # A part of the slots would tell how much was used: nothing is written of it.
        (STRICT, 5, {"cat": [1, 2, 3], "dan": [1, 2, 3]}, {"ann": 3, "bob": 3, "cat": 3, "dan": 3}),
        (
            STRICT, 6,
            {"ann": [4, 5, 6], "bob": [4, 5, 6], "cat": [1, 2, 3], "dan": [1, 2, 3]},
            {"ann": 6, "bob": 6, "cat": 3, "dan": 3},
        ),
        (KEPT, 3, {"ann": [3], "cat": [1]}, {"ann": 3, "bob": 1, "cat": 1, "dan": 0}),
        (KEPT, 4, {"ann": [3, 4], "cat": [1]}, {"ann": 4, "bob": 1, "cat": 1, "dan": 0}),
        (KEPT, 6, {"ann": [3, 4, 5], "cat": [1]}, {"ann": 5, "bob": 1, "cat": 1, "dan": 0}),
        (KEPT, 2, {"cat": [1]}, {"ann": 2, "bob": 1, "cat": 1, "dan": 0}),
    ],
)  # fmt: skip
def test_rows_go_on_within_what_is_left(method, most, rows, used) -> None:
    before = first(method).mapping
    earlier = PreviousContributions(before, most)
    release = run_extension(method, NEW, earlier, RandomSource(2), NoProgress())
    assert rows_of(release) == rows
    assert slots_in(release.mapping) == used
    names = dict(release.mapping.select("user", "pseudonym").rows())
    assert {user: names[user] for user in ("ann", "bob")} == dict(
        before.select("user", "pseudonym").rows()
    )
    assert len(set(names.values())) == 4
    # What is named beforehand is what is used.
    uses = slots_in(method.count_contributions(NEW, earlier))
    old = slots_in(before)
    assert {user: old.get(user, 0) + now for user, now in uses.items()} == used


def test_others_do_not_change_how_much_is_used() -> None:
    earlier = PreviousContributions(first(KEPT).mapping, 6)
    alone = slots_in(KEPT.count_contributions(log(2, ann=["polo", "rugby"]), earlier))
    many = slots_in(
        KEPT.count_contributions(log(2, ann=["polo", "rugby"], cat=["golf"] * 3), earlier)
    )
    assert alone["ann"] == many["ann"] == 2


def test_every_row_of_an_extension_is_accounted_for() -> None:
    for method, most in ((STRICT, 3), (STRICT, 6), (KEPT, 3), (KEPT, 2)):
        release = run_extension(
            method,
            NEW,
            PreviousContributions(first(method).mapping, most),
            RandomSource(2),
            NoProgress(),
        )
        card = release.preview_card()
        released = release.log.collect().height
        assert card.input.rows + sum(card.generated.values()) == released + sum(
            card.dropped.values()
        )
    nothing = "nothing is left of the user's budget"
    release = run_extension(
        KEPT, NEW, PreviousContributions(first(KEPT).mapping, 2), RandomSource(2), NoProgress()
    )
    assert release.dropped[nothing] == 3


def test_what_was_spent_before_is_told() -> None:
    promise = Replacement(epsilon=2, previous_epsilon=1.5).guarantee()
    assert promise.epsilon == 3.5
    assert "includes epsilon 1.5" in promise.statement
    assert promise.per_query_epsilon == pytest.approx(0.02)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    header = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    lines = (line.split() for line in text.split(","))
    path.write_text(
        header + "".join(f"{u}\t{q}\t2006-03-{int(d):02} 10:00:00\t\t\n" for u, q, d in lines)
    )
    return path


@pytest.mark.parametrize("method", [STRICT, KEPT], ids=["strict", "keep-length"])
def test_from_release_to_release(method: Replacement, tmp_path: Path) -> None:
    one = write(tmp_path / "logs" / "one.tsv", "ann tennis 1,ann golf 2,bob judo 1")
    two = write(
        tmp_path / "logs" / "two.tsv",
        "ann tennis 1,ann golf 2,bob judo 1,ann polo 5,ann rugby 6,cat football 5",
    )
    qv.anonymize_to_folder(qv.read_log(one), method, tmp_path / "a")
    card = qv.extend_release(qv.read_log(two, since="2006-03-05"), tmp_path / "a", tmp_path / "b")
    assert qv.verify(tmp_path / "b").holds
    assert card.guarantee.epsilon == 1
    # Who is new in the second log is seen, so the promise about both is conditional.
    assert card.guarantee.model == "conditional-dp"
    assert "in which of the logs each user first appears" in card.guarantee.given
    rows = pl.read_parquet(tmp_path / "b" / "public" / "log.parquet")
    assert rows.height == (3 if method is STRICT else 2)
    with Ledger.open(tmp_path / "logs" / "ledger.db", create=False) as ledger:
        assert ledger.spent().epsilon == 1
    three = write(tmp_path / "logs" / "three.tsv", "ann polo 6,bob golf 8,dan judo 9")
    log = qv.read_log(three, since="2006-03-07")
    more = qv.extend_release(log, tmp_path / "b", tmp_path / "c", add_budget=True)
    assert more.guarantee.epsilon == 2
    assert qv.verify(tmp_path / "c").holds
    rows = pl.read_parquet(tmp_path / "c" / "public" / "log.parquet")
    numbers = sorted(rows["time"].cast(pl.Int64).to_list())
    # All four users again, those of before from 4 on; or bob's second phrase and dan's first.
    assert numbers == ([1, 2, 3, *sorted([4, 5, 6] * 3)] if method is STRICT else [1, 2])
