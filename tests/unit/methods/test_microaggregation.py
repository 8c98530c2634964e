"""Prototypes, texts and blocks of the microaggregation family."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryveil as qv
from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.similarity.distance import concept_distance
from queryveil.concepts.similarity.profiles import (
    build_profiles,
    profile_distance_matrix,
    profile_distances,
)
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import ParameterError
from queryveil.methods.microaggregation.blocking import split_into_blocks
from queryveil.methods.microaggregation.prototypes import (
    group_centroids,
    member_quotas,
    most_repeated_queries,
    select_items,
)
from queryveil.methods.microaggregation.semantic import partition_profiles

PATHS = [f"Top/{a}/{a}{b}/{a}{b}{c}" for a in "xyz" for b in "pq" for c in "12"]
TREE = taxonomy_from_paths(PATHS)
CONCEPTS = st.integers(1, len(TREE) - 1)
LOGS = st.lists(
    st.dictionaries(CONCEPTS, st.integers(1, 5), min_size=0, max_size=5), min_size=4, max_size=12
)


def profiles_from(logs: list[dict[int, int]]):
    rows = [
        (f"u{place:02}", concept, count)
        for place, log in enumerate(logs)
        for concept, count in (log.items() or [(None, 1)])
    ]
    schema = {"user": pl.String, "concept": pl.Int32, "count": pl.Int64}
    return build_profiles(pl.DataFrame(rows, schema=schema, orient="row"))


@settings(max_examples=60, deadline=None)
@given(LOGS)
def test_the_matrix_is_that_of_single_distances(logs: list[dict[int, int]]) -> None:
    made = profiles_from(logs)
    matrix = profile_distance_matrix(TREE, made)
    slow = np.array([profile_distances(TREE, made, user) for user in range(len(made))])
    np.fill_diagonal(slow, 0)
    assert matrix == pytest.approx(slow, abs=2e-6)
    assert (matrix == matrix.T).all()


@settings(max_examples=60, deadline=None)
@given(LOGS)
def test_centres_are_those_of_single_groups(logs: list[dict[int, int]]) -> None:
    made = profiles_from(logs)
    group = np.arange(len(logs)) // 2
    found = group_centroids(TREE, made, group) if any(logs) else None
    for number in range(int(group.max()) + 1) if any(logs) else ():
        members = np.flatnonzero(group == number)
        weights = Counter()
        for user in members.tolist():
            weights.update(logs[user])
        sums = {
            one: sum(count * concept_distance(TREE, one, two) for two, count in weights.items())
            for one in weights
        }
        if sums:  # of equals the lowest number
            least = min(sums.values())
            assert found[number] == min(c for c in sums if sums[c] < least + 1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=9))
def test_quotas_add_up_to_the_mean_length(weights: list[int]) -> None:
    found = member_quotas(np.array(weights), np.zeros(len(weights), np.int64))
    assert found.sum() == int(sum(weights) / len(weights) + 0.5)
    assert all(0 <= quota <= weight for quota, weight in zip(found, weights, strict=True))
    exact = np.array(weights) / len(weights)
    assert (np.abs(found - exact) < 1).all()


@settings(max_examples=60, deadline=None)
@given(LOGS)
def test_items_are_members_own_and_nearest_first(logs: list[dict[int, int]]) -> None:
    if not any(logs):
        return
    made = profiles_from(logs)
    group = np.arange(len(logs)) // 3
    items = select_items(TREE, made, group)
    wanted = member_quotas(np.array([sum(log.values()) for log in logs]), group)
    for user, log in enumerate(logs):
        given_ = Counter(items.concept[items.user == user].tolist())
        assert sum(given_.values()) == wanted[user]
        assert all(log[concept] >= count for concept, count in given_.items())
    assert (items.group == group[items.user]).all()


def test_blocks_hold_every_user_once_and_similar_ones_together() -> None:
    logs = [{1 + (place % 3): 3} for place in range(60)]
    made = profiles_from(logs)
    blocks = split_into_blocks(TREE, made, 20)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(60))
    assert all(len(block) <= 20 for block in blocks)
    assert all(len({place % 3 for place in block.tolist()}) == 1 for block in blocks)


def test_all_users_alike_can_be_cut() -> None:
    made = profiles_from([{1: 1}] * 50)
    assert [len(block) for block in split_into_blocks(TREE, made, 20)] == [16, 17, 17]


@pytest.mark.parametrize("how", ["exact", "blocked"])
def test_every_group_has_k_users(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryveil.methods.microaggregation.semantic.BLOCK_USERS", 20)
    made = profiles_from([{1 + place % 12: 1 + place % 4} for place in range(97)])
    sizes = np.bincount(partition_profiles(TREE, made, 4, how, False, NoProgress()))
    assert sizes.min() >= 4
    assert sizes.max() <= 7


def log_of(*rows: tuple[str, str]) -> qv.QueryLog:
    return qv.QueryLog.from_rows(
        [(user, query, "2006-03-01 10:00:00", 1, f"http://{query[:3]}.example")
         for user, query in rows]
    )  # fmt: skip


ROWS = [(f"u{n}", query) for n in range(6) for query in ("hotel", "paris", f"secret{n} hotel")]


@pytest.mark.parametrize(
    "line",
    ["semantic-microaggregation:k=2", "semantic-microaggregation:k=2:output-unit=query",
     "string-microaggregation:k=2", "category-microaggregation:k=2"],
)  # fmt: skip
def test_what_one_user_alone_sent_never_appears(line: str) -> None:
    release = qv.anonymize(log_of(*ROWS), line)
    texts = release.log.collect()["query"].unique().to_list()
    assert set(texts) <= {"hotel", "paris"}
    assert release.log.collect()["user"].n_unique() == 6


def test_with_one_user_enough_the_release_is_marked() -> None:
    release = qv.anonymize(
        log_of(*ROWS), "semantic-microaggregation:k=2:min-users=1:output-unit=query"
    )
    assert release.not_release_grade_because
    assert "secret" in " ".join(release.log.collect()["query"])


def test_more_users_asked_for_than_there_are() -> None:
    with pytest.raises(ParameterError, match="the log has 6 users"):
        qv.anonymize(log_of(*ROWS), "semantic-microaggregation:k=7")


@pytest.mark.parametrize("method", ["semantic", "string", "category", "syntactic"])
def test_users_without_any_concept_stay(method: str) -> None:
    rows = [(f"u{n}", "qzxv") for n in range(5)] + [(f"v{n}", "hotel") for n in range(5)]
    release = qv.anonymize(log_of(*rows), f"{method}-microaggregation:k=5")
    logs = release.log.collect().group_by("user").agg(pl.col("query").sort())
    assert logs.height == 10
    assert logs["query"].list.len().min() >= 1


def test_a_user_of_very_many_queries() -> None:
    rows = [(f"u{n}", "hotel") for n in range(7)] + [("u0", "paris"), ("u1", "paris")] * 3000
    release = qv.anonymize(log_of(*rows), "semantic-microaggregation:k=3")
    lengths = release.log.collect().group_by("user").len()
    assert lengths.height == 7


def test_clicks_need_as_many_users(tmp_path) -> None:
    many = [(user, "hotel", "2006-03-02 10:00:00", 2, "http://all.example") for user in "abcd"]
    # Of so many draws from one.example and all.example one would show, were it let through.
    rows = [("a", "hotel", "2006-03-01 10:00:00", 1, "http://one.example")] * 40 + many * 10
    release = qv.anonymize(qv.QueryLog.from_rows(rows), "semantic-microaggregation:k=2")
    urls = set(release.log.collect()["url"].drop_nulls())
    assert urls <= {"http://all.example"}
    assert release.write(tmp_path / "out").guarantee.k == 2


def test_prototypes_by_repetition_have_the_mean_length() -> None:
    rows = [("a", "x")] * 10 + [("b", "x")] * 20 + [("b", "y")] * 9 + [("a", "y")]
    log = log_of(*rows)
    members = (
        log.local_frame.select("user").unique().collect().with_columns(group=pl.lit(0, pl.Int64))
    )
    texts, _ = most_repeated_queries(log.local_frame, members.sort("user"), RandomSource(1))
    assert texts.height == 20
    assert set(texts["query"]) <= {"x", "y"}


def test_levels_that_are_no_number() -> None:
    with pytest.raises(ParameterError, match="`levels`"):
        qv.parse_method("category-microaggregation:levels=many")
    assert str(qv.parse_method("category-microaggregation:levels=auto"))


@pytest.mark.parametrize("method", ["string", "category", "syntactic"])
def test_a_frequent_query_stands_in_for_a_rare_one(method: str) -> None:
    """Rare queries about dogs become frequent ones about dogs, not about anything."""
    rows = [(f"u{n}", f"poodle {n}") for n in range(4)]
    rows += [(f"v{n}", query) for n in range(4) for query in ("beagle", "guitar")]
    release = qv.anonymize(log_of(*rows), f"{method}-microaggregation:k=4")
    logs = release.log.collect().group_by("user").agg(pl.col("query").sort())["query"].to_list()
    assert sorted(logs)[:4] == [["beagle"]] * 4
    assert all(len(log) == 2 for log in sorted(logs)[4:])


def test_erola_copies_are_drawn_by_share_and_repetition() -> None:
    """SPEC 3.4: a query of 3 repetitions and a share of 0.4 gives 1.2 copies in the mean."""
    rows = [("a", "x")] * 3 + [("a", f"y{n}") for n in range(597)]
    rows += [(user, f"z{n}") for n in range(450) for user in "bc"]
    log = log_of(*rows)
    members = pl.DataFrame({"user": ["a", "b", "c"], "group": [0, 0, 0]})
    members = members.with_columns(pl.col("user").cast(log.local_frame.collect_schema()["user"]))
    copies = [
        most_repeated_queries(log.local_frame, members, RandomSource(seed))[0]["query"]
        .to_list()
        .count("x")
        for seed in range(300)
    ]
    assert set(copies) == {1, 2}  # the list is not gone through a second time here
    assert sum(copies) / len(copies) == pytest.approx(1.2, abs=0.08)


def plain_sum(tree, prototype: Counter, logs: list[dict[int, int]]) -> float:
    """The sum of Ds (eq. 4) from a prototype to the logs of a group, by the definition."""
    total = 0.0
    for log in logs:
        if not log:
            continue
        forth = sum(
            n * min(concept_distance(tree, c, d) for d in log) for c, n in prototype.items()
        )
        back = sum(n * min(concept_distance(tree, c, d) for d in prototype) for c, n in log.items())
        total += (forth + back) / (sum(prototype.values()) + sum(log.values()))
    return total


def test_the_card_does_not_tell_where_a_taxonomy_lies(tmp_path) -> None:
    paths = tmp_path / "shop.txt"
    paths.write_text("Top/Travel/Hotel\nTop/Travel/Paris\n")
    method = qv.SemanticMicroaggregation(k=2, taxonomy=f"{paths},wordnet")
    release = qv.anonymize(log_of(*ROWS), method)
    assert release.parameters["taxonomy"] == "shop.txt,wordnet"
    release.write(tmp_path / "out")
    assert qv.verify(tmp_path / "out").holds
