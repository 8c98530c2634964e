"""The classic synthetic log has AOL's shape, is the same for a seed, and names nobody."""

from __future__ import annotations

import io
import re
from datetime import datetime
from hashlib import sha256

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from queryveil.errors import UsageError
from queryveil.synthetic import generator as synthetic
from queryveil.synthetic.distributions import AOL_CLICKS, AOL_LINES, AOL_USERS, BlockRandom
from queryveil.synthetic.generator import generate_blocks, planned_rows
from queryveil.synthetic.queries import fake_card_number, identifier
from queryveil.synthetic.sessions import RowKind, plan_sessions, rows_per_user
from queryveil.synthetic.vocabulary import load_vocabulary

EVENT = ["user", "query", "time"]
SCHEMA = pl.Schema(
    {
        "user": pl.String,
        "query": pl.String,
        "time": pl.Datetime("us"),
        "rank": pl.Int32,
        "url": pl.String,
    }
)


def make(users: int | None = None, *, lines: int | None = None, seed: int = 0) -> pl.DataFrame:
    return pl.concat(generate_blocks(users, lines=lines, seed=seed, shape="classic"))


def as_tsv(table: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    table.write_csv(file, separator="\t", quote_style="never", datetime_format="%Y-%m-%d %H:%M:%S")
    return file.getvalue()


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    return make(lines=50_000)


# --- shape ---------------------------------------------------------------------------------------


def test_columns_and_types(log: pl.DataFrame) -> None:
    assert log.schema == SCHEMA
    assert log.select("user", "query", "time").null_count().row(0) == (0, 0, 0)


def test_lines_per_user_are_heavy_tailed() -> None:
    counts = rows_per_user(AOL_USERS, None, 0)
    assert np.median(counts) == pytest.approx(20, abs=1)
    assert counts.sum() == pytest.approx(AOL_LINES, rel=0.02)
    assert 2000 < counts.max() <= 20_000


def test_lines_per_user_with_lines_given() -> None:
    counts = rows_per_user(AOL_USERS, AOL_LINES, 0)
    assert counts.sum() == AOL_LINES
    assert counts.min() >= 1
    assert np.median(counts) == pytest.approx(20, abs=1)


@pytest.mark.parametrize(("lines", "low", "high"), [(5_000, 0.45, 0.55), (200_000, 0.36, 0.46)])
def test_share_of_distinct_queries_falls_slowly(lines: int, low: float, high: float) -> None:
    assert low < make(lines=lines)["query"].n_unique() / lines < high


def test_head_is_navigational(log: pl.DataFrame) -> None:
    head = log.filter(pl.col("query") != "-")["query"].value_counts(sort=True).head(5)
    assert 0.004 < head["count"][0] / log.height < 0.012
    urls = log.filter(pl.col("query") == head["query"][0], pl.col("rank") == 1)["url"]
    assert urls.unique().to_list() == [f"http://www.{head['query'][0]}.example"]


def test_queries_of_several_words(log: pl.DataFrame) -> None:
    worded = log.filter(pl.col("query") != "-")["query"].str.strip_chars()
    assert worded.str.contains(" ").mean() == pytest.approx(0.61, abs=0.03)


def test_dashes_and_untidy_queries(log: pl.DataFrame) -> None:
    assert (log["query"] == "-").mean() == pytest.approx(0.0125, abs=0.003)
    untidy = log["query"].str.contains(r"  | $|[?!,]$| \.$").mean()
    assert untidy == pytest.approx(0.003, abs=0.0015)
    assert log["query"].str.to_lowercase().equals(log["query"])


def test_clicks(log: pl.DataFrame) -> None:
    assert log["rank"].is_null().equals(log["url"].is_null())
    ranks = log["rank"].drop_nulls()
    assert len(ranks) / log.height == pytest.approx(AOL_CLICKS / AOL_LINES, abs=0.02)
    assert ranks.min() == 1
    assert (ranks == 1).mean() == pytest.approx(0.42, abs=0.03)


def test_several_clicks_share_query_and_time_but_not_rank(log: pl.DataFrame) -> None:
    events = log.group_by(EVENT).agg(
        pl.len(), clicks=pl.col("rank").count(), ranks=pl.col("rank").n_unique()
    )
    several = events.filter(pl.col("len") > 1)
    assert several.height / events.height == pytest.approx(0.19, abs=0.03)
    assert (several["len"] == several["clicks"]).all()
    assert (several["len"] == several["ranks"]).all()


def test_users_share_queries_and_addresses(log: pl.DataFrame) -> None:
    clicked = log.drop_nulls("url").filter(~pl.col("query").str.contains(r"^-$|  |[ ?!,.@/]$|\d"))
    pairs = clicked.group_by("query", "rank").agg(pl.col("url").n_unique(), pl.len())
    assert (pairs["url"] == 1).mean() > 0.99  # a few queries are written alike but mean two things
    assert (pairs["len"] > 1).mean() > 0.05


# --- users and sessions --------------------------------------------------------------------------


def test_sorted_by_user_number_and_time(log: pl.DataFrame) -> None:
    assert_frame_equal(log, log.sort(pl.col("user").cast(pl.Int64), "time", maintain_order=True))


def test_three_months_with_days_and_nights(log: pl.DataFrame) -> None:
    assert log["time"].min() >= datetime(2006, 3, 1)
    assert log["time"].max() < datetime(2006, 6, 1)
    assert log["time"].dt.date().n_unique() == 92
    hours = dict(log.group_by(pl.col("time").dt.hour()).len().iter_rows())
    assert hours[20] > 5 * hours[4]


def test_lines_come_in_sessions(log: pl.DataFrame) -> None:
    gaps = log.select(pl.col("time").diff().over("user").dt.total_seconds())["time"].drop_nulls()
    assert gaps.min() == 0
    assert (gaps > 1800).mean() == pytest.approx(0.25, abs=0.03)
    assert gaps.filter(gaps <= 1800).quantile(0.95) < 900


def test_kinds_of_lines_follow_aol() -> None:
    kinds = plan_sessions(rows_per_user(2000, None, 0), BlockRandom.for_block(0, 1)).kind
    assert (kinds <= RowKind.RESENT).mean() == pytest.approx(0.577, abs=0.02)
    assert (kinds == RowKind.NEXT_PAGE).mean() == pytest.approx(0.217, abs=0.02)
    assert (kinds == RowKind.FURTHER_CLICK).mean() == pytest.approx(0.206, abs=0.02)
    assert (kinds == RowKind.RESENT).mean() > 0.02
    assert (kinds == RowKind.REFORMULATED).mean() > 0.1


def test_lines_repeat_only_own_and_earlier_ones() -> None:
    lines = plan_sessions(rows_per_user(500, None, 3), BlockRandom.for_block(3, 1))
    source = lines.source
    assert (source <= np.arange(len(source))).all()
    assert (lines.user[source] == lines.user).all()
    assert (lines.kind[source] <= RowKind.REFORMULATED).all()


def test_reformulations_keep_words(log: pl.DataFrame) -> None:
    pairs = log.with_columns(before=pl.col("query").shift().over("user")).filter(
        pl.col("before") != pl.col("query")
    )
    words, before = pairs["query"].str.split(" "), pairs["before"].str.split(" ")
    shared = pl.select(words.list.set_intersection(before).list.len())[:, 0]
    assert (shared > 0).mean() > 0.2


def test_users_come_back_to_their_topics() -> None:
    words = load_vocabulary()
    topic_of = {
        word: topic
        for topic, (start, size) in enumerate(zip(words.starts, words.sizes, strict=True))
        for word in words.words[int(start) : int(start + size)]
    }
    topics = make(400, seed=5).with_columns(
        topic=pl.col("query").replace_strict(topic_of, default=None, return_dtype=pl.Int64)
    )
    most = (
        topics.drop_nulls("topic")
        .group_by("user", "topic")
        .len()
        .group_by("user")
        .agg(share=pl.col("len").top_k(5).sum() / pl.col("len").sum(), lines=pl.col("len").sum())
    )
    assert most.filter(pl.col("lines") >= 20)["share"].mean() > 0.8


# --- sizes and seeds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("users", "lines"), [(None, 1), (None, 777), (1, 1), (1, 20_000), (7, 7), (123, 4567)]
)
def test_exact_lines_and_users(users: int | None, lines: int) -> None:
    log = make(users, lines=lines)
    assert log.height == lines == planned_rows(users, lines=lines, shape="classic")
    assert log["user"].n_unique() == (users or max(1, round(lines / 55.35)))
    assert log["time"].min() >= datetime(2006, 3, 1)
    assert log["time"].max() < datetime(2006, 6, 1)


