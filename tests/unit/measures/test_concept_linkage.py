"""Linkage by concepts and topics: by hand, against the plain definition, and its bound."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_logs import Sent, log_of, original_of, release_of, write_ruler

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.similarity.cross_distances import cross_distance_matrix
from queryveil.concepts.similarity.profiles import build_profiles, profile_distances
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError
from queryveil.log.reading import read_log
from queryveil.measures import concept_linkage
from queryveil.measures.concept_linkage import ConceptLinkage
from queryveil.measures.context import MeasureContext
from queryveil.measures.result import MeasureResult
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.methods.microaggregation.semantic import SemanticMicroaggregation
from queryveil.methods.runner import run_method
from queryveil.synthetic.output import write_synthetic_log
from queryveil.testing import KitCheck, MeasureCase, measure_checks

WORDS = ["tennis", "swimming", "music", "theatre", "asthma", "zzzz"]
BRANCH = {"tennis": 0, "swimming": 0, "music": 1, "theatre": 1, "asthma": 2}
WAYS = ("concepts", "distances", "topics")


@pytest.fixture(scope="module")
def ruler(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_ruler(tmp_path_factory.mktemp("ruler"))


def measured(
    ruler: str, before: Sent, after: Sent, by: str = "concepts", **more: object
) -> MeasureResult:
    log = log_of(before)
    measure = ConceptLinkage(taxonomy=ruler, by=by)
    return measure.compute(original_of(log, ruler), release_of(log, after, **more))


def plain(before: Sent, after: Sent, by: str) -> float:
    """Return the definition as it is written, for cosines and for the Hellinger distance."""
    linked = 0.0
    for user, queries in before.items():
        scores = {name: affinity(queries, log, by) for name, log in after.items()}
        best = max(scores.values(), default=0.0)
        likely = [name for name, score in scores.items() if score > best - 1e-9 and best > 0]
        linked += (user in likely) / max(len(likely), 1)
    return 100 * linked / len(before)


def affinity(one: list[str], other: list[str], by: str) -> float:
    a, b = (Counter(w if by == "concepts" else BRANCH[w] for w in q if w in BRANCH)
            for q in (one, other))  # fmt: skip
    if not a or not b:
        return 0.0
    if by == "topics":
        return sum(sqrt(a[t] / a.total() * b[t] / b.total()) for t in a)
    norms = [sqrt(sum(n * n for n in side.values())) for side in (a, b)]
    return sum(a[c] * b[c] for c in a) / (norms[0] * norms[1])


few = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)
logs = st.dictionaries(st.sampled_from("123456"), few, min_size=1, max_size=6)


@pytest.mark.parametrize("by", ["concepts", "topics"])
@settings(max_examples=40)
@given(data=st.data())
def test_it_is_the_definition(ruler: str, by: str, data: st.DataObject) -> None:
    before = data.draw(logs.filter(lambda sent: any(w in BRANCH for q in sent.values() for w in q)))
    kept = data.draw(st.lists(st.sampled_from(sorted(before)), unique=True))
    after = {user: data.draw(few) for user in kept}
    assert measured(ruler, before, after, by).value == pytest.approx(
        plain(before, after, by), abs=1e-4
    )


def test_blocks_of_any_size_give_the_same(ruler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {str(i): [WORDS[i % 5], WORDS[(i * i) % 5]] for i in range(9)}
    after = {str(i): [WORDS[(i + 1) % 5]] for i in range(7)}
    results = [measured(ruler, before, after, by) for by in WAYS]
    monkeypatch.setattr(concept_linkage, "_CELLS", 1)
    assert [measured(ruler, before, after, by) for by in WAYS] == results


def test_values_by_hand(ruler: str) -> None:
    before = {"1": ["tennis"], "2": ["tennis", "music"], "3": ["asthma"], "4": ["zzzz"]}
    after = {"1": ["tennis", "tennis"], "2": ["swimming", "music"], "3": ["tennis"], "4": ["zzzz"]}
    # By concepts: 1 is as near to their own log as to that of 3: 1/2. 2 has the cosine 1/2 to
    # their own log and 0.71 to the others: 0. No log has asthma, and 4 has no concept: 0.
    concepts = measured(ruler, before, after)
    assert concepts.value == 12.5
    # By topics: 1 as above, and 2 has sports and arts, as only their own log has: 1.
    topics = measured(ruler, before, after, "topics")
    assert topics.value == 37.5
    assert topics.counts == {"users": 4, "vanished": 0, "left_out": 1, "logs": 4}
    assert topics.baselines == {"chance": 25.0}
    assert "Hellinger distance of fractions of topics" in str(topics.basis)


def test_distances_are_those_of_profiles(ruler: str) -> None:
    taxonomy = open_taxonomy(ruler)
    concepts = [taxonomy.find(f"Top/{name}") for name in ("Sports/Tennis", "Arts", "Health")]
    rows = [("a", 0), ("a", 1), ("a", 1), ("b", 2), ("c", 1), ("d", 0), ("d", 2)]
    frame = pl.DataFrame(
        {"user": [user for user, _ in rows], "concept": [concepts[c] for _, c in rows]}
    )
    profiles = build_profiles(frame)
    matrix = cross_distance_matrix(taxonomy, profiles, profiles)
    for number in range(len(profiles)):
        expected = profile_distances(taxonomy, profiles, number)
        assert matrix[number] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("by", WAYS)
def test_a_user_with_several_logs_is_linked_by_any_of_them(ruler: str, by: str) -> None:
    log = log_of({"a": ["tennis", "music"], "b": ["asthma"]})
    names = pl.DataFrame({"user": ["a", "a", "b"], "pseudonym": ["x", "y", "z"]})
    released = log_of({"x": ["tennis", "music"], "y": ["zzzz"], "z": ["asthma"]}).local_frame
    release = release_of(log, {}, log=released, mapping=names)
    found = ConceptLinkage(taxonomy=ruler, by=by).compute(original_of(log, ruler), release)
    assert found.value == 100
    assert found.counts["logs"] == 3


def test_a_log_without_concepts_is_refused(ruler: str) -> None:
    with pytest.raises(InputError, match="to compare"):
        measured(ruler, {"a": ["zzzz"]}, {"a": ["zzzz"]})


@pytest.fixture(scope="module")
def synthetic_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("linkage") / "log.tsv"
    write_synthetic_log(path, users=150, seed=3)
    return path


@pytest.mark.parametrize("by", WAYS)
def test_groups_bound_it_and_plain_logs_do_not(synthetic_log: Path, by: str) -> None:
    log = read_log(synthetic_log)
    context, measure = MeasureContext(log), ConceptLinkage(by=by)
    grouped = run_method(SemanticMicroaggregation(k=5), log, RandomSource(1), NoProgress())
    single = run_method(
        FrequentQueries(min_users=1, min_click_users=1), log, RandomSource(1), NoProgress()
    )
    of_groups, of_users = (measure.compute(context, release) for release in (grouped, single))
    assert of_groups.value <= of_groups.baselines["bound_of_k"] == 20
    assert of_users.value > 4 * max(of_groups.value, 20 if by == "concepts" else 0)
    assert of_users.value > 80
    assert "bound_of_k" not in of_users.baselines
    assert "at most 20" in str(of_groups.summary)


# Tennis and music are related in WordNet: by distances b is as near to one log as to the other.
CASES = [
    MeasureCase(
        f"two equal logs, {by}",
        {"a": ["tennis"], "b": ["music"]},
        {"a": ["tennis"], "b": ["tennis"]},
        value,
        {"users": 2, "vanished": 0},
        ConceptLinkage(by=by),
    )
    for by, value in (("concepts", 25.0), ("topics", 25.0), ("distances", 50.0))
]


@pytest.mark.parametrize("check", measure_checks(ConceptLinkage(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()


@pytest.mark.parametrize("by", ["distances", "topics"])
def test_kit_of_other_ways(by: str) -> None:
    for check in measure_checks(ConceptLinkage(by=by), CASES[:1]):
        if "by hand" not in str(check):
            check()
