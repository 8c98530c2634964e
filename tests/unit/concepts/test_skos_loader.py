"""SKOS and classes: every notation, labels in a language, roots, and every fault."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from queryveil.concepts.loaders.skos import import_skos
from queryveil.concepts.taxonomy.builder import RepairLog
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import FormatError, InputError

PREFIXES = """\
@prefix s: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/> .
"""
SHOP = """\
:home s:prefLabel "home" .
:garden s:prefLabel "garden" ; s:broader :home .
:hose s:prefLabel "hose" ; s:broader :garden .
"""
SHOP_EDGES = [("home", "garden"), ("garden", "hose")]


def load(
    tmp_path: Path,
    text: str | bytes,
    name: str = "shop.ttl",
    language: str = "en",
    repairs: RepairLog | None = None,
) -> Taxonomy:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else (PREFIXES + text).encode())
    return import_skos(path, repairs or RepairLog(name), language=language)


def edges(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    """Parent and child of every edge by label, an artificial root as nothing."""
    named = [
        "" if not taxonomy.has_real_root and c == 0 else taxonomy.label(c)
        for c in range(len(taxonomy))
    ]
    return [(named[int(p)], named[c]) for c in range(len(taxonomy)) for p in taxonomy.parents[c]]


# --- notations -----------------------------------------------------------------------------------

NT = b"""\
<http://example.org/a> <http://www.w3.org/2004/02/skos/core#prefLabel> "home" .
<http://example.org/b> <http://www.w3.org/2004/02/skos/core#broader> <http://example.org/a> .
<http://example.org/b> <http://www.w3.org/2004/02/skos/core#prefLabel> "garden"@en .
"""
XML = b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:s="http://www.w3.org/2004/02/skos/core#">
  <s:Concept rdf:about="http://example.org/a"><s:prefLabel>home</s:prefLabel></s:Concept>
  <s:Concept rdf:about="http://example.org/b">
    <s:prefLabel xml:lang="en">garden</s:prefLabel>
    <s:broader rdf:resource="http://example.org/a"/>
  </s:Concept>
</rdf:RDF>
"""
JSON = b"""{"@context": {"s": "http://www.w3.org/2004/02/skos/core#"}, "@graph": [
  {"@id": "http://example.org/a", "s:prefLabel": "home"},
  {"@id": "http://example.org/b", "s:prefLabel": {"@value": "garden", "@language": "en"},
   "s:broader": {"@id": "http://example.org/a"}}]}
"""
FILES = {
    "a.nt": NT,
    "a.ttl": NT,
    "a.RDF": XML,
    "a.xml": XML,
    "a.owl": XML,
    "a.jsonld": JSON,
    "a.json": JSON,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
def test_every_notation(tmp_path, name, pack):
    packed = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[pack](FILES[name])
    found = load(tmp_path, packed, name + pack)
    assert edges(found) == [("home", "garden")]
    assert [found.name(c) for c in (0, 1)] == ["http://example.org/a", "http://example.org/b"]
    assert found.title == "a"


def test_a_large_file_is_read_in_pieces(tmp_path):
    lines = [":home s:prefLabel 'home' .\n"]
    lines += [f":c{n} s:prefLabel 'concept {n}' ; s:broader :home .\n" for n in range(30_000)]
    found = load(tmp_path, "".join(lines))
    assert len(found) == 30_001
    assert found.label(30_000) == "concept 29999"


def test_addresses_are_relative_to_the_name_of_the_file_alone(tmp_path):
    found = load(tmp_path, "<#a> s:prefLabel 'a' .\n")
    assert found.name(0) == "file:///shop.ttl#a"


# --- edges and roots -----------------------------------------------------------------------------


def test_narrower_is_the_inverse_of_broader(tmp_path):
    text = """
    :home s:prefLabel "home" ; s:narrower :garden .
    :garden s:prefLabel "garden" ; s:narrower :hose ; s:broader :home .
    :hose s:prefLabel "hose" ."""
    assert edges(load(tmp_path, SHOP)) == edges(load(tmp_path, text)) == SHOP_EDGES


def test_transitive_edges_count_only_where_there_are_no_others(tmp_path):
    more = ":hose s:broaderTransitive :garden, :home . :garden s:broaderTransitive :home .\n"
    assert edges(load(tmp_path, SHOP + more)) == SHOP_EDGES
    bare = SHOP.replace("s:broader", "s:related") + more
    assert edges(load(tmp_path, bare)) == [*SHOP_EDGES, ("home", "hose")]


@pytest.mark.parametrize(
    "scheme",
    [
        ":all a s:ConceptScheme ; s:prefLabel 'All' .",
        ":all s:hasTopConcept :home .",
        ":home s:topConceptOf :all .",
        ":hose s:inScheme :all .",
    ],
)
def test_a_scheme_is_a_root_that_does_not_count(tmp_path, scheme):
    found = load(tmp_path, SHOP + scheme + ":office s:prefLabel 'office' .")
    assert not found.has_real_root
    assert edges(found) == [("", "home"), ("", "office"), *SHOP_EDGES]


def test_collections_are_no_concepts(tmp_path):
    more = ":set a s:Collection ; s:prefLabel 'set' ; s:member :hose ."
    assert edges(load(tmp_path, SHOP + more)) == SHOP_EDGES


def test_classes(tmp_path):
    text = """
    :Home a owl:Class ; rdfs:label "home" ; rdfs:subClassOf owl:Thing .
    :Garden a rdfs:Class ; rdfs:label "garden" ; rdfs:subClassOf :Home, [ a owl:Restriction ] .
    :Office a owl:Class ; rdfs:label "office" .
    :paints a owl:ObjectProperty ; rdfs:label "paints" ."""
    found = load(tmp_path, text)
    assert edges(found) == [("", "home"), ("", "office"), ("home", "garden")]


def test_the_order_is_that_of_the_file(tmp_path):
    text = "".join(f":c{n} s:prefLabel 'c{n}' ; s:broader :r .\n" for n in (3, 1, 2))
    found = load(tmp_path, text + ":r s:prefLabel 'r' .")
    assert [found.label(c) for c in range(4)] == ["r", "c3", "c1", "c2"]


def test_concepts_without_an_address_are_named_alike_each_time(tmp_path):
    text = "[] s:prefLabel 'a' ; s:broader [ s:prefLabel 'b' ] ."
    named = [[load(tmp_path, text).name(c) for c in (0, 1)] for _ in range(3)]
    assert named[0] == named[1] == named[2]


# --- labels --------------------------------------------------------------------------------------

TONGUES = ":a s:prefLabel 'hose'@en, 'Schlauch'@de, 'manche'@pt, 'H-1' ; s:altLabel 'pipe'@en-GB ."


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["hose", "H-1", "pipe"]),
        ("DE", ["Schlauch", "H-1"]),
        ("fr", ["H-1"]),
    ],
)
def test_labels_of_a_language(tmp_path, language, expected):
    assert load(tmp_path, TONGUES, language=language).labels_of(0) == expected


