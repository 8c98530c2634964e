"""The loss of who is alike: worked by hand, what stands beside it, and its edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_logs import Sent, log_of, original_of, release_of, write_ruler

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.options import MappingOptions
from queryveil.concepts.similarity.profiles import (
    build_profiles,
    profile_distance_matrix,
    profile_distances,
)
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.log.reading import read_log
from queryveil.measures import information_loss
from queryveil.measures._shared.clustering import cut_tree, linkage_tree, partition_distance
from queryveil.measures._shared.random_groups import (
    PROTOTYPE_RULES,
    Grouping,
    length_quotas,
    sample_random_prototypes,
)
from queryveil.measures.context import MeasureContext
from queryveil.measures.information_loss import InformationLoss
from queryveil.methods.base import METHODS
from queryveil.methods.microaggregation.semantic import SemanticMicroaggregation
from queryveil.testing import KitCheck, MeasureCase, measure_checks
from queryveil.workflows.anonymization import anonymize

BEFORE = {"a": ["tennis"], "b": ["swimming"], "c": ["music"], "d": ["theatre"]}


@pytest.fixture(scope="module")
def ruler(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_ruler(tmp_path_factory.mktemp("ruler"))


def loss(ruler: str, before: Sent, after: Sent, line: dict | None = None, **more: object) -> dict:
    log = log_of(before)
    measure = InformationLoss(taxonomy=ruler, **({"clusters": 2} | (line or {})))
    return measure.compute(original_of(log, ruler), release_of(log, after, **more))


@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_values_worked_by_hand(ruler: str, linkage: str) -> None:
    # Before, {a, b} like sports and {c, d} arts.
    same = {"a": ["music"], "b": ["theatre"], "c": ["tennis"], "d": ["swimming"]}
    crossed = {"a": ["tennis"], "b": ["music"], "c": ["swimming"], "d": ["theatre"]}
    moved = BEFORE | {"c": ["tennis", "swimming"]}
    for after, want in ((same, 0), (crossed, 100), (moved, 79.2481)):
        found = loss(ruler, BEFORE, after, {"linkage": linkage})
        assert found.value == pytest.approx(want, abs=1e-3)
        assert found.details["mapped_only"] == found.value
        assert (found.counts["users"], found.counts["unmapped"]) == (4, 0)
        assert found.details["clusters"] == {"before": 2, "after": 2}
        assert "2 clusters (as requested)" in found.basis
        assert linkage in found.basis


def test_the_same_log_loses_nothing(ruler: str) -> None:
    before = BEFORE | {"e": ["zzz"], "f": ["asthma", "music"]}
    for clusters in ("calinski-harabasz", "auto", 2, 3, 6):
        assert loss(ruler, before, before, {"clusters": clusters}).value == 0


def test_an_empty_release_loses_all(ruler: str) -> None:
    found = loss(ruler, BEFORE, {})
    assert (found.value, found.baselines["chance"]) == (100, 100)
    assert found.details["clusters"] == {"before": 2, "after": 1}


def test_who_is_gone_has_an_empty_log(ruler: str) -> None:
    # Of c and d nothing is left: they are alike, and far from the others.
    assert loss(ruler, BEFORE, {"a": ["tennis"], "b": ["swimming"]}).value == 0
    assert loss(ruler, BEFORE, BEFORE | {"c": ["zzz"], "d": ["zzz"]}).value == 0


def test_users_without_a_concept_are_told_and_left_out_beside(ruler: str) -> None:
    before = BEFORE | {"x": ["zzz"], "y": ["zzz"], "z": ["zzz"]}
    crossed = {"a": ["tennis"], "b": ["music"], "c": ["swimming"], "d": ["theatre"]}
    found = loss(ruler, before, before | crossed, {"clusters": 3})
    assert found.counts["unmapped"] == 3
    assert found.details["mapped_only"] > found.value > 0


def test_one_mapped_user_has_no_loss_of_her_own(ruler: str) -> None:
    found = loss(ruler, {"a": ["tennis"], "b": ["zzz"]}, {"a": ["tennis"], "b": ["zzz"]})
    assert (found.value, found.details["mapped_only"]) == (0, None)


def test_it_is_the_definition_on_a_log(synthetic: Path) -> None:
    """The same from single distances, on 60 users."""
    log = read_log(synthetic)
    some = (
        log.local_frame.select(pl.col("user").cast(pl.String)).unique().collect().sort("user")[:60]
    )
    log = QueryLog.from_clean_frame(
        log.local_frame.collect().with_columns(pl.col("user").cast(pl.String)).join(some, on="user")
    )
    before, measure = MeasureContext(log), InformationLoss(linkage="average")
    release = anonymize(log, SemanticMicroaggregation(k=3), seed=1)
    found = measure.compute(before, release)
    wordnet = open_taxonomy("wordnet")
    names = dict(release.mapping.select("pseudonym", "user").iter_rows())
    rows = release.log.collect().with_columns(pl.col("user").cast(pl.String).replace(names))
    partitions = []
    for one in (log, QueryLog.from_clean_frame(rows)):
        profiles = build_profiles(MeasureContext(one).concepts(MappingOptions()))
        matrix = np.stack([profile_distances(wordnet, profiles, i) for i in range(60)])
        partitions.append(cut_tree(linkage_tree(((matrix + matrix.T) / 2).round(6), "average"), 5))
    want = 100 * partition_distance(*partitions)
    assert found.value == pytest.approx(want, abs=1e-3)
    assert 0 < found.baselines["random_groups"] <= 100
    assert 0 < found.baselines["chance"] <= 100
    assert "20 random groups" in found.details["random_groups_note"]
    assert "5 clusters (8% of the users)" in found.basis


def test_the_floor_needs_groups_that_are_known(ruler: str) -> None:
    groups = pl.DataFrame(
        {"user": list("abcd"), "pseudonym": [f"p-{u}" for u in "abcd"], "group": [0, 0, 1, 1]}
    )
    assert "no groups" in loss(ruler, BEFORE, BEFORE).details["random_groups_note"]
    found = loss(ruler, BEFORE, BEFORE, mapping=groups, k=2)
    assert (
        found.baselines.get("random_groups"),
        "not known" in found.details["random_groups_note"],
    ) == (None, True)
    known = {"mapping": groups, "k": 2, "method": "string-microaggregation"}
    assert loss(ruler, BEFORE, BEFORE, **known).baselines["random_groups"] >= 0
    known["mapping"] = groups[:2]
    assert "not every user" in loss(ruler, BEFORE, BEFORE, **known).details["random_groups_note"]


def test_the_floor_knows_all_microaggregations() -> None:
    assert set(PROTOTYPE_RULES) == {name for name in METHODS if name.endswith("microaggregation")}


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=1, max_size=20))
def test_quotas_add_up_to_the_mean_length(users: list) -> None:
    weights, groups = (np.array(side) for side in zip(*users, strict=True))
    _, group = np.unique(groups, return_inverse=True)
    found = length_quotas(weights, group)
    for number in np.unique(group):
        mine = group == number
        mean = weights[mine].sum() / mine.sum()
        assert found[mine].sum() == np.floor(mean + 0.5)
        assert (abs(found[mine] - weights[mine] / mine.sum()) <= 1).all()


@pytest.mark.parametrize(("rule", "want"), [("nearest", "Tennis"), ("repeated", "Asthma")])
def test_a_prototype_worked_by_hand(ruler: str, rule: str, want: str) -> None:
    odp = open_taxonomy(ruler)
    tennis, swimming, asthma = (odp.find(c) for c in ("Tennis", "Swimming", "Asthma"))
    rows = {"a": {tennis: 1, asthma: 3}, "b": {tennis: 4, swimming: 4}, "c": {}}
    pairs = [(user, c, n) for user, own in rows.items() for c, n in (own or {None: 1}).items()]
    kinds = {"user": pl.String, "concept": pl.Int32, "count": pl.Int64}
    profiles = build_profiles(pl.DataFrame(pairs, schema=kinds, orient="row"))
    made, group = sample_random_prototypes(odp, profiles, Grouping((3,), rule, 1))
    # 12 concepts of 3 users: 4 in the prototype, 1 of a's and 3 of b's, whose centre is Tennis.
    assert group.tolist() == [0, 0, 0]
    want_counts = {odp.find(want): 1, tennis: 3} if want != "Tennis" else {tennis: 4}
    assert dict(zip(made.lists.items.tolist(), made.counts.tolist(), strict=True)) == want_counts
    # Asthma and Swimming have one user each: Tennis stands in for them.
    made, _ = sample_random_prototypes(odp, profiles, Grouping((3,), rule, 2))
    assert dict(zip(made.lists.items.tolist(), made.counts.tolist(), strict=True)) == {tennis: 4}


def test_refusals(ruler: str) -> None:
    with pytest.raises(InputError, match="the same profile"):
        loss(ruler, {"a": ["zzz"], "b": ["yyy"]}, BEFORE)
    with pytest.raises(InputError, match="2 to"):
        loss(ruler, {"a": ["tennis"]}, {})
    with pytest.raises(ParameterError, match="4 users"):
        loss(ruler, BEFORE, BEFORE, {"clusters": 5})
    for wrong in (1, 0, -1, "best"):
        with pytest.raises(ParameterError, match=f'"{wrong}"'):
            InformationLoss(clusters=wrong)
    with pytest.raises(UsageError, match="no private mapping"):
        loss(ruler, BEFORE, BEFORE, mapping=None)
    with pytest.raises(UsageError, match="no users' logs"):
        loss(ruler, BEFORE, BEFORE, log=None)


def test_both_linkages_share_the_distances(ruler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []

    def count(*arguments: object) -> object:
        computed.append(arguments)
        return profile_distance_matrix(*arguments)

    monkeypatch.setattr(information_loss, "profile_distance_matrix", count)
    log = log_of(BEFORE)
    context, first, second = MeasureContext(log), release_of(log, BEFORE), release_of(log, {})
    both = [InformationLoss(taxonomy=ruler, clusters=2, linkage=way) for way in ("ward", "average")]
    for measure in both:
        measure.prepare(context)
    assert len(computed) == 1
    values = [m.compute(context, release).value for release in (first, second) for m in both]
    assert len(computed) == 3
    assert values == [0, 0, 100, 100]
    assert [str(measure) for measure in InformationLoss.variants()] == [
        "information-loss", "information-loss:linkage=average",
    ]  # fmt: skip


PLAYERS_AND_SINGERS = {"a": ["tennis"], "b": ["golf"], "c": ["music"], "d": ["opera"]}
CASES = [
    MeasureCase("the same log", PLAYERS_AND_SINGERS, PLAYERS_AND_SINGERS, 0.0),
    MeasureCase("nothing", PLAYERS_AND_SINGERS, {}, 100.0),
    # Two clusters before, and two that cross them after.
    MeasureCase(
        "crossed pairs",
        PLAYERS_AND_SINGERS,
        {"a": ["tennis"], "b": ["music"], "c": ["golf"], "d": ["opera"]},
        100.0,
        measure=InformationLoss(clusters=2),
    ),
]


@pytest.mark.parametrize("check", measure_checks(InformationLoss(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
