"""Work that must not grow faster than a log: bytes are counted, not seconds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.similarity.profiles import Profiles
from queryveil.concepts.taxonomy.arrays import RaggedArray
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.methods.microaggregation import blocking as blocks
from queryveil.methods.replacement import mechanism
from queryveil.methods.replacement import rendering as texts
from queryveil.methods.replacement.semantic import SemanticReplacement
from queryveil.release import checks
from queryveil.release import verification as verify
from queryveil.release.guarantee import Check

ROWS = 600_000
PIECE = 20_000


def most_bytes(run: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a run gave, and the most bytes that NumPy and Python held for it at once."""
    tracemalloc.start()
    try:
        found = run()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def method() -> SemanticReplacement:
    return SemanticReplacement(domain="sport", criterion="nsqc", epsilon=50.0)


@pytest.mark.parametrize("empty", [True, False])
def test_drawing_takes_little_more_than_what_is_drawn(
    method: SemanticReplacement, monkeypatch: pytest.MonkeyPatch, empty: bool
) -> None:
    monkeypatch.setattr(mechanism, "PIECE", PIECE)
    made = method.mechanism(method.domains(), NoProgress())
    items = np.full(ROWS, -1 if empty else 3, np.int32)
    noise = NoiseSource(RandomSource(1).uint64s)
    made.replace(items[:10], noise, NoProgress())  # what is kept of it is not counted below
    found, most = most_bytes(lambda: made.replace(items, noise, NoProgress()))
    assert len(found) == ROWS
    assert int(found.min()) >= 0
    assert most < found.nbytes + 300 * PIECE


def test_writing_takes_no_table_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "PIECE", PIECE)
    users, taxonomy = ROWS // 100, open_taxonomy("wordnet")
    names = pl.Series([f"n{n:06}" for n in range(users)]).shuffle(1)
    mapping = pl.DataFrame({"user": [f"u{n}" for n in range(users)], "pseudonym": names})
    sizes, concepts = np.full(users, 100), np.arange(ROWS, dtype=np.int32) % len(taxonomy)
    texts.publishable_labels(taxonomy)
    ordered, most = most_bytes(lambda: texts.by_pseudonym(mapping, sizes, concepts))
    assert most < 4 * ROWS + 80 * PIECE
    written, most = most_bytes(
        lambda: texts.render_rows(taxonomy, mapping, sizes, ordered, RandomSource(1))
    )
    assert written.log.height == written.concepts.height == ROWS
    rows = written.log.with_columns(concept=written.concepts["concept"]).sort("user", "time")
    first = mapping.with_row_index("place").sort("pseudonym")["place"].to_numpy()
    assert rows["time"].to_list()[:100] == list(range(1, 101))
    assert rows["concept"].to_list()[:100] == concepts[100 * first[0] :][:100].tolist()
    assert rows["user"].cast(pl.String).is_sorted()
    assert np.shares_memory(written.concepts["concept"].to_numpy(), ordered)
    assert most < 2 * ROWS + 140 * PIECE


def test_pieces_of_whole_users() -> None:
    cut = list(texts._split_users(np.array([3, 0, 2, 5, 1])))
    assert cut == [(0, 5)]
    assert list(texts._split_users(np.array([], np.int64))) == [(0, 0)]


def test_what_is_written_does_not_depend_on_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    taxonomy = open_taxonomy("wordnet")
    mapping = pl.DataFrame({"user": ["a", "b", "c", "d"], "pseudonym": ["z", "x", "w", "y"]})
    sizes, concepts = np.array([2, 0, 3, 1]), np.array([5, 6, 7, 8, 9, 10], np.int32)
    before = np.array([4, 0, 0, 7])
    tables = []
    for piece in (100, 1, 3):
        monkeypatch.setattr(texts, "PIECE", piece)
        ordered = texts.by_pseudonym(mapping, sizes, concepts)
        made = texts.render_rows(taxonomy, mapping, sizes, ordered, RandomSource(1), before)
        table = made.log.select(pl.col("user").cast(pl.String), pl.col("time").cast(pl.Int32))
        tables.append(table.with_columns(made.concepts["concept"]).rows())
    assert tables[0] == [
        ("w", 1, 7), ("w", 2, 8), ("w", 3, 9), ("y", 8, 10), ("z", 5, 5), ("z", 6, 6),
    ]  # fmt: skip
    assert tables == [tables[0]] * 3


