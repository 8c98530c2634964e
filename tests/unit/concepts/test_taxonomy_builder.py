"""From a draft to a taxonomy and its file: faults, repairs, numbering and ancestors."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.concepts.taxonomy.arrays import RaggedArray
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.depths import compute_depths
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.validation import check_taxonomy
from queryveil.errors import FormatError


def draft_of(names: str, *edges: str) -> TaxonomyBuilder:
    """A draft of concepts of one letter; `ab` is an edge from child a to parent b."""
    draft = TaxonomyBuilder("letters")
    for line, name in enumerate(names, 1):
        draft.add(name, line, name)
    for child, parent in edges:
        draft.edge(names.index(child), names.index(parent))
    return draft


def finish(draft: TaxonomyBuilder, allowed: bool = False) -> tuple[Taxonomy, dict[str, int]]:
    repairs = RepairLog("letters.csv", enabled=allowed)
    return draft.build(repairs), repairs.counts


def names_of(taxonomy: Taxonomy) -> list[str]:
    return [taxonomy.name(concept) for concept in range(len(taxonomy))]


def parents_of(taxonomy: Taxonomy) -> dict[str, list[str]]:
    named = names_of(taxonomy)
    return {named[c]: [named[int(p)] for p in taxonomy.parents[c]] for c in range(len(taxonomy))}


# --- faults and repairs --------------------------------------------------------------------------


def test_concepts_are_numbered_by_level_in_the_order_of_the_file():
    draft = draft_of("dbcar", "db", "ba", "ca", "ar")
    taxonomy, done = finish(draft)
    assert names_of(taxonomy) == ["r", "a", "b", "c", "d"]
    assert draft.number.tolist() == [4, 2, 3, 1, 0]
    assert done == {}


def test_the_same_edge_twice_counts_once():
    taxonomy, _ = finish(draft_of("rabc", "ar", "br", "ca", "cb", "ca"))
    assert parents_of(taxonomy)["c"] == ["a", "b"]


@pytest.mark.parametrize(
    ("edges", "shown"),
    [
        (["ar", "ba", "bb"], "b < b"),
        (["ar", "br", "ab", "ba"], "a < b < a"),
        (["ar", "ba", "cb", "ac"], "a < c < b < a"),
    ],
)
def test_cycles(edges, shown):
    with pytest.raises(FormatError, match=rf"line \d: a cycle \({shown}\)") as refused:
        finish(draft_of("rabc", *edges))
    assert "`repair=True`" in str(refused.value)
    taxonomy, done = finish(draft_of("rabc", *edges), allowed=True)
    assert done["a cycle"] == 1
    assert compute_depths(taxonomy.parents).min() == 0


def test_a_cycle_without_any_root():
    taxonomy, done = finish(draft_of("ab", "ab", "ba"), allowed=True)
    assert parents_of(taxonomy) == {"b": [], "a": ["b"]}
    assert done == {"a cycle": 1}


def test_a_ring_of_many_is_told_shortly():
    letters = "abcdefghij"
    ring = [letters[n] + letters[(n + 1) % 10] for n in range(10)]
    with pytest.raises(FormatError, match=r"\(a < b < c < d < e < a\)"):
        finish(draft_of(letters, *ring))


def test_two_roots():
    with pytest.raises(FormatError, match=r"line 3: a second root \(s, beside r\)"):
        finish(draft_of("ras", "ar"))
    taxonomy, done = finish(draft_of("rast", "ar"), allowed=True)
    assert parents_of(taxonomy) == {"": [], "r": [""], "s": [""], "t": [""], "a": ["r"]}
    assert done == {"a second root": 2}
    assert not taxonomy.has_real_root
    assert taxonomy.ancestors(4).tolist() == [1, 4]


def test_an_artificial_root_takes_all_roots_without_a_fault():
    draft = draft_of("Tabc", "ca")
    draft.top = 0
    taxonomy, done = finish(draft)
    assert parents_of(taxonomy) == {"T": [], "a": ["T"], "b": ["T"], "c": ["a"]}
    assert done == {}


def test_no_label():
    draft = draft_of("r")
    draft.add("shop/garden_hose", 7, None, 0)
    with pytest.raises(FormatError, match="line 7: a concept without a label"):
        finish(draft)
    taxonomy, done = finish(draft, allowed=True)
    assert taxonomy.label(1) == "garden hose"
    assert done == {"a concept without a label": 1}


def test_no_concept():
    with pytest.raises(FormatError, match="no concept"):
        finish(TaxonomyBuilder("nothing"))
    only_top = draft_of("T")
    only_top.top = 0
    with pytest.raises(FormatError, match="no concept"):
        finish(only_top)


def test_labels_keep_the_order_of_their_meanings():
    draft = draft_of("rab", "ar", "br")
    for concept, text in [(2, "bank"), (1, "bank"), (2, "bank"), (1, "shore")]:
        draft.label(concept, text)
    taxonomy, _ = finish(draft)
    assert taxonomy.lookup("Bank") == [2, 1]
    assert taxonomy.labels_of(1) == ["a", "bank", "shore"]


# --- any graph -----------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Parents of each concept, all before it, and an order in which a file could name them."""
    size = draw(st.integers(1, 25))
    parents = [
        draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3)) if n else []
        for n in range(size)
    ]
    return parents, draw(st.permutations(range(size)))


