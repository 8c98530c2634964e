"""Labels that concepts are released as."""

from __future__ import annotations

import numpy as np
import pytest

from queryveil.concepts import Taxonomy, open_taxonomy, taxonomy_from_paths
from queryveil.concepts.taxonomy.labels import _UNRELEASED, publishable_labels


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return open_taxonomy("wordnet")


def listed() -> list[str]:
    lines = _UNRELEASED.read_text("utf-8").splitlines()
    return [line.split("\t")[0] for line in lines if not line.startswith("#")]


def test_listed_labels_are_never_released(wordnet: Taxonomy) -> None:
    names = publishable_labels(wordnet)
    released = names.texts.gather(np.unique(names.of.items))
    assert not {*released.to_list()} & {*listed()}
    assert (names.of.sizes > 0).all()  # every concept can be released


def test_every_line_of_the_list_is_a_label_or_a_concept(wordnet: Taxonomy) -> None:
    concepts = {name for name, _ in wordnet.find_all(listed())}
    assert {*listed()} - concepts <= {*wordnet.labels.series().to_list()}
    assert len(concepts) > 40


def test_a_concept_without_other_labels_is_released_as_the_one_above(wordnet: Taxonomy) -> None:
    names = publishable_labels(wordnet)
    for name, concept in wordnet.find_all(listed()):
        above = wordnet.ancestors(concept).tolist()
        texts = {*names.of[concept].tolist()}
        assert any(texts == {*names.of[other].tolist()} for other in above), name


def test_another_label_of_the_same_concept_is_used(wordnet: Taxonomy) -> None:
    names = publishable_labels(wordnet)
    texts = names.texts.gather(names.of[wordnet.find("down syndrome")]).to_list()
    assert texts == ["down syndrome", "down's syndrome", "trisomy 21"]


def test_an_own_taxonomy_keeps_its_labels() -> None:
    own = taxonomy_from_paths(["Top/Animals/Bitch"])
    names = publishable_labels(own)
    assert names.texts.gather(names.of[own.find("Bitch")]).to_list() == ["Bitch"]
