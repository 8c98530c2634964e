"""Bringing, showing, searching, checking and trying taxonomies; and what a log is about."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.loaders.registry import BUILT_IN, TAXONOMY_LOADERS
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import ColumnError, FormatError, InputError, OutputError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.workflows.profiling import profile
from queryveil.workflows.taxonomies import (
    check_taxonomy_file,
    describe_concept,
    describe_taxonomy_file,
    explain_queries,
    import_taxonomy,
    list_taxonomies,
    make_mapper,
    map_to_file,
    search_taxonomy,
)
from queryveil.workflows.taxonomy_records import ConceptName, MappedFile

PATHS = """Top/Sports/Water_Sports/Windsurfing\tboards and sails
Top/Sports/Water_Sports/Swimming_and_Diving
Top/Regional/Europe/Mediterranean
"""
STRUCTURE = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" \
xmlns="http://dmoz.org/rdf/">
<Topic r:id=""><catid>1</catid></Topic>
<Topic r:id="Top/Arts"><catid>2</catid><d:Title>Arts</d:Title></Topic>
<Topic r:id="Top/Arts/Music"><catid>3</catid><d:Title>Music</d:Title></Topic>
<Topic r:id="Top/World/Dansk"><catid>4</catid><d:Title>Dansk</d:Title></Topic>
<Topic r:id="Top/Adult"><catid>5</catid><d:Title>Adult</d:Title></Topic>
</RDF>
"""
CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" \
xmlns="http://dmoz.org/rdf/">
<ExternalPage about="http://a.example/">
  <d:Title>Saxophones</d:Title>
  <d:Description>All about reeds</d:Description>
  <topic>Top/Arts/Music</topic>
</ExternalPage>
</RDF>
"""
TTL = """@prefix s: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/home> s:prefLabel "home"@en, "Heim"@de .
<http://example.org/hose> s:prefLabel "hose"@en, "Schlauch"@de ;
  s:broader <http://example.org/home> .
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "odp.txt": PATHS, "structure.rdf.u8": STRUCTURE, "content.rdf.u8": CONTENT,
        "shop.ttl": TTL, "shop.csv": "parent,child\nhome,garden\ngarden,hose\n",
    }.items():  # fmt: skip
        Path(name).write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def odp() -> str:
    import_taxonomy("paths", ["odp.txt"], "odp.qvt")
    return "odp.qvt"


def labels(path: str) -> set[str]:
    taxonomy = Taxonomy.open(path)
    return {taxonomy.label(concept) for concept in range(len(taxonomy))}


# --- import --------------------------------------------------------------------------------------


def test_import_paths() -> None:
    told = import_taxonomy("paths", ["odp.txt"], "new.qvt")
    assert (told.out, told.kind, told.statistics.concepts) == ("new.qvt", "paths", 7)
    assert told.bytes == Path("new.qvt").stat().st_size
    assert (told.search, told.repaired) == ("new.qvt.search", {})
    assert told.counted["lines"] == 3
    assert Path("new.qvt.search").exists()
    assert labels("new.qvt") >= {"Windsurfing", "Swimming and Diving", "Mediterranean"}
    assert json.loads(told.to_json())["max_depth"] == 3


def test_import_a_table() -> None:
    told = import_taxonomy("csv", ["shop.csv"], "new.qvt")
    assert (told.statistics.concepts, told.search, told.counted) == (3, None, {})
    assert labels("new.qvt") == {"home", "garden", "hose"}
    assert not Path("new.qvt.search").exists()
    Path("odd.csv").write_text("von,nach\nhome,garden\n")
    import_taxonomy("csv", ["odd.csv"], "odd.qvt", columns={"parent": "von", "child": "nach"})
    assert labels("odd.qvt") == {"home", "garden"}
    with pytest.raises(ColumnError, match="no columns"):
        import_taxonomy("csv", ["odd.csv"], "odd2.qvt", columns={"parent": "x", "child": "nach"})


@pytest.mark.parametrize(
    ("language", "found"), [("en", {"home", "hose"}), ("de", {"Heim", "Schlauch"})]
)
def test_import_skos(language: str, found: set[str]) -> None:
    import_taxonomy("skos", ["shop.ttl"], "new.qvt", label_language=language)
    assert labels("new.qvt") == found