def test_thousand_users_when_nothing_is_asked_for() -> None:
    log = make()
    assert log["user"].n_unique() == 1000
    assert log.height == planned_rows(shape="classic")


def test_blocks_keep_users_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_ROWS", 1000)
    blocks = list(generate_blocks(lines=10_000, shape="classic"))
    assert len(blocks) > 3
    users = [set(block["user"]) for block in blocks]
    assert sum(map(len, users)) == len(set.union(*users))
    assert sum(map(len, blocks)) == 10_000


def test_same_seed_same_log() -> None:
    assert_frame_equal(make(50, seed=4), make(50, seed=4))


def test_other_seed_other_log() -> None:
    first, second = make(lines=2000, seed=1), make(lines=2000, seed=2)
    assert (first["query"] == second["query"]).mean() < 0.1


@pytest.mark.parametrize(
    ("arguments", "digest"),
    [
        ({"users": 300, "seed": 11}, "929be3fde94eb5db"),
        ({"lines": 5000, "seed": 7}, "d197cfbefe5c0620"),
        ({"users": 123, "lines": 4567, "seed": 3}, "e169c0418b24684a"),
    ],
)
def test_classic_log_is_pinned(arguments: dict[str, int], digest: str) -> None:
    """Published numbers mean these bytes: they never change, and are the same on every machine."""
    assert sha256(as_tsv(make(**arguments))).hexdigest()[:16] == digest


