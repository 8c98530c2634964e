"""`queryveil taxonomy ...` and the topics of a profile, as a person types them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

COMMANDS = ("import", "list", "show", "search", "check", "map")
PATHS = """Top/Sports/Water_Sports/Windsurfing\tboards and sails
Top/Sports/Water_Sports/Swimming_and_Diving
Top/Regional/Europe/Mediterranean
"""
LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
ann\tdiving in the mediterranean\t2006-03-01 10:00:00\t\t
ann\twindsurfing\t2006-03-01 11:00:00\t\t
bob\tzqx\t2006-03-02 10:00:00\t\t
cat\tmediterranean\t2006-03-02 10:00:00\t\t
"""
TTL = """@prefix s: <http://www.w3.org/2004/02/skos/core#> .
<http://example.org/home> s:prefLabel "home"@en, "Heim"@de .
"""
DIVING = "Top/Sports/Water_Sports/Swimming_and_Diving"


@pytest.fixture
def odp(cli, tmp_path: Path) -> str:
    (tmp_path / "odp.txt").write_text(PATHS)
    (tmp_path / "log.tsv").write_text(LOG)
    assert cli("taxonomy", "import", "paths", "odp.txt", "--out", "odp.qvt", "-q") == (0, "", "")
    return "odp.qvt"


def document(ran) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


CALLS = [
    ("import", "paths", "odp.txt", "--out", "new.qvt"),
    ("list",),
    ("show", "odp.qvt"),
    ("show", "odp.qvt", "Water Sports"),
    ("search", "diving", "--taxonomy", "odp.qvt"),
    ("check", "odp.qvt"),
    ("map", "diving", "--taxonomy", "odp.qvt", "--tagger", "none"),
    ("map", "--input", "odp.txt", "--out", "new.tsv", "--taxonomy", "odp.qvt", "--tagger", "none"),
]
KEYS = {
    "import": {"out", "kind", "bytes", "concepts", "labels", "branches", "counted", "repaired"},
    "list": {"taxonomies"},
    "show": {"taxonomy"},
    "search": {"matches"},
    "check": {"taxonomy", "holds", "findings"},
    "map": set(),
}


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_one_document_a_text_or_nothing(cli, odp: str, call: tuple[str, ...]) -> None:
    again = ("--overwrite",) if "--out" in call else ()
    assert document(cli("taxonomy", *call, "--json")).keys() >= KEYS[call[0]]
    assert cli("taxonomy", *call, *again, "--quiet") == (0, "", "")
    ran = cli("taxonomy", *call, *again)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out) > 20


@pytest.mark.parametrize("name", COMMANDS)
def test_help(cli, name: str) -> None:
    ran = cli("taxonomy", name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert "--json" in ran.out
    assert name in cli("taxonomy", "--help").out


def test_a_wrong_command(cli) -> None:
    ran = cli("taxonomy", "imprt")
    assert ran.code == 2
    assert "imprt" in ran.err


# --- import --------------------------------------------------------------------------------------


def test_import_force(cli, odp: str) -> None:
    ran = cli("taxonomy", "import", "paths", "odp.txt", "-o", odp)
    assert ran.code == 1
    assert "exists already" in ran.err
    assert "--overwrite" in ran.err
    assert cli("taxonomy", "import", "paths", "odp.txt", "-o", odp, "--overwrite").code == 0


def test_import_repair(cli, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("parent,child\na,b\nb,a\n")
    ran = cli("taxonomy", "import", "csv", "bad.csv", "-o", "bad.qvt")
    assert (ran.code, ran.out) == (1, "")
    assert "a cycle" in ran.err
    told = document(
        cli("taxonomy", "import", "csv", "bad.csv", "-o", "b.qvt", "--repair", "--json")
    )
    assert told["repaired"] == {"a cycle": 1}
    ran = cli("taxonomy", "import", "csv", "bad.csv", "-o", "c.qvt", "--repair")
    assert "a cycle" in ran.out


def test_import_columns(cli, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("von,nach\nhome,garden\n")
    call = ("taxonomy", "import", "csv", "odd.csv", "-o", "odd.qvt")
    assert document(cli(*call, "--columns", "parent=von,child=nach", "--json"))["concepts"] == 2
    ran = cli(*call, "--overwrite", "--columns", "parents=von,child=nach")
    assert ran.code == 2
    assert 'did you mean "parent"?' in ran.err


def test_import_skos_in_a_language(cli, tmp_path: Path) -> None:
    (tmp_path / "shop.ttl").write_text(TTL)
    call = ("taxonomy", "import", "skos", "shop.ttl", "-o", "shop.qvt", "--label-language", "de")
    assert cli(*call, "-q") == (0, "", "")
    assert document(cli("taxonomy", "show", "shop.qvt", "heim", "--json"))["label"] == "Heim"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("path", "odp.txt"), 'did you mean "paths"?'),
        (("paths", "odp.txt", "odp.txt"), "paths takes 1 file, got 2"),
        (("odp", "a", "b", "c"), "odp takes 1 or 2 files, got 3"),
    ],
)
def test_import_mistakes(cli, odp: str, words: tuple[str, ...], says: str) -> None:
    ran = cli("taxonomy", "import", *words, "-o", "new.qvt")
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_import_needs_a_place_to_write(cli, odp: str) -> None:
    assert cli("taxonomy", "import", "paths", "odp.txt").code == 2