def test_cutting_into_blocks_takes_little_more_than_the_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_WHOLE", 1000)
    monkeypatch.setattr(blocks, "_USERS", 500)
    users = 20_000
    concepts = np.arange(users, dtype=np.int32) * 7919 % 300
    profiles = Profiles(
        pl.Series([f"u{n}" for n in range(users)]),
        RaggedArray.from_sizes(np.ones(users, np.int64), concepts),
        np.ones(users, np.int64),
    )
    found, most = most_bytes(lambda: blocks.split_into_blocks(None, profiles, 1000))
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(users))
    assert max(map(len, found)) <= 1000
    points = users * 128 * 4
    assert most < 2 * points


# --- verifying -----------------------------------------------------------------------------------


def slotted(users: int, rows: int) -> pl.LazyFrame:
    table = {"user": np.repeat(np.arange(users), rows), "time": np.tile(np.arange(rows) + 1, users)}
    return pl.LazyFrame(table).with_columns(pl.col("user", "time").cast(pl.String))


def of(user: int, slot: int) -> pl.Expr:
    return (pl.col("user") == str(user)) & (pl.col("time") == str(slot))


def time_is(where: pl.Expr, time: str | None) -> pl.Expr:
    return pl.when(where).then(pl.lit(time)).otherwise("time").alias("time")


@pytest.mark.parametrize("batch", [1 << 20, 7])
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_slots_are_checked_user_by_user(
    monkeypatch: pytest.MonkeyPatch, batch: int, kind: pl.DataType
) -> None:
    monkeypatch.setattr(checks, "_BATCH", batch)
    check, log = Check("slots", {"rows": 5, "all": True}), slotted(60, 5)
    later = log.with_columns(pl.col("time").cast(pl.Int32) + 20)
    for good in (log, later, log.reverse()):
        assert checks.run_check(check, good.cast({"user": kind})).holds
    bad = {
        "one twice, one missing": log.with_columns(time_is(of(17, 3), "2")),
        "one left out": log.filter(~of(17, 3)),
        "the last left out": log.filter(~of(17, 5)),
        "one too many": pl.concat([log, log.filter(of(17, 5)).with_columns(time=pl.lit("6"))]),
        "a gap": log.with_columns(time_is(of(17, 5), "6")),
        "a date": log.with_columns(time_is(of(17, 3), "2006-03-01")),
        "no number": log.with_columns(time_is(of(17, 3), None)),
        "all the same": log.with_columns(time_is(pl.col("user") == "17", "4")),
    }
    for why, wrong in bad.items():
        found = checks.run_check(check, wrong.cast({"user": kind}))
        assert not found.holds, why
        assert "not so for 1:" in found.message, why
    two = log.with_columns(time_is(of(17, 3) | of(18, 3), "2"))
    assert "not so for 2:" in checks.run_check(check, two).message


def test_no_check_of_a_long_log_holds_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    users, rows, batch = 60, 50, 100
    monkeypatch.setattr(checks, "_BATCH", batch)
    heights, collect, batches = [], pl.LazyFrame.collect, pl.LazyFrame.collect_batches

    def counted(frame: pl.LazyFrame, **given: Any) -> pl.DataFrame:
        found = collect(frame, **given)
        heights.append(found.height)
        return found

    def cut(frame: pl.LazyFrame, **given: Any) -> Any:
        for found in batches(frame, **given):
            heights.append(found.height)
            yield found

    monkeypatch.setattr(pl.LazyFrame, "collect", counted)
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", cut)
    log = slotted(users, rows).with_columns(
        pl.lit("x").alias("query"), pl.lit(None, pl.Int32).alias("rank"), pl.lit("").alias("url")
    )
    for check in (Check("slots", {"rows": rows, "all": True}), Check("no-identifiers", {})):
        assert checks.run_check(check, log).holds
    assert max(heights) <= max(users, batch)


def test_a_long_log_is_not_held_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_LONG", 100)
    log = slotted(60, 5).with_columns(
        pl.lit("x").alias("query"), pl.lit(None, pl.Int32).alias("rank"), pl.lit("").alias("url")
    )
    passes = [Check(name, {}) for name in ("slots", "no-clicks", "no-identifiers")]
    assert verify._encoded(log, passes) is log
    assert verify._encoded(log, passes[:2]) is log
    for others in ([Check("min-ids", {})], [Check("slots", {}), Check("equal-logs", {})]):
        assert verify._encoded(log, others) is not log
    assert verify._encoded(log.head(50), [Check("slots", {})]) is not log
