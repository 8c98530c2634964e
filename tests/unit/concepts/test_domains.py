"""Domains: which concepts, in which classes, how near each other; and what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.similarity.distance import concept_similarity
from queryveil.concepts.similarity.domain_sets import open_domains
from queryveil.concepts.similarity.domains import (
    Domain,
    IdentityScore,
    SimilarityScore,
    build_domain,
    similarity_score,
)
from queryveil.concepts.similarity.topics import select_topics
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.labels import publishable_labels
from queryveil.dp.exponential.weights import Candidates
from queryveil.errors import UsageError

FOUR = {
    "n#14070360": (606, 0.0489),
    "n#05999797": (435, 0.0458),
    "n#00523513": (177, 0.0614),
    "n#07288639": (255, 0.0671),
}
ABSTRACTION = "n#00002137"
ILL = ["disease/lungs/asthma", "disease/lungs/pneumonia", "disease/skin/acne/mild", "disease/flu"]


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return open_taxonomy("wordnet-nouns")


@pytest.fixture(scope="module")
def abstraction(wordnet: Taxonomy) -> Domain:
    return build_domain(wordnet, wordnet.find(ABSTRACTION))


@pytest.fixture(scope="module")
def scores(abstraction: Domain) -> SimilarityScore:
    return similarity_score(abstraction)


def likeness(scores: SimilarityScore, one: int, two: int) -> float:
    """Look the score of two concepts up, as the choice does."""
    domain = scores.domain
    rows = [
        int(np.searchsorted(domain.starts, domain.index_of[c], "right")) - 1 for c in (one, two)
    ]
    slots = scores.near(rows[0])
    if not slots.start <= rows[1] < slots.stop:
        return float(scores.values[-1])
    level = 0 if one == two else scores.levels(rows[0])[rows[1] - slots.start]
    return float(scores.values[level])


# --- the figures of the specification ------------------------------------------------------------


@pytest.mark.parametrize("name", FOUR)
def test_the_four_domains_of_the_paper(wordnet: Taxonomy, name: str) -> None:
    size, least = FOUR[name]
    domain = build_domain(wordnet, wordnet.find(name))
    assert len(domain) == size == int(domain.sizes.sum())
    assert set(domain.concepts.tolist()) == set(wordnet.descendants(wordnet.find(name)).tolist())
    assert 1 - Candidates.of(similarity_score(domain)).score_range == pytest.approx(least, abs=5e-5)
    assert Candidates.of(IdentityScore(size)).score_range == 1


def test_abstraction(abstraction: Domain, scores: SimilarityScore) -> None:
    assert len(abstraction) == 39_914
    assert len(abstraction.sizes) < 20_000  # leaves of the same parents are one class
    assert 1 - Candidates.of(scores).score_range == pytest.approx(0.0158, abs=5e-5)


@pytest.mark.parametrize(
    ("one", "two", "top", "expected"),
    [
        ("asthma", "pneumonia", "n#14070360", 0.415037),
        ("asthma", "cystic fibrosis", "n#14070360", 0.125531),
        ("tennis", "swimming", "n#00523513", 0.125531),
        ("asthma", "pneumonia", ABSTRACTION, 0.777608),
        ("asthma", "cystic fibrosis", ABSTRACTION, 0.476438),
        ("asthma", "tennis", ABSTRACTION, 0.034765),
        ("asthma", "asthma", ABSTRACTION, 1.0),
    ],
)
def test_the_pairs_of_the_specification(wordnet, scores, one, two, top, expected) -> None:
    if top != ABSTRACTION:
        scores = similarity_score(build_domain(wordnet, wordnet.find(top)))
    concepts = [wordnet.find(name) for name in (one, two)]
    assert likeness(scores, *concepts) == pytest.approx(expected, abs=5e-7)
    assert likeness(scores, *concepts[::-1]) == pytest.approx(expected, abs=5e-7)


@settings(max_examples=60)
@given(st.data())
def test_levels_give_the_similarity(wordnet: Taxonomy, scores: SimilarityScore, data) -> None:
    """The same figure as `similarity`, which counts another way."""
    place = st.integers(0, len(scores.domain) - 1)
    one, two = (int(scores.domain.concepts[data.draw(place)]) for _ in range(2))
    expected = concept_similarity(wordnet, one, two, wordnet.find(ABSTRACTION))
    assert likeness(scores, one, two) == pytest.approx(expected, abs=1e-12)


def test_concepts_of_different_topics_are_far(wordnet: Taxonomy) -> None:
    topics = select_topics(wordnet, ["n#00463246", "n#00441824"])
    scores = similarity_score(build_domain(wordnet, wordnet.find("n#00523513"), topics), topics)
    athletic, water, other = (
        wordnet.find(name) for name in ("n#00463246", "n#00441824", "n#00523513")
    )
    assert likeness(scores, athletic, water) == 0
    assert likeness(scores, athletic, other) == 0
    assert likeness(scores, water, water) == 1


# --- what a domain is made of --------------------------------------------------------------------


def test_a_domain_too_large_ends_at_a_level() -> None:
    tree = taxonomy_from_paths(ILL)
    domain = build_domain(tree, tree.find("disease"), max_concepts=4)
    names = [tree.label(c) for c in domain.concepts.tolist()]
    assert sorted(names) == ["disease", "flu", "lungs", "skin"]
    stands = {
        tree.label(c): tree.label(int(domain.concepts[domain.index_of[c]]))
        for c in range(len(tree))
    }
    assert stands == {
        "disease": "disease", "lungs": "lungs", "skin": "skin", "flu": "flu", "asthma": "lungs",
        "pneumonia": "lungs", "acne": "skin", "mild": "skin",
    }  # fmt: skip
    assert domain.ancestor_counts.max() == 2


@pytest.mark.parametrize(
    ("most", "size"), [(1, 1), (3, 1), (4, 4), (6, 4), (7, 7), (8, 8), (100, 8)]
)
def test_whole_levels_are_kept(most: int, size: int) -> None:
    tree = taxonomy_from_paths(ILL)
    domain = build_domain(tree, tree.find("disease"), max_concepts=most)
    assert len(domain) == size
    assert (domain.index_of >= 0).all()


def test_what_is_cut_off_stands_for_an_ancestor_inside() -> None:
    """Also where the first of its parents lies outside the domain."""
    draft = TaxonomyBuilder("hand-made")
    entity, tool, disease = (
        draft.add(name, line, name) for line, name in enumerate(("entity", "tool", "disease"), 1)
    )
    lungs, inhaler = draft.add("lungs", 4, "lungs"), draft.add("inhaler", 5, "inhaler")
    for child, parent in (
        (tool, entity), (disease, entity), (lungs, disease), (inhaler, tool), (inhaler, lungs),
    ):  # fmt: skip
        draft.edge(child, parent)
    made = draft.build(RepairLog("here"))
    domain = build_domain(made, made.find("disease"), max_concepts=2)
    assert [made.label(c) for c in domain.concepts.tolist()] == ["disease", "lungs"]
    place = domain.index_of[made.find("inhaler")]
    assert place >= 0
    assert made.label(int(domain.concepts[place])) == "lungs"


def test_what_lies_outside_has_no_place() -> None:
    tree = taxonomy_from_paths(["Top/disease/flu", "Top/sport/tennis"])
    domain = build_domain(tree, tree.find("disease"))
    assert (domain.index_of[[0, tree.find("sport"), tree.find("tennis")]] == -1).all()
    whole = build_domain(tree, 0)
    assert 0 not in whole.concepts  # a root of ours is no concept
    assert len(whole) == 4


def test_a_cut_domain_of_a_large_graph(wordnet: Taxonomy) -> None:
    domain = build_domain(wordnet, 0, max_concepts=5000)
    assert 1000 < len(domain) <= 5000
    assert (domain.index_of >= 0).all()
    depths = wordnet.depths
    assert depths[domain.concepts].max() < depths.max()
    deep = int(np.argmax(depths))
    assert domain.concepts[domain.index_of[deep]] in wordnet.ancestors(deep)


def test_there_must_be_a_concept() -> None:
    tree = taxonomy_from_paths(ILL)
    for top in (-1, 99):
        with pytest.raises(UsageError, match="no concept"):
            build_domain(tree, top)


def test_classes_hold_concepts_of_one_topic(wordnet: Taxonomy) -> None:
    domains = open_domains(wordnet, "A", "auto")
    for domain in domains.domains:
        topic = domains.topics.topic_of[domain.concepts]
        assert (np.diff(topic) >= 0).all()
        for begin, end in zip(domain.starts[:-1], domain.starts[1:], strict=True):
            assert len(set(topic[begin:end].tolist())) == 1


# --- names ---------------------------------------------------------------------------------------


def test_every_concept_has_a_name_that_is_a_label_of_it(wordnet: Taxonomy) -> None:
    names = publishable_labels(wordnet)
    assert names is publishable_labels(wordnet)  # made once
    assert len(names.of) == len(wordnet)
    assert names.of.sizes.min() >= 1
    assert names.texts.is_unique().all()
    for concept in range(0, len(wordnet), 997):
        texts = names.texts.gather(names.of[concept]).to_list()
        assert set(texts) <= set(wordnet.labels_of(concept))
        back = [text for text in wordnet.labels_of(concept) if wordnet.lookup(text)[0] == concept]
        if back:
            assert set(texts) == set(back)


def test_names_are_drawn_alike(wordnet: Taxonomy) -> None:
    names, asthma = publishable_labels(wordnet), wordnet.find("asthma")
    drawn = names.sample(np.full(6, asthma), np.arange(6, dtype=np.uint64))
    texts = names.texts.gather(drawn).to_list()
    assert texts == ["asthma", "asthma attack", "bronchial asthma"] * 2


def test_a_concept_that_no_label_means_has_its_title() -> None:
    tree = taxonomy_from_paths(["Top/Arts/Music", "Top/Shop/Music"])
    names = publishable_labels(tree)
    for path in ("Top/Arts/Music", "Top/Shop/Music"):
        texts = names.texts.gather(names.of[tree.find(path)]).to_list()
        assert texts == ["Music"]
