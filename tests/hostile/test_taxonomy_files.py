"""Taxonomies that somebody else made: damaged, lying, or made to fill the memory.

Each is an error within a moment, and with the memory that its size asks for.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from queryveil.concepts.loaders.odp import import_odp
from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.loaders.skos import import_skos
from queryveil.concepts.loaders.table import import_table
from queryveil.concepts.taxonomy import depths as levels_module
from queryveil.concepts.taxonomy.arrays import RaggedArray
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.search_index import SearchIndex, index_path, write_index
from queryveil.concepts.taxonomy.validation import describe_taxonomy
from queryveil.core.randomness import RandomSource
from queryveil.errors import FormatError, InputError, QueryveilError

SMALL = 300 << 20  # of memory that a run of its own may take beyond what it has when it begins


def within(code: str, *args: str, most: int = SMALL) -> str:
    """Run code in a process with little memory; return the error that it tells."""
    guarded = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from queryveil.concepts import RepairLog, Taxonomy\n"
        "from queryveil.concepts import import_odp, import_skos\n"
        "from queryveil.errors import QueryveilError\n"
        "import pyoxigraph\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        f"resource.setrlimit(resource.RLIMIT_AS, (used + {most},) * 2)\n"
        "path = Path(sys.argv[1])\n"
        "try:\n"
        f"    {code}\n"
        "except QueryveilError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", guarded, *args],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# --- .qvt ----------------------------------------------------------------------------------------


def small(path: Path, packed: bool) -> bytes:
    paths = ["Top/Sports/Tennis", "Top/Sports/Sailing", "Top/Home/Garden/Hoses", "Top/Home/Beds"]
    taxonomy_from_paths(paths, "small").write(path, packed=packed)
    return path.read_bytes()


def parts_of(whole: bytes) -> tuple[dict[str, Any], bytes]:
    start = 8 + int.from_bytes(whole[4:8], "little")
    return json.loads(whole[8:start]), whole[start:]


def put_together(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    return b"QVT1" + len(text).to_bytes(4, "little") + text + body


def with_sums(header: dict[str, Any], body: bytes) -> bytes:
    """Put check sums right, as somebody who means harm would."""
    for one in header["arrays"].values():
        one["crc32"] = zlib.crc32(body[one["at"] : one["at"] + one["bytes"]])
    return put_together(header, body)


def used(path: Path) -> None:
    """Open a file and do with it what the program does."""
    taxonomy = Taxonomy.open(path)
    describe_taxonomy(taxonomy)
    for concept in range(len(taxonomy)):
        taxonomy.name(concept)
        taxonomy.labels_of(concept)
        taxonomy.common_ancestors(concept, 0)
        taxonomy.descendants(concept)
    taxonomy.lookup("tennis")
    SearchIndex.open(taxonomy).find("tennis", 3)


def flips(whole: bytes, count: int, seed: int) -> Iterator[bytes]:
    chance = RandomSource(seed)
    for number in chance.uint64s(count).tolist():
        at = number % (8 * len(whole))
        yield whole[: at // 8] + bytes([whole[at // 8] ^ (1 << at % 8)]) + whole[at // 8 + 1 :]


@pytest.mark.parametrize("packed", [False, True])
def test_bits_that_flip(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "a.qvt"
    whole = small(path, packed)
    for changed in flips(whole, 60, 7):
        path.write_bytes(changed)
        try:
            used(path)
        except QueryveilError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize("packed", [False, True])
def test_bits_that_flip_under_right_sums(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "a.qvt"
    header, body = parts_of(small(path, packed))
    for changed in flips(body, 150, 11):
        path.write_bytes(with_sums(header, changed))
        try:
            used(path)
        except QueryveilError as error:
            assert str(error)


def test_a_header_that_lies_about_a_size(tmp_path: Path) -> None:
    path = tmp_path / "a.qvt"
    header, body = parts_of(small(path, True))
    huge = 1 << 34
    # A frame of no content that says it will be 16 GiB, as the header does.
    frame = b"\x28\xb5\x2f\xfd\xe0" + huge.to_bytes(8, "little") + b"\x01\x00\x00"
    body += b"\0" * (-len(body) % 64)
    header["arrays"]["names"] |= {"at": len(body), "bytes": len(frame), "length": huge}
    path.write_bytes(with_sums(header, body + frame))
    assert "damaged (it would unpack to 17," in within("Taxonomy.open(path)", str(path))
    frame = zstandard.compress(b"x" * 100)[:-3]
    header["arrays"]["names"] |= {"bytes": len(frame), "length": 100}
    path.write_bytes(with_sums(header, body + frame))
    with pytest.raises(FormatError, match=r"damaged \(names\)"):
        Taxonomy.open(path)


def test_a_header_that_names_one_piece_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "a.qvt"
    header, body = parts_of(small(path, False))
    one = header["arrays"]["names"]
    header["arrays"] |= {f"mark {n}": dict(one) for n in range(200)}
    path.write_bytes(with_sums(header, body))
    with pytest.raises(FormatError, match=r"damaged \(header\)"):
        Taxonomy.open(path)


@pytest.mark.parametrize(
    ("name", "at", "value", "says"),
    [
        ("parents sizes", 1, 1 << 30, "parents"),
        ("parents sizes", 1, -5, "parents"),
        ("parents items", 0, 999, "parents items"),
        ("parents items", 0, 7, "a parent after its child"),
        ("meanings items", 0, -1, "meanings items"),
        ("titles", 2, 1 << 20, "titles"),
        ("ancestors items", 3, 5, "ancestors"),
        ("names", -1, 65, "names"),
        ("names", 0, 0xFF, "names are no text"),
    ],
)
def test_numbers_that_lead_nowhere(
    tmp_path: Path, name: str, at: int, value: int, says: str
) -> None:
    path = tmp_path / "a.qvt"
    header, body = parts_of(small(path, False))
    listed = header["arrays"][name]
    array = np.frombuffer(body, listed["kind"], listed["length"], listed["at"]).copy()
    array[at] = value
    changed = body[: listed["at"]] + array.tobytes() + body[listed["at"] + listed["bytes"] :]
    path.write_bytes(with_sums(header, changed))
    with pytest.raises(FormatError, match="damaged") as caught:
        Taxonomy.open(path)
    assert says in str(caught.value)


@pytest.mark.parametrize("about", [{"title": 7}, {"paths": "no"}, {"mark_names": []},
                                   {"mark_names": {"x": 3}}, {"language": None}])  # fmt: skip
def test_what_a_file_says_of_itself(tmp_path: Path, about: dict[str, Any]) -> None:
    path = tmp_path / "a.qvt"
    header, body = parts_of(small(path, False))
    header["about"] |= about
    path.write_bytes(put_together(header, body))
    with pytest.raises(FormatError, match="damaged"):
        Taxonomy.open(path)


# --- the index beside it -------------------------------------------------------------------------


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    path = tmp_path / "a.qvt"
    small(path, False)
    write_index(index_path(path), Taxonomy.open(path))
    return path


def test_an_index_whose_tables_are_queries_without_end(indexed: Path) -> None:
    base = sqlite3.connect(index_path(indexed))
    base.execute("DROP TABLE about")
    base.execute(
        "CREATE VIEW about AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT x AS name, x AS value FROM c"
    )
    base.commit()
    base.close()
    with pytest.raises(InputError, match="its tables are not those"):
        SearchIndex.open(Taxonomy.open(indexed))


def test_an_index_that_names_concepts_there_are_not(indexed: Path) -> None:
    base = sqlite3.connect(index_path(indexed))
    for table, columns in (("names", "name"), ("whole", "name")):
        base.execute(f"INSERT INTO {table} (rowid, {columns}) VALUES (99999, 'tennis')")
    base.commit()
    base.close()
    with pytest.raises(InputError, match="names concepts that there are not"):
        SearchIndex.open(Taxonomy.open(indexed)).find("tennis", 5)


def test_an_index_with_flipped_bits(indexed: Path) -> None:
    beside = index_path(indexed)
    taxonomy = Taxonomy.open(indexed)
    for changed in flips(beside.read_bytes(), 40, 3):
        beside.write_bytes(changed)
        try:
            SearchIndex.open(taxonomy).find("tennis sailing", 5)
        except InputError as error:
            assert "import the taxonomy again" in str(error)


# --- chains and cycles ---------------------------------------------------------------------------


def chain(length: int) -> Iterator[tuple[str, str]]:
    return itertools.pairwise(f"concept {n}" for n in range(length))


def table_of(path: Path, length: int) -> Path:
    path.write_text("parent,child\n" + "".join(f"{a},{b}\n" for a, b in chain(length)))
    return path


def turtle_of(path: Path, length: int) -> Path:
    lines = [
        f'<x:{b.replace(" ", "")}> skos:broader <x:{a.replace(" ", "")}>; skos:prefLabel "{b}".'
        for a, b in chain(length)
    ]
    first = '<x:concept0> skos:prefLabel "concept 0".'
    prefix = "@prefix skos: <http://www.w3.org/2004/02/skos/core#>."
    path.write_text("\n".join([prefix, first, *lines]))
    return path


def test_a_deep_table(tmp_path: Path) -> None:
    assert len(import_table(table_of(tmp_path / "a.csv", 101), RepairLog("a"))) == 101
    for repair in (False, True):
        with pytest.raises(FormatError, match=r"line 102: concepts lie more than 100 levels deep"):
            import_table(table_of(tmp_path / "a.csv", 20_000), RepairLog("a", repair))


def test_a_deep_thesaurus(tmp_path: Path) -> None:
    assert len(import_skos(turtle_of(tmp_path / "a.ttl", 100), RepairLog("a"))) == 100
    with pytest.raises(FormatError, match="more than 100 levels deep"):
        import_skos(turtle_of(tmp_path / "a.ttl", 5000), RepairLog("a"))


def test_deep_ones_put_together(tmp_path: Path) -> None:
    one, two = table_of(tmp_path / "a.csv", 101), table_of(tmp_path / "b.csv", 101)
    both = open_taxonomy(f"{one},{two}")
    assert int(both.depths.max()) == 101
    both.write(tmp_path / "both.qvt")
    with pytest.raises(FormatError, match="levels deep"):
        Taxonomy.open(tmp_path / "both.qvt")


def test_ancestors_without_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some layers, each of which is wholly above the next: few edges, and ancestors squared."""
    monkeypatch.setattr(levels_module, "_FREE_ANCESTORS", 10_000)
    draft, width = TaxonomyBuilder("layers"), 60
    above = [draft.add("root", 1, "root")]
    for layer in range(10):
        new = [draft.add(f"{layer}-{n}", 1, f"{layer} {n}") for n in range(width)]
        for n, place in enumerate(new):
            for step in (0, 1, 7):
                draft.edge(place, above[(n + step) % len(above)])
        above = new
    monkeypatch.setattr(levels_module, "_MOST_EACH", 20)
    taxonomy = draft.build(RepairLog("layers"))
    with pytest.raises(FormatError, match="ancestors in all"):
        taxonomy.write("never.qvt")