def drafted(parents: list[list[int]], order: list[int], counts: bool = True) -> TaxonomyBuilder:
    draft = TaxonomyBuilder("any")
    place = {concept: at for at, concept in enumerate(order)}
    for line, concept in enumerate(order, 1):
        draft.add(f"n{concept}", line, f"label {concept % 7}")
    for concept in order:
        for parent in parents[concept]:
            draft.edge(place[concept], place[parent])
    draft.top = None if counts or len(parents) == 1 else place[0]
    return draft


@given(graphs(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_ancestors_are_those_of_a_plain_walk(graph, counts):
    parents, order = graph
    draft = drafted(parents, order, counts)
    taxonomy, _ = finish(draft)
    number = {concept: int(draft.number[at]) for at, concept in enumerate(order)}

    @cache
    def above(concept: int) -> frozenset[int]:
        return frozenset({concept}).union(*(above(p) for p in parents[concept]))

    for concept in range(len(parents)):
        plain = {number[one] for one in above(concept) if taxonomy.has_real_root or one}
        assert taxonomy.ancestors(number[concept]).tolist() == sorted(plain)
        assert taxonomy.name(number[concept]) == f"n{concept}"


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_numbers_rise_with_the_level_and_then_with_the_line(graph):
    parents, order = graph
    draft = drafted(parents, order)
    taxonomy, _ = finish(draft)
    levels = compute_depths(taxonomy.parents)
    lines = np.empty(len(taxonomy), np.int64)
    lines[draft.number] = draft.lines
    pairs = list(zip(levels.tolist(), lines.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert all((taxonomy.parents[c] < c).all() for c in range(len(taxonomy)))
    assert all(one.holds for one in check_taxonomy(taxonomy))


@given(graphs())
@settings(max_examples=50, deadline=None)
def test_the_same_draft_gives_the_same_taxonomy(graph):
    first, second = (finish(drafted(*graph))[0] for _ in range(2))
    assert same(first, second)


def same(one: Taxonomy, other: Taxonomy) -> bool:
    def arrays(taxonomy: Taxonomy) -> list[list[int]]:
        lists: list[RaggedArray] = [
            taxonomy.parents,
            taxonomy.label_concepts,
            taxonomy.all_ancestors,
        ]
        flat = [taxonomy.names.bytes, taxonomy.labels.bytes, taxonomy.titles]
        return [a.tolist() for pair in lists for a in (pair.start, pair.items)] + [
            a.tolist() for a in flat
        ]

    said = ("title", "paths", "has_real_root", "language", "tag_names")
    return arrays(one) == arrays(other) and all(getattr(one, n) == getattr(other, n) for n in said)


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
@given(graph=graphs(), counts=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_file_gives_back_what_was_written(tmp_path_factory, packed, graph, counts):
    path = tmp_path_factory.mktemp("qvt") / "any.qvt"
    taxonomy, _ = finish(drafted(*graph, counts))
    taxonomy.write(path, packed=packed)
    opened = Taxonomy.open(path)
    assert same(opened, taxonomy)
    assert (opened.stored_ancestors is None) == packed
    assert all(one.holds for one in check_taxonomy(opened))