def test_import_odp() -> None:
    told = import_taxonomy("odp", ["structure.rdf.u8", "content.rdf.u8"], "new.qvt")
    assert told.search == "new.qvt.search"
    assert {"Arts", "Music"} <= labels("new.qvt")
    assert not {"Dansk", "Adult"} & labels("new.qvt")
    assert search_taxonomy("new.qvt", "reeds").matches[0].concept == "Top/Arts/Music"
    import_taxonomy("odp", ["structure.rdf.u8"], "all.qvt", all_languages=True, include_adult=True)
    assert {"Dansk", "Adult"} <= labels("all.qvt")


def test_import_replaces_only_when_told(odp: str) -> None:
    before = Path(odp).read_bytes()
    with pytest.raises(OutputError, match="exists already") as caught:
        import_taxonomy("csv", ["shop.csv"], odp)
    assert "`overwrite=True`" in caught.value.hint
    assert Path(odp).read_bytes() == before
    assert Path("odp.qvt.search").exists()
    import_taxonomy("csv", ["shop.csv"], odp, overwrite=True)
    assert labels(odp) == {"home", "garden", "hose"}
    assert not Path("odp.qvt.search").exists()  # it was that of the other


def test_import_repairs_only_when_told() -> None:
    Path("bad.csv").write_text("parent,child\na,b\nb,a\n")
    with pytest.raises(FormatError, match="a cycle") as caught:
        import_taxonomy("csv", ["bad.csv"], "new.qvt")
    assert "`repair=True`" in caught.value.hint
    assert not Path("new.qvt").exists()
    told = import_taxonomy("csv", ["bad.csv"], "new.qvt", repair=True)
    assert told.repaired == {"a cycle": 1}
    assert check_taxonomy_file("new.qvt")