def test_many_cycles_are_cut_in_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    real = levels_module.compute_depths
    monkeypatch.setattr(
        "queryveil.concepts.taxonomy.builder.compute_depths",
        lambda parents, most: passes.append(1) or real(parents, most),
    )
    draft = TaxonomyBuilder("rings")
    for number in range(500):
        one, two = (draft.add(f"{number} {n}", 1, f"{number} {n}") for n in range(2))
        draft.edge(one, two)
        draft.edge(two, one)
    repairs = RepairLog("rings", enabled=True)
    assert len(draft.build(repairs)) == 1001
    assert repairs.counts["a cycle"] == 500
    assert len(passes) == 3
    lists = RaggedArray.from_lists([[]])
    assert real(lists).tolist() == [0]


# --- RDF -----------------------------------------------------------------------------------------

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
SKOS = 'xmlns:skos="http://www.w3.org/2004/02/skos/core#"'


def xml(declared: str, label: str = "tennis", within: str = "") -> str:
    return (
        f'<?xml version="1.0"?>\n{declared}<rdf:RDF {RDF} {SKOS}>{within}'
        f'<skos:Concept rdf:about="x:tennis"><skos:prefLabel>{label}</skos:prefLabel>'
        "</skos:Concept></rdf:RDF>"
    )