def test_classic_log_of_several_blocks_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_ROWS", 1000)
    digest = sha256(as_tsv(make(lines=10_000, seed=5))).hexdigest()[:16]
    assert digest == "a266c276787c2e13"


@pytest.mark.parametrize(
    ("users", "lines", "seed"),
    [(0, None, 0), (-1, None, 0), (None, 0, 0), (10, 9, 0), (1, 20_001, 0), (None, None, -1)],
)
def test_bad_values_are_refused_at_once(users: int | None, lines: int | None, seed: int) -> None:
    with pytest.raises(UsageError) as caught:
        make(users, lines=lines, seed=seed)
    assert caught.value.hint


def test_too_large_values_are_refused() -> None:
    for arguments in ({"lines": 10**12}, {"users": 10**9}, {"seed": 2**64}):
        with pytest.raises(UsageError):
            generate_blocks(**arguments)


# --- nobody's data -------------------------------------------------------------------------------


def test_addresses_are_reserved_ones(log: pl.DataFrame) -> None:
    assert log["url"].drop_nulls().str.contains(r"^http://www\.[a-z-]+\.example$").all()
    dotted = log["query"].filter(log["query"].str.contains(r"[a-z]\.[a-z]"))
    assert dotted.str.contains(r"\.example\b").all()


def testidentifiers_are_from_reserved_ranges() -> None:
    harmless = (
        r"[a-z]+\.[a-z]+@[a-z]+\.example",
        r"\d{3}-555-01\d\d",
        r"400000\d{10}",
        r"987-65-432\d",
        r"http://www\.[a-z]+\.example/reset\?token=[0-9a-f]{14}",
    )
    made = [identifier(number, load_vocabulary()) for number in range(0, 10**15, 10**12 + 7)]
    for text in made:
        assert any(re.fullmatch(pattern, text) for pattern in harmless), text
    assert len({next(p for p in harmless if re.fullmatch(p, text)) for text in made}) == 5


@pytest.mark.parametrize("number", [0, 1, 123_456_789, 10**9 - 1, 10**12])
def test_cards_pass_luhn(number: int) -> None:
    digits = [int(digit) for digit in fake_card_number(number)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[::2]]
    assert len(digits) == 16
    assert (sum(doubled) + sum(digits[1::2])) % 10 == 0


def testidentifiers_are_rare_but_there(log: pl.DataFrame) -> None:
    found = log["query"].str.contains(r"@|555-01|^400000|987-65|token=").mean()
    assert found == pytest.approx(0.0005, abs=0.0005)
    assert found > 0


def test_vocabulary() -> None:
    words = load_vocabulary()
    assert 100 <= len(words.topics) <= 150
    assert words.sizes.sum() == words.given
    assert words.sizes.min() >= 15
    assert words.words.str.contains(r"^[a-z]+( [a-z]+)*$").all()
    assert words.words.str.len_chars().min() >= 3
    assert load_vocabulary() is words
