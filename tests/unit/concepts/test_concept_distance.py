"""Distance and similarity of concepts, against the definitions written out and the papers."""

from __future__ import annotations

from itertools import product
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryveil
from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.similarity.distance import (
    concept_distance,
    concept_similarity,
    distance_table,
    pairwise_distances,
    pairwise_similarities,
)
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import UsageError

DISEASE, SCIENCE, SPORT, EVENT = "n#14070360", "n#05999797", "n#00523513", "n#07288639"
ABSTRACTION = "n#00002137"


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return Taxonomy.open(Path(queryveil.__file__).parent / "concepts" / "data" / "wordnet.qvt")


@pytest.fixture(scope="module")
def odp() -> Taxonomy:
    return taxonomy_from_paths(
        [
            "Top/Sports/Water_Sports/Windsurfing",
            "Top/Sports/Water_Sports/Swimming_and_Diving",
            "Top/Regional/Europe/Mediterranean",
        ]
    )


# --- the definition, slowly ----------------------------------------------------------------------


def ancestors(taxonomy: Taxonomy, concept: int) -> set[int]:
    found, waiting = set(), [concept]
    while waiting:
        found.add(one := waiting.pop())
        waiting += taxonomy.parents[one].tolist()
    return found if taxonomy.has_real_root else found - {0}


def apart(one: set[int], two: set[int]) -> float:
    return len(one ^ two) / len(one | two) if one | two else 0.0


def slow_distance(taxonomy: Taxonomy, a: int, b: int) -> float:
    return apart(ancestors(taxonomy, a), ancestors(taxonomy, b))


def slow_similarity(taxonomy: Taxonomy, a: int, b: int, domain: int) -> float:
    inside = {c for c in range(len(taxonomy)) if domain in ancestors(taxonomy, c) or not domain}
    sets = (ancestors(taxonomy, c) & inside for c in (a, b))
    return 1 - log2(1 + apart(*sets))


@st.composite
def graphs(draw: st.DrawFn) -> Taxonomy:
    """Draw a small graph in which each concept has one to four parents."""
    draft = TaxonomyBuilder("drawn")
    size = draw(st.integers(2, 14))
    if draw(st.booleans()):
        draft.top = 0
    for place in range(size):
        draft.add(f"c{place}", place + 1, f"c{place}")
        if place:
            above = draw(st.sets(st.integers(0, place - 1), min_size=1, max_size=4))
            for parent in sorted(above):
                draft.edge(place, parent)
    return draft.build(RepairLog("drawn"))


def all_pairs(concepts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(list(product(concepts, repeat=2)))
    return pairs[:, 0], pairs[:, 1]


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_all_distances_of_a_graph(graph: Taxonomy) -> None:
    everything = np.arange(len(graph))
    first, second = all_pairs(everything.tolist())
    slow = [slow_distance(graph, a, b) for a, b in zip(first, second, strict=True)]
    found = pairwise_distances(graph, first, second)
    assert found.tolist() == slow
    square = distance_table(graph, everything, everything)
    assert square.reshape(-1).tolist() == pytest.approx(slow, abs=1e-6)
    assert (square == square.T).all()
    assert (np.diag(square) == 0).all()
    assert ((square >= 0) & (square <= 1)).all()


@settings(max_examples=100, deadline=None)
@given(graphs(), st.data())
def test_all_similarities_of_a_domain(graph: Taxonomy, data: st.DataObject) -> None:
    domain = data.draw(st.integers(0, len(graph) - 1))
    first, second = all_pairs(graph.descendants(domain).tolist())
    found = pairwise_similarities(graph, first, second, domain)
    slow = [slow_similarity(graph, a, b, domain) for a, b in zip(first, second, strict=True)]
    assert found == pytest.approx(slow, abs=1e-12)
    assert ((found >= 0) & (found <= 1)).all()
    assert ((found == 1) == (first == second)).all()
    assert (found == pairwise_similarities(graph, second, first, domain)).all()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), min_size=2, max_size=9))
def test_trees_too(ways: list[list[str]]) -> None:
    tree = taxonomy_from_paths(["Top/" + "/".join(way) for way in ways])
    first, second = all_pairs(list(range(len(tree))))
    slow = [slow_distance(tree, a, b) for a, b in zip(first, second, strict=True)]
    assert pairwise_distances(tree, first, second).tolist() == slow