def bomb(levels: int = 9) -> str:
    lines = ['<!ENTITY a0 "tennis tennis ">']
    for n in range(1, levels):
        inner = f"&a{n - 1};" * 10
        lines.append(f'<!ENTITY a{n} "{inner}">')
    return "<!DOCTYPE r [\n" + "\n".join(lines) + "\n]>\n"


def test_entities_that_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.rdf"
    path.write_text(xml(bomb(), "&a8;"))
    assert path.stat().st_size < 1000
    told = within("import_skos(path, RepairLog(path))", str(path))
    assert 'line 4: the entity "a1" is made of others' in told


@pytest.mark.parametrize(
    ("declared", "inner", "says"),
    [
        ('<!DOCTYPE r [<!ENTITY % p "x">]>', "", "no plain text"),
        ('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "", "no plain text"),
        ('<!DOCTYPE r [<!ENTITY e "&#38;f;"><!ENTITY f "x">]>', "", "made of others"),
        ('<!doctype r [<!ENTITY e "x"><!ENTITY f "&e;&e;">]>', "", "line 2"),
        ('<!DOCTYPE r []><!DOCTYPE r [<!ENTITY e "x">]>', "", "line 2"),
        ("", '<!DOCTYPE r [<!ENTITY e "x"><!ENTITY f "&e;&e;">]>', "line 2"),
        (f'<!DOCTYPE r [<!ENTITY e "{"x" * 2001}">]>', "", "over 2,000 characters"),
        ("", "<skos:a>" * 101, "more than 100 deep"),
    ],
)  # fmt: skip
def test_declarations_that_are_refused(
    tmp_path: Path, declared: str, inner: str, says: str
) -> None:
    path = tmp_path / "a.owl"
    path.write_text(xml(declared, "&e;" if "ENTITY e" in declared else "x", inner))
    with pytest.raises(FormatError, match="line") as caught:
        import_skos(path, RepairLog(path))
    assert says in str(caught.value)


def test_one_entity_named_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.rdf"
    declared = f'<!DOCTYPE r [<!ENTITY e "{"x" * 2000}">]>'
    path.write_text(xml(declared, "&e;" * 150_000))
    told = within("import_skos(path, RepairLog(path))", str(path))
    assert "it grows to more than" in told


def test_namespaces_as_entities_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.owl"
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n'
        '  <!ENTITY skos "http://www.w3.org/2004/02/skos/core#" >\n'
        '  <!ENTITY x "http://x.example/">\n]>\n'
        f'<rdf:RDF {RDF} xmlns:skos="&skos;" xml:base="&x;">'
        + "".join(
            f'<skos:Concept rdf:about="&x;{n}"><skos:prefLabel>sport &amp; {n}</skos:prefLabel>'
            f"{'<skos:broader rdf:resource=' + chr(34) + '&x;0' + chr(34) + '/>' if n else ''}"
            "</skos:Concept>"
            for n in range(50)
        )
        + "</rdf:RDF>"
    )
    taxonomy = import_skos(path, RepairLog(path))
    assert len(taxonomy) == 50
    assert taxonomy.label(taxonomy.find("http://x.example/7")) == "sport & 7"


