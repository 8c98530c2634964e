"""Several taxonomies as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryveil
from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.similarity.distance import concept_distance
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.merging import merge_taxonomies
from queryveil.errors import UsageError


def graph_of(title: str, edges: dict[str, str], top: bool = False) -> Taxonomy:
    """Make a graph of one-letter concepts, each with its parents; labels are in upper case."""
    draft = TaxonomyBuilder(title)
    places = {name: draft.add(name, line, name.upper()) for line, name in enumerate(edges, 1)}
    for name, above in edges.items():
        for parent in above:
            draft.edge(places[name], places[parent])
    draft.top = 0 if top else None
    return draft.build(RepairLog(title))


ODP = taxonomy_from_paths(["Top/Sports/Tennis", "Top/Sports/Golf"], "odp")
SHOP = taxonomy_from_paths(["Shop/Tennis/Rackets"], "shop")
GRAPH = graph_of("graph", {"r": "", "s": "r", "t": "rs", "Top/Sports": "t"})


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return Taxonomy.open(Path(queryveil.__file__).parent / "concepts" / "data" / "wordnet.qvt")


def way(taxonomy: Taxonomy, concept: int) -> list[str]:
    return [taxonomy.name(int(above)) for above in taxonomy.ancestors(concept)]


def test_the_first_that_knows_a_phrase_wins() -> None:
    both, turned = merge_taxonomies([ODP, SHOP]), merge_taxonomies([SHOP, ODP])
    assert [both.name(c) for c in both.lookup("tennis")] == ["Sports/Tennis", "Shop/Tennis"]
    assert [turned.name(c) for c in turned.lookup("tennis")] == ["Shop/Tennis", "Sports/Tennis"]


def test_the_root_is_ours_and_counts_for_nothing() -> None:
    both = merge_taxonomies([ODP, SHOP])
    assert (both.name(0), both.label(0), both.has_real_root) == ("", "", False)
    assert both.lookup("top") == []
    assert len(both) == 1 + (len(ODP) - 1) + len(SHOP)
    assert {both.name(int(c)) for c in both.children(0)} == {"Sports", "Shop"}
    assert concept_distance(both, both.find("Sports"), both.find("Shop")) == 1
    assert concept_distance(both, both.find("Tennis"), both.find("Golf")) == concept_distance(
        ODP, ODP.find("Tennis"), ODP.find("Golf")
    )


def test_paths_are_written_out_beside_a_graph() -> None:
    both = merge_taxonomies([ODP, GRAPH])
    assert not both.paths
    assert both.name(both.find("Golf")) == "Top/Sports/Golf"
    assert merge_taxonomies([ODP, SHOP]).paths
    rooted = taxonomy_from_paths(["A/B", "C"], "two roots")
    assert (
        merge_taxonomies([rooted, GRAPH]).name(merge_taxonomies([rooted, GRAPH]).find("B")) == "A/B"
    )


def test_a_name_of_two_parts_gets_the_title_of_the_later() -> None:
    both = merge_taxonomies([ODP, GRAPH])
    mine, other = both.find("Top/Sports"), both.find("graph:Top/Sports")
    assert way(both, mine) == ["Top/Sports"]
    assert way(both, other) == ["r", "s", "t", "graph:Top/Sports"]


def test_paths_of_one_branch_get_the_title_at_the_branch() -> None:
    thrice = merge_taxonomies([ODP, ODP, taxonomy_from_paths(["Top/Sports/Tennis"], "odp 2")])
    assert [thrice.name(c) for c in thrice.lookup("tennis")] == [
        "Sports/Tennis",
        "odp 2:Sports/Tennis",
        "odp 2 2:Sports/Tennis",
    ]
    assert thrice.tag_names["part"] == ["odp", "odp 2", "odp 2 2"]
    names = [thrice.name(c) for c in range(len(thrice))]
    assert len(set(names)) == len(names)


def test_parts_and_other_marks() -> None:
    marked = replace(
        ODP,
        tags={"colour": np.array([0, 1, 1, 0], np.uint8), "size": np.array([9, 8, 7, 6])},
        tag_names={"colour": ["red", "blue"]},
    )
    other = replace(GRAPH, tags={"colour": np.zeros(4, np.uint8)}, tag_names={"colour": ["blue"]})
    one = merge_taxonomies([marked, other, SHOP])
    colour = [one.tag_names["colour"][c] if c >= 0 else None for c in one.tags["colour"]]
    found = {
        one.name(c): (one.tag_names["part"][one.tags["part"][c]], colour[c])
        for c in range(1, len(one))
    }
    assert found["Top/Sports"] == ("odp", "blue")
    assert found["Top/Sports/Golf"] == ("odp", "red")
    assert found["s"] == ("graph", "blue")
    assert found["Shop/Tennis"] == ("shop", None)
    assert (one.tags["part"][0], one.tags["size"][0]) == (-1, -1)
    assert one.tags["size"][one.find("Golf")] == 6
    nested = merge_taxonomies([one, ODP])
    assert nested.tag_names["part"] == ["odp", "graph", "shop", "odp 2"]


def test_no_taxonomy() -> None:
    with pytest.raises(UsageError, match="no taxonomy"):
        merge_taxonomies([])


def test_wordnet_first(wordnet: Taxonomy, tmp_path: Path) -> None:
    both = merge_taxonomies([wordnet, ODP])
    asthma = both.find("asthma")
    assert both.name(asthma) == wordnet.name(wordnet.find("asthma"))
    assert both.tags["lexicographer"][both.find("Top/Sports/Golf")] == -1
    assert [both.name(c) for c in both.lookup("tennis")] == [
        *(wordnet.name(c) for c in wordnet.lookup("tennis")),
        "Top/Sports/Tennis",
    ]
    both.write(tmp_path / "both.qvt")
    assert way(Taxonomy.open(tmp_path / "both.qvt"), asthma) == way(wordnet, wordnet.find("asthma"))


@st.composite
def graphs(draw: st.DrawFn, title: str) -> Taxonomy:
    names = "".join(draw(st.permutations("abcdef")))[: draw(st.integers(2, 6))]
    edges = {names[0]: ""}
    for place, name in enumerate(names[1:], 1):
        edges[name] = "".join(sorted(draw(st.sets(st.sampled_from(names[:place]), min_size=1))))
    return graph_of(title, edges, draw(st.booleans()))


@settings(max_examples=60, deadline=None)
@given(graphs("x"), graphs("y"))
def test_each_concept_keeps_what_it_has(x: Taxonomy, y: Taxonomy) -> None:
    both = merge_taxonomies([x, y])
    assert all((both.parents[c] < c).all() for c in range(len(both)))
    assert (np.diff(both.depths) >= 0).all()
    assert (both.label_concepts.sizes > 0).all()
    taken = {x.name(c) for c in range(0 if x.has_real_root else 1, len(x))}
    for part, before in ((x, set()), (y, taken)):
        called = {
            c: (part.title + ":") * (part.name(c) in before) + part.name(c)
            for c in range(0 if part.has_real_root else 1, len(part))
        }
        for concept, name in called.items():
            number = both.find(name)
            assert set(way(both, number)) == {called[int(c)] for c in part.ancestors(concept)}
            assert both.label(number) == part.label(concept)
            assert both.labels_of(number) == part.labels_of(concept)
    for label in "ABCDEF":
        titles = [both.tag_names["part"][both.tags["part"][c]] for c in both.lookup(label)]
        assert titles == sorted(titles)
