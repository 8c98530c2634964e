"""Profiles of users, against eqs. (3), (4) and (6) of Batet 2013 written out; Erola's levels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.similarity import profiles
from queryveil.concepts.similarity.distance import concept_distance
from queryveil.concepts.similarity.profiles import (
    UNMAPPED,
    Profiles,
    build_profiles,
    centroid_concept,
    profile_distance,
    profile_distances,
)
from queryveil.concepts.similarity.topics import ancestors_at_depth, level_matrices
from queryveil.concepts.taxonomy.arrays import RaggedArray
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import UsageError

ODP = taxonomy_from_paths(
    [
        "Top/Sports/Water_Sports/Windsurfing",
        "Top/Sports/Water_Sports/Swimming_and_Diving",
        "Top/Regional/Europe/Mediterranean",
        "Top/Sports/Tennis",
    ]
)
WIND, SWIM, SEA = map(ODP.find, ("Windsurfing", "Swimming and Diving", "Mediterranean"))


def pairs_of(*rows: tuple[str, int | None]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"user": pl.String, "concept": pl.Int32}, orient="row")


def profiles_from(logs: list[dict[int, int]]) -> Profiles:
    lists = RaggedArray.from_lists([sorted(log) for log in logs])
    counts = [log[concept] for log in logs for concept in sorted(log)]
    users = pl.Series("user", [f"{place:03}" for place in range(len(logs))], dtype=pl.String)
    return Profiles(users, lists, np.array(counts, np.int64))


# --- the definition, slowly ----------------------------------------------------------------------


def pair_distance(a: int, b: int) -> float:
    return float(a != b) if UNMAPPED in (a, b) else concept_distance(ODP, a, b)


def slow_distance(one: dict[int, int], two: dict[int, int]) -> float:
    if not one or not two:
        return float(one != two)
    mine = sum(w * min(pair_distance(c, d) for d in two) for c, w in one.items())
    hers = sum(w * min(pair_distance(c, d) for d in one) for c, w in two.items())
    return (mine + hers) / (sum(one.values()) + sum(two.values()))


def slow_centre_sums(logs: list[dict[int, int]]) -> dict[int, float]:
    weights: dict[int, int] = {}
    for log in logs:
        for concept, count in log.items():
            weights[concept] = weights.get(concept, 0) + count
    return {c: sum(w * pair_distance(c, d) for d, w in weights.items()) for c in sorted(weights)}


LOGS = st.dictionaries(
    st.integers(UNMAPPED, len(ODP) - 1), st.integers(1, 9), min_size=0, max_size=5
)


@settings(max_examples=80, deadline=None)
@given(st.lists(LOGS, min_size=1, max_size=6), st.integers(1, 8))
def test_distances_of_profiles(logs: list[dict[int, int]], cells: int) -> None:
    made = profiles_from(logs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "_MAX_PROFILE_CELLS", cells)  # blocks of one row, or of a few
        found = np.array([profile_distances(ODP, made, i) for i in range(len(logs))])
    slow = [[slow_distance(one, two) for two in logs] for one in logs]
    assert found == pytest.approx(np.array(slow), abs=1e-6)
    assert found == pytest.approx(found.T, abs=1e-6)
    assert (np.diag(found) == 0).all()
    assert ((found >= 0) & (found <= 1)).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(LOGS, min_size=2, max_size=6), st.data())
def test_distances_to_some(logs: list[dict[int, int]], data: st.DataObject) -> None:
    made = profiles_from(logs)
    user = st.integers(0, len(logs) - 1)
    others = np.array(data.draw(st.lists(user, max_size=4)), np.int64)
    one = data.draw(user)
    found = profile_distances(ODP, made, one, others)
    assert found.tolist() == pytest.approx(profile_distances(ODP, made, one)[others].tolist())


@settings(max_examples=60, deadline=None)
@given(st.lists(LOGS.filter(bool), min_size=1, max_size=6))
def test_centre_of_a_group(logs: list[dict[int, int]]) -> None:
    sums = slow_centre_sums(logs)
    centre = centroid_concept(ODP, profiles_from(logs), np.arange(len(logs)))
    near = [c for c, total in sums.items() if total <= min(sums.values()) + 1e-9]
    assert centre == near[0]


# --- the paper -----------------------------------------------------------------------------------


def test_example_4_of_batet() -> None:
    first = [("1", WIND), ("1", SEA)]
    second = [("2", SWIM), ("2", SEA), ("2", SEA)]
    made = build_profiles(pairs_of(*first, *second))
    assert profile_distance(ODP, made, 0, 1) == 1 / 5
    assert profile_distance(ODP, made, 1, 0) == 1 / 5


def test_the_same_concepts_in_other_shares_are_no_distance() -> None:
    made = profiles_from([{SEA: 1, WIND: 9}, {SEA: 9, WIND: 1}])
    assert profile_distance(ODP, made, 0, 1) == 0


def test_equal_centres_give_the_lowest_number() -> None:
    made = profiles_from([{WIND: 1}, {SWIM: 1}, {SEA: 5}])
    assert centroid_concept(ODP, made, np.array([0, 1])) == min(WIND, SWIM)
    assert centroid_concept(ODP, made, np.array([0, 1, 2])) == SEA


# --- making --------------------------------------------------------------------------------------


def test_no_user_is_lost() -> None:
    made = build_profiles(pairs_of(("b", SEA), ("b", None), ("a", None), ("a", None), ("b", SEA)))
    assert made.users.to_list() == ["a", "b"]
    assert [made.lists[user].tolist() for user in (0, 1)] == [[UNMAPPED], [SEA]]
    assert made.counts.tolist() == [1, 2]
    assert made.weights.tolist() == [1, 2]
    assert profile_distance(ODP, made, 0, 0) == 0
    assert profile_distance(ODP, made, 0, 1) == 1


def test_counts_may_be_given_and_users_encoded() -> None:
    table = pairs_of(("b", 5), ("b", 2), ("a", 2), ("b", 5)).with_columns(
        pl.col("user").cast(pl.Categorical), count=pl.Series([3, 1, 7, 2])
    )
    made = build_profiles(table.lazy())
    assert made.users.to_list() == ["a", "b"]
    assert made.users.dtype == pl.String
    assert made.lists.items.tolist() == [2, 2, 5]
    assert made.counts.tolist() == [7, 1, 5]
    assert len(made) == 2


def test_no_rows_are_no_users() -> None:
    made = build_profiles(pairs_of())
    assert len(made) == 0
    assert level_matrices(ODP, pairs_of(), 2)[1].columns == ["user", "category", "count"]


def test_misuse() -> None:
    with pytest.raises(UsageError, match="column concept"):
        build_profiles(pl.DataFrame({"user": ["a"]}))
    with pytest.raises(UsageError, match="no centroid"):
        centroid_concept(ODP, profiles_from([{}]), np.array([0]))
    with pytest.raises(UsageError, match="no such concept"):
        profile_distance(ODP, profiles_from([{99: 1}, {1: 1}]), 0, 1)
    with pytest.raises(UsageError, match="no level 0"):
        ancestors_at_depth(ODP, 0)
    with pytest.raises(UsageError, match="levels must be at least 1, got 0"):
        level_matrices(ODP, pairs_of(), 0)
    with pytest.raises(UsageError, match="no concept 99"):
        level_matrices(ODP, pairs_of(("a", 99)), 1)


# --- levels --------------------------------------------------------------------------------------


def test_prefixes_of_a_path() -> None:
    soccer = taxonomy_from_paths(["Top/Sports/Soccer/UEFA/Spain/Clubs/Barcelona"])
    cut = ancestors_at_depth(soccer, 2)
    assert soccer.name(cut[soccer.find("Barcelona")]) == "Top/Sports/Soccer"
    assert cut[soccer.find("Sports")] == UNMAPPED
    assert ancestors_at_depth(soccer, 7).tolist() == [-1] * len(soccer)


def test_a_real_root_is_the_first_level() -> None:
    home = taxonomy_from_paths(["Home/Garden/Mowers"])
    assert ancestors_at_depth(home, 1).tolist() == [0, 0, 0]
    assert ancestors_at_depth(home, 2).tolist() == [-1, 1, 1]


def test_a_graph_has_one_prefix_a_level() -> None:
    draft = TaxonomyBuilder("graph")
    for line, name in enumerate("abcd", 1):
        draft.add(name, line, name)
    for child, parent in ((1, 0), (2, 1), (3, 0), (3, 2)):  # d is below a, and below a/b/c
        draft.edge(child, parent)
    graph = draft.build(RepairLog("graph"))
    d = graph.find("d")
    assert [int(ancestors_at_depth(graph, level)[d]) for level in (1, 2, 3)] == [0, d, -1]


def slow_prefix(tree: Taxonomy, concept: int, level: int) -> str | None:
    parts = tree.name(concept).split("/")[1:]
    return "/".join(parts[:level]) if len(parts) >= level else None


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, len(ODP) - 1)), max_size=20
    )
)
def test_matrices_of_all_levels(rows: list[tuple[str, int | None]]) -> None:
    found = level_matrices(ODP, pairs_of(*rows), 4)
    for level, table in enumerate(found, 1):
        slow: dict[tuple[str, str], int] = {}
        for user, concept in rows:
            cut = None if concept is None else slow_prefix(ODP, concept, level)
            if cut is not None:
                slow[user, cut] = slow.get((user, cut), 0) + 1
        named = {(u, ODP.name(c).removeprefix("Top/")): n for u, c, n in table.rows()}
        assert named == slow
        assert table.equals(table.sort("user", "category"))