def test_a_prefix_that_makes_every_name_long(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    names = "".join(f"p:{n} a skos:Concept.\n" for n in range(3000))
    path.write_text(
        f"@prefix skos: <http://www.w3.org/2004/02/skos/core#>.\n@prefix p: <x:{'y' * 200_000}>.\n"
        + names
    )
    told = within("import_skos(path, RepairLog(path))", str(path))
    assert "it grows to more than" in told


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"http://x/a":' * 5000 + "1" + "}" * 5000, "nested more than 100 deep"),
        ("[" * 100_000, "nested more than 100 deep"),
        ('{"@context": 1', "line 1"),
        ("7" * 5000, "no JSON"),
    ],
)
def test_json_that_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "a.jsonld"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        import_skos(path, RepairLog(path))
    assert says in str(caught.value)


@pytest.mark.parametrize("scoped", [False, True])
def test_a_context_that_is_taken_up_again_and_again(tmp_path: Path, scoped: bool) -> None:
    path = tmp_path / "a.jsonld"
    names = {f"t{n}": f"http://x/{n}" for n in range(5000)}
    own = {"T": {"@id": "http://x/T", "@context": {"z": "http://z/"}}} if scoped else {}
    node = {"@type": "T"} if scoped else {"@context": {"q": "http://y/"}}
    path.write_text(json.dumps({"@context": names | own, "@graph": [node] * 3000}))
    with pytest.raises(FormatError, match="applied too often"):
        import_skos(path, RepairLog(path))


def test_records_with_contexts_of_their_own_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonld"
    context = {"skos": "http://www.w3.org/2004/02/skos/core#"}
    records = [
        {"@context": context, "@id": f"x:{n}", "@type": "skos:Concept", "skos:prefLabel": f"c {n}"}
        for n in range(200)
    ]
    path.write_text(json.dumps(records))
    assert len(import_skos(path, RepairLog(path, True))) == 201


# --- dumps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_dump_that_is_packed_too_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    monkeypatch.setattr("queryveil.concepts.loaders.odp._FREE_EXPANSION", 8 << 20)
    path = tmp_path / "structure.rdf.u8"
    path.write_bytes(pack(b"<RDF>" + b" " * (30 << 20)))
    with pytest.raises(InputError, match="expands to more than 8,388,608 bytes"):
        import_odp(path, None, RepairLog(path))


def test_a_link_of_a_million_colons(tmp_path: Path) -> None:
    path = tmp_path / "structure.rdf.u8"
    colons = ":Top/" * 400_000  # of a square of that the test would not end
    path.write_text(
        f'<RDF><Topic r:id="Top/A"><symbolic r:resource="{colons}</Topic>'
        '<Topic r:id="Top/B"></Topic></RDF>'
    )
    assert len(import_odp(path, None, RepairLog(path)).taxonomy) == 3
