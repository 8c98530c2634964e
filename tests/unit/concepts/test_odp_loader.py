"""The Open Directory's dump: what is read, what is left out, and what is wrong with a file."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from pathlib import Path

import pytest
import zstandard

from queryveil.concepts.loaders import odp as dumps
from queryveil.concepts.loaders.odp import OdpImport, import_odp
from queryveil.concepts.taxonomy.builder import RepairLog
from queryveil.core.progress import NoProgress
from queryveil.errors import FormatError, InputError

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" \
xmlns="http://dmoz.org/rdf/">
<!-- Generated at 2006-03-01 -->
"""
END = "</RDF>\n"
TOPICS = """<Topic r:id="">
  <catid>1</catid>
</Topic>
<Topic r:id="Top/Arts">
  <catid>2</catid>
  <d:Title>Arts</d:Title>
  <lastUpdate>2006-01-01 00:00:00</lastUpdate>
  <d:Description>All about &lt;b&gt;art&lt;/b&gt;,
over two lines</d:Description>
  <narrow r:resource="Top/Arts/Animation"/>
  <narrow1 r:resource="Top/Arts/R&amp;B"/>
  <symbolic r:resource="Sailing_Films:Top/Sports/Water_Sports"/>
  <symbolic1 r:resource="Gone:Top/Nowhere"/>
  <related r:resource="Top/Sports"/>
  <altlang r:resource="French:Top/World/Français/Arts"/>
  <letterbar r:resource="Top/Arts/A"/>
  <newsgroup r:resource="news:rec.arts"/>
</Topic>
<Alias r:id="Sailing_Films:Top/Sports/Water_Sports">
  <d:Title>Sailing_Films</d:Title>
  <Target r:resource="Top/Sports/Water_Sports"/>
</Alias>
<Topic r:id="Top/Arts/Animation">
  <catid>3</catid>
</Topic>
<Topic r:id="Top/Arts/R&amp;B">
  <catid>4</catid>
</Topic>
<Topic r:id="Top/Sports/Water_Sports">
  <catid>5</catid>
</Topic>
<Topic r:id="Top/World/Français/Arts">
  <d:Title>Arts</d:Title>
</Topic>
<Topic r:id="Top/Kids_and_Teens/International/Dansk">
</Topic>
<Topic r:id="Top/Adult">
</Topic>
"""
SITES = """<Topic r:id="Top/Arts/Animation">
  <catid>3</catid>
  <link1 r:resource="http://one.example/"/>
  <link r:resource="http://two.example/"/>
</Topic>
<ExternalPage about="http://one.example/">
  <d:Title>Tom &amp; Kit</d:Title>
  <d:Description>The &quot;first&quot; cartoon&#39;s page</d:Description>
  <priority>1</priority>
  <topic>Top/Arts/Animation</topic>
</ExternalPage>
<ExternalPage about="http://two.example/">
  <d:Title>Rhythm</d:Title>
  <mediadate>2001-01-01</mediadate>
  <topic>Top/Arts/R&amp;B</topic>
</ExternalPage>
<ExternalPage about="http://three.example/">
  <d:Title>Implied</d:Title>
  <topic>Top/Sports</topic>
</ExternalPage>
<ExternalPage about="http://fr.example/">
  <d:Title>Le monde</d:Title>
  <topic>Top/World/Français/Arts</topic>
</ExternalPage>
<ExternalPage about="http://x.example/">
  <d:Title>X</d:Title>
  <topic>Top/Adult</topic>
</ExternalPage>
<ExternalPage about="http://lost.example/">
  <d:Title>Lost</d:Title>
</ExternalPage>
"""


def dump(body: str) -> bytes:
    return f"{HEAD}{body}{END}".encode()


def load(folder: Path, structure: bytes, content: bytes | None = None, **options) -> OdpImport:
    path = folder / "structure.rdf.u8"
    path.write_bytes(structure)
    other = folder / "content.rdf.u8" if content is not None else None
    if other:
        other.write_bytes(content)
    repairs = RepairLog(path, options.pop("repair", False))
    found = import_odp(path, other, repairs, **options)
    found.repairs = repairs
    return found


def names(found: OdpImport) -> list[str]:
    return [found.taxonomy.name(concept) for concept in range(len(found.taxonomy))]


def texts(found: OdpImport) -> list[tuple[str, str]]:
    pairs = ((c, t) for block in found.sites() for c, t in zip(*block, strict=True))
    return [(found.taxonomy.name(concept), text) for concept, text in pairs]


# --- what is read --------------------------------------------------------------------------------


