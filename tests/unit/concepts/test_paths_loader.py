"""Lists of category paths: headers, texts, odd lines, and every fault with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from queryveil.concepts.loaders.paths import PathsImport, import_paths, title_from_path
from queryveil.concepts.taxonomy.builder import RepairLog
from queryveil.core.progress import NoProgress
from queryveil.errors import FormatError, InputError


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load(tmp_path: Path, text: str | bytes, name: str = "shop.txt", **more: bool) -> PathsImport:
    return import_paths(write(tmp_path / name, text), RepairLog(name, **more))


def names(found: PathsImport) -> list[str]:
    return [found.taxonomy.name(concept) for concept in range(len(found.taxonomy))]


def texts(found: PathsImport) -> list[tuple[str, str]]:
    return [(found.taxonomy.name(concept), text) for concept, text in found.texts]


def test_paths_and_what_is_above_them(tmp_path):
    found = load(tmp_path, "Top/Sports/Water_Sports/Windsurfing\nTop/Arts\nTop/Sports\n")
    assert names(found) == [
        "Top",
        "Top/Sports",
        "Top/Arts",
        "Top/Sports/Water_Sports",
        "Top/Sports/Water_Sports/Windsurfing",
    ]
    assert not found.taxonomy.has_real_root
    assert found.taxonomy.label(3) == "Water Sports"
    assert found.taxonomy.title == "shop"
    assert found.counts["lines"] == 3


def test_several_first_parts_get_a_root_that_does_not_count(tmp_path):
    found = load(tmp_path, "Garden/Hoses\nKitchen\n")
    assert names(found) == ["", "Garden", "Kitchen", "Garden/Hoses"]
    assert found.taxonomy.ancestors(3).tolist() == [1, 3]


def test_texts_have_the_final_numbers_of_their_concepts(tmp_path):
    lines = "Top/A/B/C\tdeep\nTop/Z\tshallow\nTop/A/B/C\tdeep again\nTop/A\nTop/Y\t\n"
    found = load(tmp_path, lines)
    assert texts(found) == [
        ("Top/A/B/C", "deep"),
        ("Top/Z", "shallow"),
        ("Top/A/B/C", "deep again"),
    ]
    assert found.counts["texts"] == 3


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("path\tn_sites\tsources", "Top/A\t48\tsome source", []),
        ("category\tdoc_id\ttext", "Top/A\tx_1.txt\tabout a", [("Top/A", "about a")]),
        ("Description\tCategory", "about a\tTop/A", [("Top/A", "about a")]),
        ("PATH\tTitle", "Top/A\t2001", [("Top/A", "2001")]),
        ("path", "Top/A\tno column of this name", []),
    ],
)
def test_a_header_says_which_column_is_which(tmp_path, header, row, expected):
    found = load(tmp_path, f"{header}\n{row}\n")
    assert names(found) == ["Top", "Top/A"]
    assert texts(found) == expected
    assert found.counts["header lines"] == 1


@pytest.mark.parametrize("number", ["48", "1,024", "3.5", " 7 "])
def test_without_a_header_a_number_is_no_text(tmp_path, number):
    assert texts(load(tmp_path, f"Top/A\t{number}\nTop/B\tof 48\n")) == [("Top/B", "of 48")]


def test_a_header_is_only_looked_for_in_the_first_line(tmp_path):
    assert names(load(tmp_path, "Top/A\npath\n")) == ["", "Top", "path", "Top/A"]


def test_a_path_of_one_word_is_no_header(tmp_path):
    assert names(load(tmp_path, "Garden\nGarden/Hoses\n")) == ["Garden", "Garden/Hoses"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfTop/A\r\n\r\nTop/B\r\n",
        b"Top/A\rTop/B\r",
        b"\n  \nTop/A\n\nTop/B",
        "Top/A\nTop/B\n".encode("utf-16"),
    ],
)
def test_line_ends_blank_lines_and_marks(tmp_path, data):
    assert names(load(tmp_path, data)) == ["Top", "Top/A", "Top/B"]


def test_blank_lines_are_counted(tmp_path):
    assert load(tmp_path, "\nTop/A\n \t \n\n").counts["blank lines"] == 3


@pytest.mark.parametrize(
    ("name", "pack"), [("a.tsv.gz", gzip.compress), ("a.tsv.zst", zstandard.compress)]
)
def test_packed(tmp_path, name, pack):
    found = load(tmp_path, pack(b"Top/A\n"), name)
    assert names(found) == ["Top", "Top/A"]
    assert found.taxonomy.title == "a"


def test_blanks_around_separators_are_tidied(tmp_path):
    found = load(tmp_path, " Home / Garden  Tools /Hoses\nHome/Garden Tools\n")
    assert names(found) == ["Home", "Home/Garden Tools", "Home/Garden Tools/Hoses"]
    assert found.counts["tidied paths"] == 1


def test_another_case_is_another_concept(tmp_path):
    found = load(tmp_path, "Top/Arts\nTop/arts\nTop/Arts\n")
    assert names(found) == ["Top", "Top/Arts", "Top/arts"]


FAULTS = {
    "leading": ("/Top/B", "a path with an empty part", ["Top", "Top/A", "Top/B", "Top/C"]),
    "trailing": ("Top/B/", "a path with an empty part", ["Top", "Top/A", "Top/B", "Top/C"]),
    "double": ("Top// /B", "a path with an empty part", ["Top", "Top/A", "Top/B", "Top/C"]),
    "only slashes": ("//", "a path with an empty part", ["Top", "Top/A", "Top/C"]),
    "control": ("Top/B\x07", "a control character", ["Top", "Top/A", "Top/B", "Top/C"]),
    "no path": ("\ttext", "a line without a path", ["Top", "Top/A", "Top/C"]),
    "no text": (b"Top/\xff", "a line that is no text", ["Top", "Top/A", "Top/C"]),
    "nul": (b"Top/\0", "a line that is no text", ["Top", "Top/A", "Top/C"]),
    "long": (b"x" * (2 << 20), "a line that is no text", ["Top", "Top/A", "Top/C"]),
    "deep": ("/".join("x" * 2000), "a path of more than 100 parts", ["Top", "Top/A", "Top/C"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_refused_with_their_line_or_mended(tmp_path, case):
    line, fault, expected = FAULTS[case]
    data = b"Top/A\n\n" + (line if isinstance(line, bytes) else line.encode()) + b"\nTop/C\n"
    with pytest.raises(FormatError, match=f"line 3: {fault}"):
        load(tmp_path, data)
    repairs = RepairLog("shop", enabled=True)
    found = import_paths(write(tmp_path / "shop.txt", data), repairs)
    assert names(found) == expected
    assert repairs.counts == {fault: 1}


def test_no_path_at_all(tmp_path):
    for data in ("", "\n\n", "path\n", "Top\n"):
        with pytest.raises(FormatError, match="no concept"):
            load(tmp_path, data)


def test_no_file_and_a_cut_one(tmp_path):
    with pytest.raises(InputError):
        import_paths(tmp_path / "none.txt", RepairLog("none"))
    with pytest.raises(InputError, match="cut off"):
        load(tmp_path, gzip.compress(b"Top/A\n" * 1000)[:-12], "a.gz")


def test_progress_is_told(tmp_path):
    shown = NoProgress()
    import_paths(write(tmp_path / "a.txt", "Top/A\n"), RepairLog("a"), progress=shown)
    assert list(shown.seconds) == ["reading paths"]


def test_titles():
    assert [title_from_path(Path(n)) for n in ("x/shop.csv", "a.b.tsv.ZST", "shop")] == [
        "shop",
        "a.b",
        "shop",
    ]