def test_wordnet_at_random(wordnet: Taxonomy) -> None:
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, len(wordnet), (2, 400))
    second[:200] = first[:200] + 1 - 2 * (first[:200] > 9)  # neighbours share more
    slow = [slow_distance(wordnet, a, b) for a, b in zip(first, second, strict=True)]
    assert pairwise_distances(wordnet, first, second).tolist() == slow
    table = distance_table(wordnet, first[:5], second)
    exact = [slow_distance(wordnet, a, b) for a in first[:5] for b in second]
    assert table.reshape(-1).tolist() == pytest.approx(exact, abs=1e-6)


# --- the papers ----------------------------------------------------------------------------------


def test_example_3_of_batet(odp: Taxonomy) -> None:
    wind, swim = odp.find("Windsurfing"), odp.find("Swimming and Diving")
    assert concept_distance(odp, wind, swim) == 0.5
    assert concept_distance(odp, wind, odp.find("Mediterranean")) == 1


def test_an_artificial_root_is_like_itself_alone(odp: Taxonomy) -> None:
    assert concept_distance(odp, 0, 0) == 0
    assert concept_distance(odp, 0, odp.find("Sports")) == 1
    assert concept_similarity(odp, 0, 0) == 1
    assert distance_table(odp, np.array([0]), np.array([0, 1])).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("one", "two", "domain", "expected"),
    [
        ("asthma", "pneumonia", DISEASE, 0.415037),
        ("asthma", "pneumonia", ABSTRACTION, 0.777608),
        ("asthma", "cystic fibrosis", DISEASE, 0.125531),
        ("asthma", "cystic fibrosis", ABSTRACTION, 0.476438),
        ("tennis", "swimming", SPORT, 0.125531),
        ("asthma", "tennis", ABSTRACTION, 0.034765),
    ],
)
def test_similarities_of_wordnet(
    wordnet: Taxonomy, one: str, two: str, domain: str, expected: float
) -> None:
    a, b, top = (wordnet.find(name) for name in (one, two, domain))
    assert concept_similarity(wordnet, a, b, top) == pytest.approx(expected, abs=5e-7)
    assert concept_similarity(wordnet, a, a, top) == 1


@pytest.mark.parametrize(
    ("domain", "size", "least"),
    [(DISEASE, 606, 0.0489), (SCIENCE, 435, 0.0458), (SPORT, 177, 0.0614), (EVENT, 255, 0.0671)],
)
def test_domains_of_sanchez(wordnet: Taxonomy, domain: str, size: int, least: float) -> None:
    top = wordnet.find(domain)
    inside = wordnet.descendants(top)
    assert len(inside) == size
    found = pairwise_similarities(wordnet, np.repeat(inside, size), np.tile(inside, size), top)
    assert found.min() == pytest.approx(least, abs=5e-5)
    assert found.max() == 1


def test_abstraction_is_the_domain_of_all_four(wordnet: Taxonomy) -> None:
    four = [wordnet.find(name) for name in (DISEASE, SCIENCE, SPORT, EVENT)]
    assert wordnet.name(wordnet.common_ancestors(*four)) == ABSTRACTION
    assert len(wordnet.descendants(wordnet.find(ABSTRACTION))) == 39_914


# --- misuse --------------------------------------------------------------------------------------


def test_a_concept_outside_the_domain(wordnet: Taxonomy) -> None:
    asthma, tennis = wordnet.find("asthma"), wordnet.find("tennis")
    with pytest.raises(UsageError, match=f"{tennis} does not lie in the domain disease"):
        concept_similarity(wordnet, asthma, tennis, wordnet.find(DISEASE))


def test_no_such_concept(odp: Taxonomy) -> None:
    for wrong in (-1, len(odp)):
        with pytest.raises(UsageError, match="no such concept"):
            concept_distance(odp, 0, wrong)
        with pytest.raises(UsageError, match="no concept"):
            concept_similarity(odp, 0, 0, wrong)
    with pytest.raises(UsageError, match="as many"):
        pairwise_distances(odp, np.array([1, 2]), np.array([1]))


def test_nothing_is_asked(odp: Taxonomy) -> None:
    none = np.empty(0, np.int64)
    assert len(pairwise_distances(odp, none, none)) == 0
    assert distance_table(odp, none, np.array([1])).shape == (0, 1)


def test_more_domains_than_are_kept(wordnet: Taxonomy) -> None:
    asthma = wordnet.find("asthma")
    for domain in wordnet.ancestors(asthma).tolist():
        assert concept_similarity(wordnet, asthma, asthma, domain) == 1