# --- look at -------------------------------------------------------------------------------------


def test_list_shows_files(cli, odp: str, tmp_path: Path) -> None:
    found = document(cli("taxonomy", "list", "--json"))["taxonomies"]
    listed = [(one["name"], one["concepts"]) for one in found]
    assert listed[1] == ("wordnet-nouns", 82_115)
    assert listed[-1] == (odp, 8)
    (tmp_path / "more").mkdir()
    (tmp_path / odp).rename(tmp_path / "more" / "own.qvt")
    assert "more/own.qvt" in cli("taxonomy", "list", "more").out
    assert "own.qvt" not in cli("taxonomy", "list").out


def test_show_and_search(cli, odp: str) -> None:
    ran = cli("taxonomy", "show", odp, "Windsurfing")
    assert "Sports > Water Sports > Windsurfing" in ran.out
    assert document(cli("taxonomy", "show", odp, DIVING, "--json"))["concept"] == DIVING
    found = document(cli("taxonomy", "search", "water", "sports", "--taxonomy", odp, "--json"))
    assert found["matches"][0]["concept"] == "Top/Sports/Water_Sports"
    assert "Windsurfing" in cli("taxonomy", "search", "sails", "--taxonomy", odp).out
    assert "No concept matches." in cli("taxonomy", "search", "zqx", "--taxonomy", odp).out
    assert len(document(cli("taxonomy", "search", "sports", "--taxonomy", odp, "-n", "1", "--json"))
               ["matches"]) == 1  # fmt: skip
    ran = cli("taxonomy", "show", odp, "windsurf")
    assert ran.code == 2
    assert "is no concept of odp" in ran.err


def test_check_a_damaged_file(cli, odp: str, tmp_path: Path) -> None:
    whole = (tmp_path / odp).read_bytes()
    begin = 8 + int.from_bytes(whole[4:8], "little")
    arrays = json.loads(whole[8:begin])["arrays"]
    for place in (0, 4, 20, *(begin + one["at"] for one in arrays.values())):
        data = bytearray(whole)
        data[place] ^= 1
        (tmp_path / "bad.qvt").write_bytes(data)
        ran = cli("taxonomy", "check", "bad.qvt")
        assert ran.code == 1, place
        assert "bad.qvt" in ran.err
        assert "Traceback" not in ran.err


