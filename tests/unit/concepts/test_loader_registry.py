"""Taxonomies by what a person calls them, and an owner's own terms."""

from __future__ import annotations

from pathlib import Path

import pytest

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.loaders.registry import open_taxonomy, read_custom_terms
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import FormatError, InputError, UsageError

PATHS = "Top/Sports/Windsurfing\nTop/Sports/Tennis\n"
TTL = """@prefix s: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/home> s:prefLabel "home" .
<http://example.org/hose> s:prefLabel "hose" ; s:broader <http://example.org/home> .
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("odp.txt").write_text(PATHS)
    Path("shop.csv").write_text("parent,child\nhome,garden\ngarden,hose\n")
    taxonomy_from_paths(["Top/Arts/Music", "Top/Arts/Tennis"], "arts").write("arts.qvt")
    return tmp_path


def names(taxonomy: Taxonomy) -> list[str]:
    return [taxonomy.name(concept) for concept in range(len(taxonomy))]


def test_wordnet_is_inside_and_opened_once() -> None:
    assert len(open_taxonomy("wordnet-nouns")) == 82_115
    assert len(open_taxonomy("wordnet")) > 95_000
    assert open_taxonomy("wordnet") is open_taxonomy(" wordnet ")


def test_a_taxonomy_is_given_back() -> None:
    one = taxonomy_from_paths(["A/B"])
    assert open_taxonomy(one) is one


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_of_ours(folder: Path, kind: type) -> None:
    found = open_taxonomy(kind("arts.qvt"))
    assert names(found) == ["Top", "Top/Arts", "Top/Arts/Music", "Top/Arts/Tennis"]
    assert found.title == "arts"


def test_a_file_of_ours_by_another_name(folder: Path) -> None:
    Path("arts.qvt").rename("arts.txt")
    assert len(open_taxonomy("arts.txt")) == 4


def test_a_list_of_paths(folder: Path) -> None:
    found = open_taxonomy(folder / "odp.txt")
    assert names(found)[-2:] == ["Top/Sports/Windsurfing", "Top/Sports/Tennis"]
    assert found.paths


@pytest.mark.parametrize("name", ["shop.csv", "SHOP.CSV"])
def test_a_table(folder: Path, name: str) -> None:
    Path("shop.csv").rename(name)
    found = open_taxonomy(name)
    assert names(found) == ["home", "garden", "hose"]
    assert not found.paths


def test_skos(folder: Path) -> None:
    Path("shop.ttl").write_text(TTL)
    found = open_taxonomy("shop.ttl")
    assert [found.label(concept) for concept in range(len(found))] == ["home", "hose"]


@pytest.mark.parametrize("text", ["odp.txt,arts.qvt", " odp.txt , arts.qvt ,"])
def test_several(folder: Path, text: str) -> None:
    found = open_taxonomy(text)
    assert found.title == "odp + arts"
    assert [found.name(c) for c in found.lookup("tennis")] == ["Sports/Tennis", "Arts/Tennis"]
    turned = open_taxonomy("arts.qvt,odp.txt")
    assert [turned.name(c) for c in turned.lookup("tennis")] == ["Arts/Tennis", "Sports/Tennis"]


@pytest.mark.parametrize("text", ["", " ", ",", " , "])
def test_none_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="no taxonomy was named"):
        open_taxonomy(text)


def test_one_is_named_twice(folder: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        open_taxonomy("odp.txt, arts.qvt, odp.txt")


@pytest.mark.parametrize("text", ["nowhere", "wordnet,nowhere", "WordNet", "."])
def test_an_unknown_one(folder: Path, text: str) -> None:
    with pytest.raises(InputError, match="cannot be read") as caught:
        open_taxonomy(text)
    assert "wordnet" in caught.value.hint
    assert caught.value.where == text.rpartition(",")[2]


def test_an_empty_list(folder: Path) -> None:
    Path("empty.txt").write_text("")
    with pytest.raises(FormatError, match="no concept"):
        open_taxonomy("empty.txt")


def test_a_fault_names_its_line(folder: Path) -> None:
    Path("odp.txt").write_text("Top/A\nTop/B\x07\n")
    with pytest.raises(FormatError, match="line 2: a control character"):
        open_taxonomy("odp.txt")


@pytest.mark.parametrize("damage", [b"", b"X", b"XXXXXXXXX"])
def test_a_file_of_ours_that_is_damaged_at_its_beginning(folder: Path, damage: bytes) -> None:
    """It is taken for what its name says, not for a list of paths."""
    data = Path("arts.qvt").read_bytes()
    Path("arts.qvt").write_bytes(damage + data[len(damage) :] if damage else b"")
    with pytest.raises(FormatError, match="no taxonomy of queryveil"):
        open_taxonomy("arts.qvt")


# --- own terms -----------------------------------------------------------------------------------

TREE = taxonomy_from_paths(["Top/Sports/Water_Sports", "Top/Sports/Tennis", "Top/Regional"])


def terms(tmp_path: Path, text: str | bytes) -> list[tuple[str, int]]:
    path = tmp_path / "terms.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_custom_terms(path, TREE)


def test_terms_name_concepts_by_path_or_label(tmp_path: Path) -> None:
    text = "\ufeffsurf board\tTop/Sports/Water_Sports\r\n\n  \nrafa \t tennis \nX\tSports/Tennis"
    water, tennis = TREE.find("Water Sports"), TREE.find("Tennis")
    assert terms(tmp_path, text) == [("surf board", water), ("rafa", tennis), ("X", tennis)]
    assert terms(tmp_path, "") == []


@pytest.mark.parametrize(
    "line", ["surf board", "\tTennis", "surf\t", "surf\t ", " \tTennis", "x,y"]
)
def test_a_line_that_is_no_term(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match="line 3: not a term, a tab and a concept") as caught:
        terms(tmp_path, f"rafa\tTennis\n\n{line}\nrafa\tNowhere\n")
    assert caught.value.where == str(tmp_path / "terms.tsv")


def test_a_term_of_an_unknown_concept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='line 2: "Tenis" is no concept of paths') as caught:
        terms(tmp_path, "rafa\tTennis\nfed\tTenis\n")
    assert "terms.tsv" in caught.value.where
    assert caught.value.hint


def test_terms_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text in UTF-8"):
        terms(tmp_path, b"caf\xe9\tTennis\n")
    with pytest.raises(InputError, match="No such file"):
        read_custom_terms(tmp_path / "nowhere", TREE)