@pytest.mark.parametrize(
    ("kind", "files", "says"),
    [
        ("path", ["odp.txt"], 'unknown taxonomy loader "path"'),
        ("", ["odp.txt"], 'unknown taxonomy loader ""'),
        ("paths", [], "paths takes 1 file, got 0"),
        ("paths", ["odp.txt", "odp.txt"], "paths takes 1 file, got 2"),
        ("csv", ["shop.csv", "odp.txt"], "csv takes 1 file, got 2"),
        ("odp", ["a", "b", "c"], "odp takes 1 or 2 files, got 3"),
    ],
)
def test_import_of_the_wrong_kind_or_number(kind: str, files: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        import_taxonomy(kind, files, "new.qvt")
    assert not Path("new.qvt").exists()


def test_an_option_of_another_loader_is_refused() -> None:
    with pytest.raises(UsageError, match="it has no options"):
        import_taxonomy("paths", ["odp.txt"], "new.qvt", columns="parent=a,child=b")
    with pytest.raises(UsageError, match='did you mean "columns"'):
        import_taxonomy("csv", ["shop.csv"], "new.qvt", colums="parent=a,child=b")
    assert not Path("new.qvt").exists()


@pytest.mark.parametrize("kind", [kind for kind in TAXONOMY_LOADERS if kind != "skos"])
def test_import_of_a_file_that_is_not_there(kind: str) -> None:
    with pytest.raises(InputError):
        import_taxonomy(kind, ["nowhere"], "new.qvt")
    assert not list(Path().glob("new*"))


# --- look at -------------------------------------------------------------------------------------


def test_list(odp: str, folder: Path) -> None:
    wordnet, nouns, *shops, own = list_taxonomies().taxonomies
    assert [one.concepts for one in shops] == [14_607] * 9
    assert wordnet.name == "wordnet"
    assert (nouns.name, nouns.concepts) == ("wordnet-nouns", 82_115)
    assert (own.name, own.description, own.concepts) == ("odp.qvt", "a file", 8)
    names = [one.name for one in list_taxonomies(folder).taxonomies]
    assert names == [*BUILT_IN, str(folder / "odp.qvt")]


def test_list_a_folder_with_a_comma_in_its_name(odp: str) -> None:
    Path("a,b").mkdir()
    Path(odp).rename("a,b/odp.qvt")
    listed = [one.name for one in list_taxonomies("a,b").taxonomies]
    assert listed == [*BUILT_IN, "a,b/odp.qvt"]


def test_list_a_folder_that_is_not_there() -> None:
    with pytest.raises(InputError):
        list_taxonomies("nowhere")


def test_show_a_taxonomy(odp: str) -> None:
    told = describe_taxonomy_file(odp)
    assert (told.taxonomy, told.statistics.concepts, told.statistics.max_depth) == ("odp", 7, 3)
    assert {one.name for one in told.statistics.branches} == {"Top/Sports", "Top/Regional"}


@pytest.mark.parametrize(
    "concept", ["Water Sports", "water_sports", "Top/Sports/Water_Sports", "Sports/Water_Sports/"]
)
def test_show_a_concept(odp: str, concept: str) -> None:
    told = describe_concept(odp, concept)
    assert told.concept == "Top/Sports/Water_Sports"
    assert (told.label, told.labels, told.depth) == ("Water Sports", ("Water Sports",), 2)
    assert [one.label for one in told.ancestors] == ["Sports", "Water Sports"]
    assert told.parents == (ConceptName("Top/Sports", "Sports"),)
    assert [one.label for one in told.children] == ["Windsurfing", "Swimming and Diving"]
    assert (told.number_of_children, told.concepts_below) == (2, 2)
    assert told.other_meanings == ()


def test_show_a_concept_that_is_not_there(odp: str) -> None:
    with pytest.raises(UsageError, match='"windsurf" is no concept of odp') as caught:
        describe_concept(odp, "windsurf")
    assert caught.value.hint


def test_show_other_meanings() -> None:
    told = describe_concept("wordnet", "bank")
    assert told.label == "bank"
    assert len(told.other_meanings) == 9
    assert len(describe_concept("wordnet", "person").children) == 20
    assert describe_concept("wordnet", "person").number_of_children > 100


def test_search(odp: str) -> None:
    (first, *_) = search_taxonomy(odp, "diving").matches
    assert first.concept == "Top/Sports/Water_Sports/Swimming_and_Diving"
    assert search_taxonomy(odp, "sails").matches[0].label == "Windsurfing"  # by its text
    assert len(search_taxonomy(odp, "sports", 1).matches) == 1
    assert search_taxonomy(odp, "zqx").matches == ()


# --- check ---------------------------------------------------------------------------------------


def damaged(path: str, name: str, array: str = "labels") -> str:
    """Write a copy in which one byte of one array is another."""
    data = bytearray(Path(path).read_bytes())
    size = int.from_bytes(data[4:8], "little")
    place = 8 + size + json.loads(data[8 : 8 + size])["arrays"][array]["at"]
    data[place] ^= 1
    Path(name).write_bytes(data)
    return name


def test_check(odp: str) -> None:
    told = check_taxonomy_file(odp)
    assert (told.taxonomy, told.holds) == ("odp", True)
    assert check_taxonomy_file("odp.txt")
    assert check_taxonomy_file("wordnet")


@pytest.mark.parametrize("name", ["bad.qvt", "bad.tax", "bad.qvt,odp.txt"])
def test_check_reads_every_byte(odp: str, name: str) -> None:
    """Under whatever name, and as one of several."""
    damaged(odp, name.partition(",")[0])
    with pytest.raises(FormatError, match="damaged"):
        check_taxonomy_file(name)


@pytest.mark.parametrize("size", [0, 3, 100, 1000])
def test_check_a_file_that_is_cut_off(odp: str, size: int) -> None:
    Path("bad.qvt").write_bytes(Path(odp).read_bytes()[:size])
    with pytest.raises(FormatError):
        check_taxonomy_file("bad.qvt")


# --- try out -------------------------------------------------------------------------------------


def test_map_queries_tells_every_step(odp: str) -> None:
    told, other = explain_queries(make_mapper(odp), ["diving in the Mediterranean", "zqx"])
    assert told.query == "diving in the Mediterranean"
    assert [(one.word, one.kind) for one in told.words] == [
        ("diving", "noun"), ("in", "stop word"), ("the", "stop word"), ("mediterranean", "noun"),
    ]  # fmt: skip
    assert told.phrases[0].to_dict() == {
        "text": "diving",
        "concept": "Top/Sports/Water_Sports/Swimming_and_Diving",
        "label": "Swimming and Diving",
        "tried": ["diving"],
        "how": "part",
        "second_try": False,
        "ancestors": ["Sports", "Water Sports", "Swimming and Diving"],
    }
    assert [one.concept for one in other.phrases] == [None]


def test_make_mapper_with_own_terms(odp: str) -> None:
    Path("terms.tsv").write_text("scuba\tSwimming and Diving\nzqx\tMediterranean\n")
    mapper = make_mapper(odp, terms="terms.tsv")
    (told,) = explain_queries(mapper, ["scuba in the zqx"])
    assert [one.label for one in told.phrases] == ["Swimming and Diving", "Mediterranean"]


@pytest.fixture(scope="module")
def mapper() -> Mapper:
    paths = [line.partition("\t")[0] for line in PATHS.splitlines()]
    return make_mapper(taxonomy_from_paths(paths, "odp"))


READERS = {
    ".tsv": lambda path: pl.read_csv(path, separator="\t"),
    ".csv": pl.read_csv,
    ".parquet": pl.read_parquet,
}


@pytest.mark.parametrize("form", READERS)
def test_map_file(mapper: Mapper, form: str) -> None:
    queries = pl.Series(["diving", 'zqx, "zqx"', "diving", "the", "mediterranean\tdiving"])
    told = map_to_file(mapper, queries, f"out{form}")
    assert told == MappedFile(f"out{form}", 4, 3, 0.5)
    table = READERS[form](f"out{form}")
    assert table.columns == ["query", "phrase", "concept", "name", "label", "how", "loose"]
    assert table["query"].to_list() == [queries[0], queries[1], queries[4]]
    assert table["label"].to_list() == ["Swimming and Diving", None, "Swimming and Diving"]


def test_map_file_replaces_only_when_told(mapper: Mapper) -> None:
    Path("out.tsv").write_text("mine")
    with pytest.raises(OutputError):
        map_to_file(mapper, pl.Series(["diving"]), "out.tsv")
    assert Path("out.tsv").read_text() == "mine"
    map_to_file(mapper, pl.Series(["diving"]), "out.tsv", overwrite=True)
    assert "diving" in Path("out.tsv").read_text()


@pytest.mark.parametrize("name", ["out.xlsx", "out", "out.TXT"])
def test_map_file_in_an_unknown_form(mapper: Mapper, name: str) -> None:
    with pytest.raises(UsageError, match="has no known file extension") as caught:
        map_to_file(mapper, pl.Series(["diving"]), name)
    assert ".parquet" in caught.value.hint
    assert not Path(name).exists()


# --- what a log is about -------------------------------------------------------------------------

LOG = QueryLog.from_rows(
    [
        ("ann", "diving in the mediterranean", None, None, None),
        ("ann", "diving in the mediterranean", None, None, None),
        ("ann", "windsurfing", None, None, None),
        ("bob", "zqx", None, None, None),
        ("cat", "zqx", None, None, None),
        ("cat", "jane.doe@mail.example", None, None, None),
        ("cat", "the", None, None, None),
        ("dan", "mediterranean", None, None, None),
    ]
)


def test_a_profile_with_topics(mapper: Mapper) -> None:
    topics = profile(LOG, taxonomy=mapper).topics
    assert topics is not None
    assert topics.taxonomy == "odp"
    assert topics.queries_with_concept_fraction == 0.5  # 3 of 6
    assert topics.rows_with_concept_fraction == 0.5  # 4 of 8
    # Phrases of lines: diving 2, mediterranean 2 + 1, windsurfing 1.
    assert topics.fractions == {"Regional": 0.5, "Sports": 0.5}
    assert [(concept.label, concept.fraction) for concept in topics.frequent_concepts] == [
        ("Mediterranean", 0.5), ("Swimming and Diving", 0.3333), ("Windsurfing", 0.1667),
    ]  # fmt: skip
    assert topics.frequent_concepts[0].concept == "Top/Regional/Europe/Mediterranean"
    examples = topics.frequent_queries_without_concept
    assert examples[0] == "zqx"  # two users sent it
    assert set(examples) == {"zqx", "the", "j\u2022\u2022\u2022@\u2022\u2022\u2022"}


def test_a_profile_without_topics() -> None:
    assert profile(LOG).topics is None


def test_topics_of_a_log_without_concepts(mapper: Mapper) -> None:
    log = QueryLog.from_rows([("ann", "zqx", None, None, None), ("bob", "the", None, None, None)])
    topics = profile(log, taxonomy=mapper).topics
    assert topics is not None
    assert topics.queries_with_concept_fraction == topics.rows_with_concept_fraction == 0
    assert (topics.fractions, topics.frequent_concepts) == ({}, ())
    assert topics.frequent_queries_without_concept == ("the", "zqx")