def test_any_language_rather_than_none(tmp_path):
    text = ":a s:prefLabel 'manche'@pt, 'Schlauch'@de ; s:altLabel 'pipe'@en ."
    assert load(tmp_path, text, language="en").labels_of(0) == ["Schlauch", "pipe"]


def test_a_language_that_no_label_has(tmp_path):
    text = ":a s:prefLabel 'Heim'@de ; s:altLabel 'Haus'@de, 'casa'@pt ."
    with pytest.raises(FormatError, match='no label has the language "german"') as caught:
        load(tmp_path, text, language="german")
    assert caught.value.hint == "languages of its labels: de, pt"
    assert load(tmp_path, ":a s:prefLabel 'Heim' .", language="fr").labels_of(0) == ["Heim"]


@pytest.mark.parametrize(
    ("text", "language", "labels"),
    [
        # The further labels of a German thesaurus were left out, and its words tagged as English.
        (":a s:prefLabel 'Moos'@de ; s:altLabel 'Moose'@de .", "german", ["Moos", "Moose"]),
        (
            ":a s:prefLabel 'Moos'@de-AT, 'moss'@en . :b s:prefLabel 'Baum'@de ; s:broader :a .",
            "german",
            ["Moos"],
        ),
        (":a s:prefLabel 'Moos'@de, 'moss'@en ; s:altLabel 'Moose'@de .", "english", ["moss"]),
        (":a s:prefLabel 'moss' ; s:altLabel 'Moos'@de .", "english", ["moss"]),
    ],
)
def test_the_language_of_most_concepts(tmp_path, text, language, labels):
    taxonomy = load(tmp_path, text, language="")
    assert (taxonomy.language, taxonomy.labels_of(0)) == (language, labels)