def test_check_a_file_that_is_whole_but_not_sound(cli, odp: str, tmp_path: Path) -> None:
    from dataclasses import replace

    from queryveil.concepts.taxonomy.arrays import RaggedArray
    from queryveil.concepts.taxonomy.graph import Taxonomy

    good = Taxonomy.open(tmp_path / odp)
    items = good.all_ancestors.items.copy()
    # Another ancestor where lists still rise: of the right form, and not what the parents say.
    middle = range(1, len(items) - 1)
    place = next(i for i in middle if items[i - 1] + 1 < items[i] < items[i + 1])
    items[place] -= 1
    wrong = RaggedArray(good.all_ancestors.start, items)
    replace(good, stored_ancestors=wrong).write(tmp_path / "bad.qvt")
    ran = cli("taxonomy", "check", "bad.qvt", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["holds"] is False
    assert "this taxonomy is not sound" in ran.err
    assert "\u2717" in cli("taxonomy", "check", "bad.qvt").out


# --- map -----------------------------------------------------------------------------------------


def test_map_json(cli, odp: str) -> None:
    query = "diving in the Mediterranean"
    told = document(cli("taxonomy", "map", query, "--taxonomy", odp, "--json"))
    assert told["query"] == query
    assert [(one["text"], one["concept"], one["label"]) for one in told["phrases"]] == [
        ("diving", DIVING, "Swimming and Diving"),
        ("mediterranean", "Top/Regional/Europe/Mediterranean", "Mediterranean"),
    ]
    # Without quotation marks the words are one query, too.
    assert document(cli("taxonomy", "map", *query.split(), "--taxonomy", odp, "--json")) == told


def test_map_for_people(cli, odp: str) -> None:
    ran = cli("taxonomy", "map", "cheap diving zqx", "--taxonomy", odp)
    assert (ran.code, ran.err) == (0, "")
    for text in ("cheap", "modifier", "stop word", "no concept"):
        assert (text in ran.out) == (text != "stop word")
    assert "no phrase" in cli("taxonomy", "map", "the", "--taxonomy", odp).out
    ran = cli("taxonomy", "map", "[bold]x\x1b[31m", "--taxonomy", odp)
    assert ran.code == 0
    assert "\x1b[31m" not in ran.out
    assert "[bold]x" in ran.out


def test_map_to_wordnet_if_nothing_is_said(cli) -> None:
    told = document(cli("taxonomy", "map", "dogs", "--json"))
    assert [(one["concept"], one["label"]) for one in told["phrases"]] == [("n#02084071", "dog")]


def test_map_to_several_taxonomies(cli, odp: str, tmp_path: Path) -> None:
    (tmp_path / "shop.txt").write_text("Shop/Windsurfing\nShop/Zqx\n")
    for names, concept in (
        ("odp.qvt,shop.txt", "Sports/Water_Sports/Windsurfing"),
        ("shop.txt,odp.qvt", "Shop/Windsurfing"),
    ):
        options = ("--taxonomy", names, "--tagger", "none", "--json")
        told = document(cli("taxonomy", "map", "windsurfing", *options))
        assert [one["concept"] for one in told["phrases"]] == [concept]
        told = document(cli("taxonomy", "map", "zqx", *options))
        assert [one["concept"] for one in told["phrases"]] == ["Shop/Zqx"]


def test_map_with_own_terms(cli, odp: str, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text(f"scuba\t{DIVING}\n")
    call = ("taxonomy", "map", "scuba", "--taxonomy", odp, "--terms", "terms.tsv")
    told = document(cli(*call, "--json"))
    assert [one["concept"] for one in told["phrases"]] == [DIVING]
    (tmp_path / "terms.tsv").write_text("scuba\tNowhere\n")
    ran = cli(*call)
    assert ran.code == 1
    assert "terms.tsv: line 1: " in ran.err


def test_map_in_german(cli, tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("Tiere/Katze\n", "utf-8")
    call = ("taxonomy", "map", "die katzen", "--taxonomy", "de.txt", "--language")
    told = document(cli(*call, "german", "--json"))
    assert [(one["text"], one["concept"]) for one in told["phrases"]] == [("katzen", "Tiere/Katze")]
    ran = cli(*call, "german", "--tagger", "brill")
    assert ran.code == 2
    assert "knows English" in ran.err
    ran = cli(*call, "germn")
    assert ran.code == 2
    assert 'did you mean "german"?' in ran.err


def test_map_a_file(cli, odp: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\ufeffdiving\r\n\n  zqx \ndiving\nwindsurfing\n"
    (tmp_path / "queries.txt").write_text(text, "utf-8")
    call = ("taxonomy", "map", "--taxonomy", odp, "--tagger", "none", "--input")
    told = document(cli(*call, "queries.txt", "--out", "out.tsv", "--json"))
    figures = {"out": "out.tsv", "queries": 3, "phrases": 3, "coverage": 0.6667}
    assert told == {"schema": 1, **figures}
    table = pl.read_csv(tmp_path / "out.tsv", separator="\t")
    assert table.select("query", "name").rows() == [
        ("diving", DIVING), ("zqx", None), ("windsurfing", "Top/Sports/Water_Sports/Windsurfing"),
    ]  # fmt: skip
    ran = cli(*call, "queries.txt", "--out", "out.tsv")
    assert ran.code == 1
    assert (
        "66.7% with a concept" in cli(*call, "queries.txt", "--out", "out.tsv", "--overwrite").out
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO("diving\nzqx\n"))
    assert document(cli(*call, "-", "--out", "in.parquet", "--json"))["queries"] == 2


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 2, "give a query"),
        (("diving", "--input", "odp.txt"), 2, "give a query"),
        (("--input", "odp.txt"), 2, "--input needs --out"),
        (("--input", "nowhere", "--out", "x.tsv"), 1, "nowhere: cannot be read"),
        (("--input", "odp.txt", "--out", "x.doc"), 2, "no known file extension"),
        (("--input", "odp.qvt", "--out", "x.tsv"), 1, "no text in UTF-8"),
        (("diving", "--tagger", "bril"), 2, 'did you mean "brill"?'),
    ],
)
def test_map_mistakes(cli, odp: str, tmp_path: Path, words: tuple[str, ...], code: int,
                      says: str) -> None:  # fmt: skip
    if "odp.qvt" in words:
        (tmp_path / "odp.qvt").write_bytes(b"caf\xe9\n")
        odp = "odp.txt"
    ran = cli("taxonomy", "map", *words, "--taxonomy", odp)
    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err


# --- profile -------------------------------------------------------------------------------------


def test_a_profile_tells_what_a_log_is_about(cli, odp: str) -> None:
    topics = document(cli("profile", "log.tsv", "--taxonomy", odp, "--json"))["topics"]
    assert topics["taxonomy"] == "odp"
    assert topics["rows_with_concept_fraction"] == 0.75
    assert topics["fractions"] == {"Sports": 0.5, "Regional": 0.5}
    ran = cli("profile", "log.tsv", "--taxonomy", odp)
    assert "What it is about (by odp)" in ran.out
    assert "Sports" in ran.out


def test_a_profile_without_topics(cli, odp: str) -> None:
    told = document(cli("profile", "log.tsv", "--taxonomy", "none", "--json"))
    assert told["topics"] is None
    assert told["users"] == 3
    ran = cli("profile", "log.tsv", "--taxonomy", "none")
    assert ran.code == 0
    assert "What it is about" not in ran.out


def test_a_profile_by_wordnet_if_nothing_is_said(cli, odp: str) -> None:
    topics = document(cli("profile", "log.tsv", "--json"))["topics"]
    assert topics["taxonomy"] == "wordnet"
    assert topics["queries_with_concept_fraction"] == 0.75


# --- the config file -----------------------------------------------------------------------------


def test_a_section_for_a_command_within_another(cli, odp: str, tmp_path: Path) -> None:
    config = tmp_path / "queryveil.toml"
    config.write_text('["taxonomy map"]\ntaxonomy = "odp.qvt"\njson = true\n')
    assert document(cli("taxonomy", "map", "diving"))["phrases"][0]["concept"] == DIVING
    # What is typed beats the file, and other commands do not have it.
    (tmp_path / "shop.txt").write_text("Shop/Diving\n")
    typed = document(cli("taxonomy", "map", "diving", "--taxonomy", "shop.txt"))
    assert typed["phrases"][0]["concept"] == "Shop/Diving"
    assert "Traceback" not in cli("taxonomy", "check", "odp.qvt").err
    with pytest.raises(json.JSONDecodeError):
        json.loads(cli("taxonomy", "check", "odp.qvt").out)


def test_a_taxonomy_for_all_commands(cli, odp: str, tmp_path: Path) -> None:
    (tmp_path / "queryveil.toml").write_text('[all]\ntaxonomy = "odp.qvt"\njson = true\n')
    assert document(cli("taxonomy", "map", "diving"))["phrases"][0]["concept"] == DIVING
    assert document(cli("taxonomy", "search", "diving"))["matches"][0]["concept"] == DIVING
    assert document(cli("taxonomy", "show"))["taxonomy"] == "odp"
    assert document(cli("profile", "log.tsv"))["topics"]["taxonomy"] == "odp"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('["taxonomy mpa"]\njson = true\n', 'did you mean "taxonomy map"?'),
        ('["taxonomy map"]\ntaxnomy = "x"\n', 'did you mean "taxonomy"?'),
        ("[map]\njson = true\n", "there is no command [map]"),
    ],
)
def test_mistakes_in_sections(cli, odp: str, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "queryveil.toml").write_text(text)
    ran = cli("taxonomy", "map", "diving", "--taxonomy", odp)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_columns_of_logs_are_not_columns_of_tables(cli, tmp_path: Path) -> None:
    """[all] is for every command that has the option; here the same name is another thing."""
    (tmp_path / "queryveil.toml").write_text('[all]\ncolumns = "user=uid,query=q"\n')
    (tmp_path / "shop.csv").write_text("parent,child\nhome,garden\n")
    ran = cli("taxonomy", "import", "csv", "shop.csv", "-o", "shop.qvt")
    assert ran.code == 0, ran.err
