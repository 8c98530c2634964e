"""Blocks of whole lines: packing, encodings, line ends, long lines, and what a bad line costs."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import FormatError, InputError
from queryveil.log.readers import source
from queryveil.log.readers.source import TextFile

MB = 1 << 20
LINES = b"".join(b"line %d\n" % number for number in range(1, 1001))


def lines_of(file: TextFile) -> list[bytes]:
    return b"".join(block.data for block in file.blocks()).split(b"\n")[:-1]


def faults_of(file: TextFile) -> dict[int, str]:
    return {line: why for block in file.blocks() for line, why in block.faults.items()}


def write(path: Path, data: bytes) -> TextFile:
    path.write_bytes(data)
    return TextFile(path)


# --- packing -------------------------------------------------------------------------------------


def in_pieces(data: bytes, pack: object) -> bytes:
    third = len(data) // 3
    return b"".join(pack(data[at : at + third]) for at in range(0, len(data), third))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.tsv", LINES),
        ("log.tsv.gz", gzip.compress(LINES)),
        ("log.tsv.GZ", gzip.compress(LINES)),
        ("members.gz", in_pieces(LINES, gzip.compress)),
        ("padded.gz", gzip.compress(LINES) + bytes(512)),
        ("log.tsv.zst", zstandard.compress(LINES)),
        ("log.tsv.zstd", zstandard.compress(LINES)),
        ("frames.zst", in_pieces(LINES, zstandard.compress)),
        ("skippable.zst", b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zstandard.compress(LINES)),
        ("empty-frames.zst", zstandard.compress(b"") + zstandard.compress(LINES)),
    ],
)
@pytest.mark.parametrize("block", [17, 1000, 32 * MB])
def test_packed_or_not_the_lines_are_the_same(tmp_path, monkeypatch, name, data, block):
    monkeypatch.setattr(source, "BLOCK", block)
    file = write(tmp_path / name, data)
    assert lines_of(file) == LINES.split(b"\n")[:-1]
    assert file.sha256 == hashlib.sha256(data).hexdigest()
    assert file.head() == LINES


def test_the_head_is_whole_lines_and_does_not_read_on(tmp_path):
    told = []
    line = b"x" * 999 + b"\n"
    path = tmp_path / "log.tsv"
    path.write_bytes(line * 10_000)
    head = TextFile(path, advance=told.append).head()
    assert head == line * (len(head) // 1000)
    assert 0 < len(head) < MB
    assert not told  # sniffing is no progress


def test_progress_is_told_in_bytes_on_disk(tmp_path):
    told: list[int] = []
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(LINES))
    list(TextFile(path, advance=told.append).blocks())
    assert sum(told) == path.stat().st_size < len(LINES)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.999])
def test_a_packed_file_that_is_cut_off_gives_nothing_away_as_whole(tmp_path, pack, keep):
    packed = pack(LINES * 20)
    suffix = ".gz" if pack is gzip.compress else ".zst"
    file = write(tmp_path / f"cut{suffix}", packed[: int(len(packed) * keep)])
    with pytest.raises(InputError, match="damaged or cut off") as caught:
        list(file.blocks())
    assert caught.value.hint


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_file_that_is_damaged(tmp_path, suffix):
    pack = gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor(write_checksum=True)
    packed = bytearray(pack(LINES) if suffix == ".gz" else pack.compress(LINES))
    packed[-6 if suffix == ".gz" else -2] ^= 0xFF  # the checksum
    file = write(tmp_path / f"bad{suffix}", bytes(packed))
    with pytest.raises(InputError, match="damaged"):
        list(file.blocks())


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_plain_file_that_is_called_packed(tmp_path, suffix):
    with pytest.raises(InputError, match="damaged"):
        list(write(tmp_path / f"plain{suffix}", LINES).blocks())


# --- bombs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_stopped_by_its_ratio(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(source, "FREE_EXPANSION", MB)
    monkeypatch.setattr(source, "BLOCK", MB)
    suffix = ".gz" if pack is gzip.compress else ".zst"
    file = write(tmp_path / f"bomb{suffix}", pack(bytes(300 * MB)))
    tracemalloc.start()
    with pytest.raises(InputError, match="expands to more than") as caught:
        list(file.blocks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "`max_decompressed_size`" in caught.value.hint
    assert peak < 150 * MB


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_log_that_packs_well_is_no_bomb(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(source, "FREE_EXPANSION", 0)
    suffix = ".gz" if pack is gzip.compress else ".zst"
    data = b"".join(b"%d\tred shoes\t2006-03-01 10:00:00\t\t\n" % n for n in range(20_000))
    assert len(data) > 5 * len(pack(data))
    assert len(lines_of(write(tmp_path / f"log{suffix}", pack(data)))) == 20_000


def test_the_owner_sets_the_cap(tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(LINES))
    assert lines_of(TextFile(path, max_decompressed_size=len(LINES)))
    with pytest.raises(InputError, match=f"more than {len(LINES) - 1:,} bytes"):
        list(TextFile(path, max_decompressed_size=len(LINES) - 1).blocks())


def test_a_plain_file_has_no_cap(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_bytes(LINES)
    assert lines_of(TextFile(path, max_decompressed_size=10))


# --- encodings -----------------------------------------------------------------------------------

TEXT = "müller\nżółw\n東京 ラーメン\n🍜\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (codecs.BOM_UTF8 + TEXT.encode(), "utf-8"),
        (codecs.BOM_UTF8 + TEXT.encode(), "latin-1"),  # the mark says more than the owner
        (TEXT.encode("utf-8-sig"), "utf-8-sig"),
        (TEXT.encode("utf-16"), "utf-8"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "utf-8"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-32"), "utf-32"),
        (TEXT.encode("gb18030"), "gb18030"),
    ],
)
@pytest.mark.parametrize("block", [7, 32 * MB])
def test_encodings(tmp_path, monkeypatch, data, encoding, block):
    monkeypatch.setattr(source, "BLOCK", block)
    path = tmp_path / "log.txt"
    path.write_bytes(data)
    file = TextFile(path, encoding)
    if encoding == "utf-32":  # its mark begins as that of UTF-16 does
        data = data[4:]
        path.write_bytes(data)
        file = TextFile(path, "utf-32-le")
    assert b"\n".join(lines_of(file)).decode() + "\n" == TEXT
    assert not faults_of(file)


def test_a_mark_inside_the_file_is_text(tmp_path, monkeypatch):
    """Were it taken away where a block happens to begin, a user could have two names."""
    monkeypatch.setattr(source, "BLOCK", 3)
    data = b"abc" + codecs.BOM_UTF8 + b"def\n"
    assert lines_of(write(tmp_path / "log.txt", data)) == [data[:-1]]


@pytest.mark.parametrize("name", ["no-such-code", "rot13", "base64", "idna", "undefined", "a\0b"])
def test_unknown_encodings(tmp_path, name):
    path = tmp_path / "log.txt"
    path.write_bytes(LINES)
    with pytest.raises(FormatError, match="unknown encoding"):
        list(TextFile(path, name).blocks())


@pytest.mark.parametrize("name", ["utf-7", "UTF7", "iso2022_jp", "iso-2022-kr", "hz"])
def test_encodings_in_which_a_row_changes_the_next_are_refused(tmp_path, name):
    path = tmp_path / "log.txt"
    path.write_bytes(LINES)
    with pytest.raises(FormatError, match="change how the rows after it are read"):
        list(TextFile(path, name).blocks())


def test_utf_16_without_a_mark_must_be_named_exactly(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(TEXT.encode("utf-16-le"))
    with pytest.raises(FormatError) as caught:
        list(TextFile(path, "utf-16").blocks())
    assert "utf-16-le" in caught.value.hint


def test_bytes_without_a_character_are_a_fault_and_not_a_question_mark(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"plain\ncaf\xe9\nplain\n")
    assert faults_of(TextFile(path, "ascii")) == {2: "not ASCII"}
    path.write_bytes("good\n".encode("utf-16") + b"\x00\xd8" + "bad\ngood\n".encode("utf-16-le"))
    assert faults_of(TextFile(path)) == {2: "not UTF-16-LE"}


def test_half_a_character_at_the_end_is_told(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes("good\nlast".encode("utf-16") + b"x")
    assert faults_of(TextFile(path)) == {2: "not UTF-16-LE"}


# --- line ends -----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path, end, last):
    data = end.join([b"one", b"two", b"three"]) + (end if last else b"")
    file = replace(write(tmp_path / "log.txt", data), lone_cr=True)
    found = [line for block in file.blocks() for line in block.data.splitlines()]
    assert found == [b"one", b"two", b"three"]


def test_carriage_returns_are_line_ends_only_under_a_header(tmp_path):
    """Else the first row of somebody could cut all other rows."""
    file = write(tmp_path / "log.txt", b"one\rtwo\rthree")
    assert [block.data for block in file.blocks()] == [b"one\rtwo\rthree\n"]


def test_a_block_that_ends_between_cr_and_lf(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 4)
    found = lines_of(write(tmp_path / "log.txt", b"one\r\ntwo\r\n"))
    assert found == [b"one\r", b"two\r"]


# --- lines that are no text ----------------------------------------------------------------------


@pytest.mark.parametrize("block", [10, 64, 32 * MB])
@pytest.mark.parametrize("last", [b"\n", b""])
def test_bad_lines_are_told_with_their_number(tmp_path, monkeypatch, block, last):
    monkeypatch.setattr(source, "BLOCK", block)
    data = b"one\n\ncaf\xe9\nfour\nnu\0l\n\nseven\n\xff\xfe" + last
    file = write(tmp_path / "log.txt", data)
    assert faults_of(file) == {3: "not UTF-8", 5: "NUL byte", 8: "not UTF-8"}
    found = lines_of(file)
    assert [found[at] for at in (0, 1, 3, 5, 6)] == [b"one", b"", b"four", b"", b"seven"]
    assert len(found) == 8


@pytest.mark.parametrize("size", [2 * MB, 100 * MB])
def test_a_line_without_end_costs_itself_and_little_memory(tmp_path, monkeypatch, size):
    monkeypatch.setattr(source, "BLOCK", 8 * MB)
    with (path := tmp_path / "log.txt").open("wb") as file:
        file.write(b"one\ntwo\n")
        for _ in range(size // MB):
            file.write(b"x" * MB)
        file.write(b"\nfour\nfive\n")
    tracemalloc.start()
    blocks = list(TextFile(path).blocks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert b"".join(block.data for block in blocks) == b"one\ntwo\n\nfour\nfive\n"
    assert {n: why for block in blocks for n, why in block.faults.items()} == {
        3: "line longer than 1 MB"
    }
    starts = [block.first_line for block in blocks]
    assert starts == sorted(set(starts))
    assert peak < 60 * MB


@pytest.mark.parametrize("place", ["first", "last", "only"])
def test_a_line_without_end_wherever_it_stands(tmp_path, monkeypatch, place):
    monkeypatch.setattr(source, "BLOCK", MB)
    endless = b"x" * (5 * MB)
    data = {"first": endless + b"\none\n", "last": b"one\n" + endless, "only": endless}[place]
    file = write(tmp_path / "log.txt", data)
    number = 2 if place == "last" else 1
    assert faults_of(file) == {number: "line longer than 1 MB"}
    assert len(lines_of(file)) == (1 if place == "only" else 2)


@pytest.mark.parametrize(("size", "bad"), [(MB - 1, False), (MB, False), (MB + 1, True)])
@pytest.mark.parametrize("around", [b"", b"one\n"])
def test_how_long_is_too_long(tmp_path, size, bad, around):
    file = write(tmp_path / "log.txt", around + b"x" * size + b"\n" + around)
    assert bool(faults_of(file)) is bad


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\r", b"")), max_size=20),
    st.integers(1, 40),
)
def test_any_bytes_every_line_is_there_once(tmp_path_factory, lines, block):
    """Whatever the blocks: good lines come unchanged, bad ones are told, all in their place."""
    path = tmp_path_factory.getbasetemp() / "any.txt"
    data = b"\n".join(lines)
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK", block)
        file = TextFile(path)
        found, faults = lines_of(file), faults_of(file)
    there = data.split(b"\n") if data else []
    if there and there[-1] == b"":
        there.pop()  # what comes after the last line end is no line
    assert len(found) == len(there)
    for number, (got, was) in enumerate(zip(found, there, strict=True), 1):
        is_text = b"\0" not in was and was == was.decode("utf-8", "ignore").encode()
        assert (number not in faults) is is_text
        if is_text:
            assert got == was


def test_a_file_that_is_gone(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        list(TextFile(tmp_path / "none.txt").blocks())