def test_categories_become_concepts_below_an_artificial_root(tmp_path):
    found = load(tmp_path, dump(TOPICS))
    assert names(found) == [
        "Top", "Top/Arts", "Top/Sports",
        "Top/Arts/Animation", "Top/Arts/R&B", "Top/Sports/Water_Sports",
    ]  # fmt: skip
    assert not found.taxonomy.has_real_root
    assert found.taxonomy.is_tree
    assert found.taxonomy.label(5) == "Water Sports"


def test_all_is_counted(tmp_path):
    found = load(tmp_path, dump(TOPICS), dump(SITES))
    list(found.sites())
    assert found.counts == {
        "categories": 5,
        "categories left out (World)": 2,
        "categories left out (Adult)": 1,
        "narrow links": 2,
        "symbolic links": 2,
        "symbolic links to no category here": 1,
        "related links": 1,
        "links to other languages": 1,
        "aliases": 1,
        "sites": 3,
        "sites left out (World)": 1,
        "sites left out (Adult)": 1,
        "sites left out (no such category)": 1,
    }


def test_texts_are_plain_and_know_their_category(tmp_path):
    assert texts(load(tmp_path, dump(TOPICS), dump(SITES))) == [
        ("Top/Arts", "All about  art ,\nover two lines"),
        ("Top/Arts/Animation", 'Tom & Kit The "first" cartoon\'s page'),
        ("Top/Arts/R&B", "Rhythm "),
        ("Top/Sports", "Implied "),
    ]


def test_without_content_there_are_the_descriptions(tmp_path):
    assert [name for name, _ in texts(load(tmp_path, dump(TOPICS)))] == ["Top/Arts"]


@pytest.mark.parametrize(
    ("options", "more"),
    [
        (
            {"all_languages": True},
            {"Top/World/Français/Arts", "Top/Kids_and_Teens/International/Dansk"},
        ),
        ({"include_adult": True}, {"Top/Adult"}),
    ],
)
def test_branches_that_are_asked_for(tmp_path, options, more):
    found = load(tmp_path, dump(TOPICS), dump(SITES), **options)
    assert more <= set(names(found))
    assert len(texts(found)) == 5
    assert sum("categories left out" in reason for reason in found.counts) == 1


def test_a_symbolic_link_gives_a_label_after_the_own_ones(tmp_path):
    topics = (
        '<Topic r:id="Top/A/Old"><symbolic r:resource="Films: New:Top/B/Long_Name"/>\n'
        '<symbolic r:resource="Own:Top/B/Long_Name"/></Topic><Topic r:id="Top/B/Long_Name">'
        '</Topic><Topic r:id="Top/C/Own"></Topic>'
    )
    odp = load(tmp_path, dump(topics)).taxonomy
    target = odp.find("Top/B/Long_Name")
    assert odp.labels_of(target) == ["Long Name", "Films: New", "Own"]
    assert odp.lookup("own") == [odp.find("Top/C/Own"), target]


def test_the_first_meaning_is_the_first_in_the_file(tmp_path):
    topics = "".join(f'<Topic r:id="Top/{a}/Java"></Topic>\n' for a in ("Zoo", "Asia", "Computers"))
    odp = load(tmp_path, dump(topics)).taxonomy
    assert [odp.name(concept) for concept in odp.lookup("java")] == [
        "Top/Zoo/Java", "Top/Asia/Java", "Top/Computers/Java",
    ]  # fmt: skip


