"""`synth --topics`: users with interests, whose queries are all understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import queryveil as qv
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.topics import topic_preset
from queryveil.errors import UsageError
from queryveil.synthetic.topical import generate_topical, topical_rows


def test_every_query_is_one_concept_of_the_four_domains() -> None:
    log = topical_rows("A", 60, 50, seed=3)
    assert log.shape == (3000, 5)
    assert log.columns == ["user", "query", "time", "rank", "url"]
    assert set(log["user"].value_counts()["count"]) == {50}
    wordnet = open_taxonomy("wordnet")
    queries = log["query"].unique().sort()
    found = Mapper(wordnet).map(queries)
    assert sorted(found.phrases["query"].to_list()) == list(range(len(queries)))
    nineteen, four = topic_preset(wordnet, "sanchez19"), topic_preset(wordnet, "sanchez4")
    concepts = found.phrases["concept"].to_numpy()
    assert nineteen.topic_of[concepts].min() >= 0
    assert four.topic_of[concepts].min() >= 0
    assert len(set(nineteen.topic_of[concepts].tolist())) == 19
    assert log["rank"].null_count() == log["url"].null_count() == log.height


def test_times_rise() -> None:
    log = topical_rows("A", 4, 30, seed=3)
    for (_,), mine in log.group_by("user", maintain_order=True):
        assert mine["time"].is_sorted()
        assert mine["time"].n_unique() == 30


def test_users_differ_in_what_they_like() -> None:
    words = [[f"{topic} {n}" for n in range(5)] for topic in "abcd"]
    log = generate_topical(words, [0, 0, 1, 1], users=300, queries=40, seed=1)
    topic = log["query"].str.slice(0, 1)
    shares = log.with_columns(topic=topic).group_by("user", "topic").len()
    most = shares.group_by("user").agg(pl.col("len").max())["len"]
    assert float(np.mean(most.to_numpy())) > 20  # of 40: a strong interest
    assert topic.n_unique() == 4
    firsts = log["query"].str.ends_with(" 0").sum()
    assert firsts > log.height / 5 * 1.5  # the first words of a topic are asked most


def test_a_seed_gives_the_same_log(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.tsv", "two.tsv", "three.tsv")]
    for path, seed in zip(paths, (5, 5, 6), strict=True):
        card = qv.write_synthetic_log(path, users=20, topics="A", queries=7, seed=seed)
        assert (card.users, card.rows) == (20, 140)
    one, two, three = (path.read_bytes() for path in paths)
    assert one == two != three
    log = qv.read_log(paths[0])
    assert (log.count_distinct("user"), log.count()) == (20, 140)


def test_by_default_there_are_a_hundred_queries_each(tmp_path: Path) -> None:
    card = qv.write_synthetic_log(tmp_path / "log.parquet", users=3, topics="A")
    assert card.rows == 300


@pytest.mark.parametrize(
    "asked",
    [
        {"queries": 5},
        {"topics": "A", "lines": 100},
        {"topics": "A", "users": 0},
        {"topics": "A", "queries": 0},
        {"topics": "A", "queries": 1001},
        {"topics": "A", "users": 100_001},
        {"topics": "A", "users": -1},
        {"topics": "astma"},
        {"topics": ""},
        {"topics": "n#14145095"},  # not two topics with words
    ],
)
def test_what_is_refused(tmp_path: Path, asked: dict[str, Any]) -> None:
    if asked.get("topics") == "n#14145095":
        asked = {"topics": _leaf()}
    with pytest.raises(UsageError):
        qv.write_synthetic_log(tmp_path / "log.tsv", **asked)
    assert not list(tmp_path.iterdir())


def _leaf() -> str:
    wordnet = open_taxonomy("wordnet")
    below = wordnet.descendants(wordnet.find("n#00523513")).tolist()
    return wordnet.name(next(c for c in below if not len(wordnet.children(c))))


@pytest.mark.parametrize(("words", "groups"), [([], []), ([["a"], []], [0, 0]), ([["a"]], [0, 1])])
def test_topics_need_words(words: list[list[str]], groups: list[int]) -> None:
    with pytest.raises(UsageError, match="words"):
        generate_topical(words, groups, users=2, queries=2)