def test_the_language_is_kept(tmp_path):
    assert load(tmp_path, TONGUES).language == "english"
    assert load(tmp_path, TONGUES, language="de-AT").language == "german"


def test_kinds_of_labels(tmp_path):
    text = ":a s:hiddenLabel 'hozepipe' ; s:altLabel 'hose  pipe' ; s:prefLabel 'garden\\nhose' ."
    assert load(tmp_path, text).labels_of(0) == ["garden hose", "hose pipe", "hozepipe"]
    assert load(tmp_path, ":a s:altLabel 'only' .").labels_of(0) == ["only"]


def test_labels_that_are_nodes(tmp_path):
    text = """
    :a xl:prefLabel [ xl:literalForm "hose"@en ] ; xl:altLabel :pipe .
    :pipe a xl:Label ; xl:literalForm "pipe"@en ."""
    found = load(tmp_path, text)
    assert len(found) == 1
    assert found.labels_of(0) == ["hose", "pipe"]


# --- faults --------------------------------------------------------------------------------------

MISSING = "a concept that is named but not described"
FAULTS = {
    "orphan": (":tap s:prefLabel 'tap' ; s:broader :none .", MISSING, [("home", "tap")]),
    "child": (":hose s:narrower :none .", MISSING, []),
    "second root": (":x s:prefLabel 'x' .", "a second root", None),
    "cycle": (":garden s:broader :garden .", "a cycle", []),
    "no label": (":tap s:broader :home .", "a concept without a label", [("home", "tap")]),
    "control": (":home s:altLabel 'h\\u0007' .", "a control character", []),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_refused_or_mended(tmp_path, case):
    text, fault, more = FAULTS[case]
    with pytest.raises(FormatError, match=fault) as refused:
        load(tmp_path, SHOP + text)
    assert "line" not in refused.value.what
    repairs = RepairLog("shop", enabled=True)
    found = load(tmp_path, SHOP + text, repairs=repairs)
    if more is not None:
        assert set(edges(found)) == {*SHOP_EDGES, *more}
    assert repairs.counts == {fault: 1}


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.ttl", b"<http://a.example/> <http://b.example/>\n  nonsense .", "line 2: "),
        ("a.nt", NT + b"nonsense", "line 4: "),
        ("a.rdf", XML[:-20], None),
        ("a.jsonld", JSON[:-9], "line"),
        ("a.jsonld", b'{"@context": "https://example.org/c", "@id": "x:y"}', None),
        ("a.ttl", b"\xff\xfe\xfa", None),
        ("a.ttl", b"", "no concept"),
        ("a.doc", b"", "unknown format"),
        ("a.gz", b"", "unknown format"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, data, said):
    with pytest.raises(FormatError, match=said):
        load(tmp_path, data, name)


def test_no_file_and_a_cut_one(tmp_path):
    with pytest.raises(InputError):
        import_skos(tmp_path / "none.ttl", RepairLog("none"))
    with pytest.raises(InputError, match="cut off"):
        load(tmp_path, gzip.compress(NT)[:-10], "a.nt.gz")
