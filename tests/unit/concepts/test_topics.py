"""Topics: the presets of the paper, and whose a concept is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryveil
from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.similarity.topics import (
    OFF_TOPIC,
    default_topics,
    select_topics,
    topic_preset,
)
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import UsageError


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return Taxonomy.open(Path(queryveil.__file__).parent / "concepts" / "data" / "wordnet.qvt")


@pytest.fixture(scope="module")
def odp() -> Taxonomy:
    return taxonomy_from_paths(["Top/Sports/Tennis/Balls", "Top/Arts/Music", "Top/News"])


def test_the_four_domains(wordnet: Taxonomy) -> None:
    topics = topic_preset(wordnet, "sanchez4")
    assert topics.names == ["disease", "scientific discipline", "sport", "social event"]
    assert topics.sizes.tolist() == [606, 435, 177, 255]  # disjoint: nothing is lost
    assert topics.topic_of[wordnet.find("asthma")] == 0
    assert topics.topic_of[wordnet.find("entity")] == OFF_TOPIC


def test_the_nineteen_topics(wordnet: Taxonomy) -> None:
    four, nineteen = topic_preset(wordnet, "sanchez4"), topic_preset(wordnet, "sanchez19")
    assert len(nineteen) == 19
    assert nineteen.sizes.sum() == 1292
    assert np.all(four.topic_of[nineteen.topic_of >= 0] >= 0)
    assert four.sizes.sum() == 1473


def test_the_nineteen_are_what_their_names_say(wordnet: Taxonomy) -> None:
    nineteen = topic_preset(wordnet, "sanchez19")
    four = [wordnet.find(f"n#{n}") for n in ("14070360", "05999797", "00523513", "07288639")]
    children = {int(child) for topic in four for child in wordnet.children(topic)}
    seen: list[set[int]] = []
    for name in nineteen.names:
        own = [concept for concept in wordnet.lookup(name) if concept in children]
        assert len(own) == 1, name
        seen.append(set(wordnet.descendants(own[0]).tolist()))
    assert len(set.union(*seen)) == 1292
    shared = [len(a & b) for i, a in enumerate(seen) for b in seen[:i]]
    assert max(shared) <= 8


def test_lexicographer_files(wordnet: Taxonomy) -> None:
    topics = default_topics(wordnet)
    assert topics.names == topic_preset(wordnet, "lexicographer").names
    assert topics.names[topics.topic_of[wordnet.find("tennis")]] == "act"
    assert topics.topic_of.min() >= 0
    assert topics.topic_of.dtype == np.int16


def test_branches(odp: Taxonomy) -> None:
    topics = default_topics(odp)
    assert topics.names == ["Sports", "Arts", "News"]
    assert topics.topic_of[odp.find("Balls")] == 0
    assert topics.topic_of[0] == OFF_TOPIC


def test_the_first_topic_wins(odp: Taxonomy) -> None:
    balls = odp.find("Balls")
    assert select_topics(odp, ["Tennis", "Sports"]).topic_of[balls] == 0
    assert select_topics(odp, ["Tennis", "Sports"]).topic_of[odp.find("Sports")] == 1
    assert select_topics(odp, ["Sports", "Tennis", "Sports"]).sizes.tolist() == [3, 0, 0]


def test_an_artificial_root_as_topic_has_everything(odp: Taxonomy) -> None:
    assert select_topics(odp, ["Arts", 0], ["arts", "rest"]).sizes.tolist() == [2, len(odp) - 2]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_topics_as_the_taxonomy_tells_them(wordnet: Taxonomy, data: st.DataObject) -> None:
    top = st.integers(0, 400)  # low numbers have much below them
    chosen = data.draw(st.lists(top, min_size=1, max_size=6, unique=True))
    concept = data.draw(st.integers(0, len(wordnet) - 1))
    place = select_topics(wordnet, chosen).topic_of[concept]
    told = wordnet.topic(concept, chosen)
    assert (None if place == OFF_TOPIC else chosen[place]) == told


def test_misuse(odp: Taxonomy) -> None:
    with pytest.raises(UsageError, match='did you mean "sanchez19"'):
        topic_preset(odp, "sanches19")
    with pytest.raises(UsageError, match="WordNet's"):
        topic_preset(odp, "sanchez4")
    with pytest.raises(UsageError, match="no lexicographer"):
        topic_preset(odp, "lexicographer")
    with pytest.raises(UsageError, match="no concept"):
        select_topics(odp, [99])
    with pytest.raises(UsageError, match="names"):
        select_topics(odp, ["Arts"], ["a", "b"])
    with pytest.raises(UsageError, match="names"):
        select_topics(odp, [])
    with pytest.raises(UsageError, match="too many"):
        select_topics(odp, [1] * 40_000)