@pytest.mark.parametrize("block", [50, 1000, 4 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_packing_and_blocks_make_no_difference(tmp_path, monkeypatch, pack, block):
    plain = load(tmp_path, dump(TOPICS), dump(SITES))
    expected = names(plain), texts(plain), plain.counts
    monkeypatch.setattr(dumps, "_BLOCK", block)
    found = load(tmp_path, pack(dump(TOPICS)), pack(dump(SITES)))
    assert (names(found), texts(found), found.counts) == expected


def test_old_dumps_have_no_top(tmp_path):
    found = load(tmp_path, dump('<Topic r:id="Arts/Film"></Topic><Topic r:id="World/Dansk"></Topic>'
                                '<Topic r:id="News"></Topic>'))  # fmt: skip
    assert names(found)[1:] == ["Arts", "News", "Arts/Film"]


def test_broken_characters_are_replaced_and_counted(tmp_path):
    topics = dump(TOPICS).replace(b"over two lines", b"caf\xe9 \x00\x0b \x1flines")
    found = load(tmp_path, topics, dump(SITES).replace(b"Rhythm", b"Rh\xffthm\x01"))
    told = dict(texts(found))
    assert told["Top/Arts"] == "All about  art ,\ncaf\ufffd     lines"
    assert told["Top/Arts/R&B"] == "Rh\ufffdthm  "
    assert found.counts["broken characters replaced"] == 2
    assert found.counts["control characters replaced"] == 4


def test_a_path_holds_no_line_end(tmp_path):
    found = load(tmp_path, dump('<Topic r:id="Top/Two\nLines&#10;More&#xD800;"></Topic>'))
    assert names(found) == ["Top", "Top/Two Lines More\ufffd"]


def test_progress_is_told_in_bytes(tmp_path):
    told: dict[str, list[int]] = {}

    class Watched(NoProgress):
        def _shown(self, name, total):
            told[name] = [total or 0]
            return nullcontext(told[name].append)

    progress = Watched()
    found = load(tmp_path, gzip.compress(dump(TOPICS)), dump(SITES), progress=progress)
    list(found.sites())
    assert list(told) == ["read the structure", "read the sites"]
    assert all(total == sum(done) for total, *done in told.values())


# --- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"Top/Arts\n", b"<html>\n", b"\x1f\x8bno gzip at all"])
@pytest.mark.parametrize("repair", [False, True])
def test_a_file_that_is_no_dump(tmp_path, data, repair):
    with pytest.raises(FormatError, match="line 1: this is no dump") as raised:
        load(tmp_path, data, repair=repair)
    assert raised.value.where.endswith("structure.rdf.u8")
    assert raised.value.hint


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        import_odp(tmp_path / "none", None, RepairLog("none"))


def test_a_dump_without_categories(tmp_path):
    with pytest.raises(FormatError, match="no concept"):
        load(tmp_path, dump(""))


LAST = f"line {(HEAD + TOPICS).count(chr(10)) + 1}"
FAULTS = {
    "no root": (TOPICS + END, "line 1: a dump without its root"),
    "cut": (HEAD + TOPICS[:-30], "line 40: a dump that is cut off"),
    "cut between": (HEAD + TOPICS, f"{LAST}: a dump that is cut off"),
    "empty part": (
        f'{HEAD}{TOPICS}<Topic r:id="Top//Arts">\n</Topic>{END}',
        f"{LAST}: a path with an empty part",
    ),
    "unclosed": (
        f'{HEAD}{TOPICS}\n<Topic r:id="Top/Open">\n<catid>9</catid>\n<Topic r:id="Top/News">'
        f"</Topic>{END}",
        "line 43: an unclosed Topic",
    ),
    "no path": (f"{HEAD}{TOPICS}<Topic id='x'></Topic>{END}", f"{LAST}: a Topic without a path"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_their_line_and_can_be_mended(tmp_path, fault):
    data, message = FAULTS[fault]
    with pytest.raises(FormatError, match=message) as raised:
        load(tmp_path, data.encode())
    assert "`repair=True`" in raised.value.hint
    found = load(tmp_path, data.encode(), repair=True)
    assert list(found.repairs.counts.values()) == [1]
    assert set(names(load(tmp_path, dump(TOPICS)))) <= set(names(found))
    assert ("Top/Open" in names(found)) == (fault == "unclosed")


def test_a_packed_dump_that_is_cut_off(tmp_path):
    many = dump(TOPICS + "".join(f'<Topic r:id="Top/{n}">\n</Topic>' for n in range(9999)))
    data = gzip.compress(many)
    cut = data[: len(data) // 2]
    with pytest.raises(FormatError, match=r"line [\d,]+: a dump that is cut off"):
        load(tmp_path, cut)
    found = load(tmp_path, cut, repair=True)
    assert 100 < found.counts["categories"] < 9999
    assert found.repairs.counts == {"a dump that is cut off": 1}
    with pytest.raises(FormatError, match="Compressed file ended"):  # all text, but no end
        load(tmp_path, data[:-4])
    with pytest.raises(FormatError, match=r"line [\d,]+: "):
        load(tmp_path, zstandard.compress(many)[:-100])


def test_faults_of_the_content_name_its_file(tmp_path):
    open_page = SITES.replace("</ExternalPage>\n", "", 1)
    for content, message in (
        (HEAD + SITES, "line 35: a dump that is cut off"),
        (HEAD + open_page + END, "line 9: an unclosed ExternalPage"),
    ):
        with pytest.raises(FormatError, match=message) as raised:
            texts(load(tmp_path, dump(TOPICS), content.encode()))
        assert raised.value.where.endswith("content.rdf.u8")
        found = load(tmp_path, dump(TOPICS), content.encode(), repair=True)
        assert len(texts(found)) == 4
        assert list(found.repairs.counts.values()) == [1]


def test_an_element_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(dumps, "_BLOCK", 1000)
    monkeypatch.setattr(dumps, "_MOST_ELEMENT", 5000)
    data = dump(TOPICS + '<Topic r:id="Top/Long">\n' + "<x/>" * 10_000)
    with pytest.raises(FormatError, match=f"{LAST}: an unclosed Topic"):
        load(tmp_path, data)
    assert "Top/Long" in names(load(tmp_path, data, repair=True))
