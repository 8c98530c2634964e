"""Cards, journals, settings and lists that somebody else made: a clear error, never a traceback."""

from __future__ import annotations

import json
import os
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import queryveil as qv
from queryveil.comparison.journal import Journal, JournalEntry
from queryveil.comparison.result import ComparisonRow
from queryveil.core.folders import read_json_card
from queryveil.errors import InputError, QueryveilError
from queryveil.peers.node.storage import NodeDirectory
from queryveil.release.reading import read_release
from queryveil.workflows.taxonomies import list_taxonomies

DEEP = '{"queryveil":' + "[" * 100_000
HALF = '{"queryveil":' + "[" * 900 + "]" * 900 + "}"  # read by Python, and too deep to be drawn
LINES = [
    (f"user{n}", f"weather {n % 2}", "2006-03-01 10:00:00", 1, "http://a.example")
    for n in range(12)
]


@pytest.fixture(scope="module")
def log() -> qv.QueryLog:
    return qv.QueryLog.from_rows(LINES)


@pytest.fixture
def folder(log: qv.QueryLog, tmp_path: Path) -> Path:
    qv.anonymize(log, qv.FrequentQueries(min_users=5)).write(tmp_path / "out")
    return tmp_path / "out"


# --- cards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DEEP, HALF, DEEP.replace("[", '{"a":')])
def test_a_card_that_is_nested_deep(folder: Path, log: qv.QueryLog, cli: Any, text: str) -> None:
    assert read_json_card(folder / "private" / "card.json")
    (folder / "private" / "card.json").write_text(text)
    assert read_json_card(folder / "private" / "card.json") == {}
    found = qv.verify(folder)
    assert [one.check for one in found.findings if not one.holds] == ["card"]
    (folder / "public" / "release.json").write_text(text)
    for command in (("verify", folder), ("pack", folder)):
        ran = cli(*command)
        assert ran.code == 1
        assert "Traceback" not in ran.err
        assert "damaged" in " ".join(ran.err.split())
    with pytest.raises(qv.VerificationError, match="damaged"):
        read_release(folder, log)


@pytest.mark.parametrize("name", ["public/release.json", "private/card.json"])
def test_a_card_with_other_values(tmp_path: Path, log: qv.QueryLog, name: str) -> None:
    """Each value of a card in turn is something else; neighbors in the card differ in what."""
    qv.anonymize(log, qv.FrequentQueries(min_users=5)).write(tmp_path / "out", format="tsv")
    path = tmp_path / "out" / name
    whole = json.loads(path.read_text())
    others = cycle((None, 7, "x", [], {}, [[]], {"a": [None]}, -1e300))
    for place in _places(whole):
        for other in islice(others, 3):
            path.write_text(json.dumps(_changed(whole, place, other)))
            for reads in (qv.verify, lambda folder: read_release(folder, log)):
                try:
                    reads(tmp_path / "out")
                except QueryveilError as error:
                    assert str(error)


def _places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value[:1])
    below = [place for key, one in inner for place in _places(one, (*above, key))]
    return [above, *below] if len(above) <= 3 else []


def _changed(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = _changed(value[place[0]], place[1:], other)
    return copy


# --- journals, settings, state, lists ------------------------------------------------------------


def test_a_journal_with_lines_of_others(tmp_path: Path) -> None:
    row = ComparisonRow("m:k=2", "m", {"k": 2}, 1, "uniqueness", 1.0)
    line, path = JournalEntry("a", row).to_json(indent=None), tmp_path / "runs.jsonl"
    bad = line.replace("1.0", '"1"')
    path.write_text("\n".join([DEEP, HALF, "[]", "7", bad, "x" * (2 << 20), line]))
    assert Journal(path).known("a") == row
    path.unlink()
    os.mkfifo(path)
    assert Journal(path).known("a") is None


@pytest.mark.parametrize(
    "text",
    [
        "[all]\nn = " + "[" * 20_000,
        "[all]\nn = " + "{a=" * 20_000,
        "[anonymize]\n" + "columns" + ".a" * 8_000 + " = 1",
        "[" + "a." * 8_000 + "a]",
        "x" * (65 << 10),
        "\0",
    ],
)
def test_settings_that_are_no_settings(cli: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "queryveil.toml").write_text(text)
    ran = cli("methods")
    assert ran.code in (1, 2)
    assert "Traceback" not in ran.err
    assert "queryveil.toml" in "".join(ran.err.split())


def test_a_state_file_of_a_node(tmp_path: Path) -> None:
    home = NodeDirectory(tmp_path / "home")
    home.make()
    home.write("friends.json", DEEP.encode())
    with pytest.raises(InputError, match="not valid JSON"):
        home.read_json("friends.json")


def test_a_list_without_end(cli: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("queryveil.core.bounded.MAX_LIST", 1000)
    (tmp_path / "log.csv").write_text("user,query\n7,cats\n")
    for command in (
        ("profile", "log.csv", "--exclude-users", "/dev/zero"),
        ("--config", "/dev/zero", "methods"),
    ):
        ran = cli(*command)
        assert ran.code == 1
        assert "larger than" in " ".join(ran.err.split())


# --- taxonomies ----------------------------------------------------------------------------------


def test_a_damaged_taxonomy_does_not_hide_the_others(cli: Any, tmp_path: Path) -> None:
    qv_file = tmp_path / "good.qvt"
    (tmp_path / "paths.txt").write_text("Home/Garden\nHome/Kitchen\n")
    assert cli("taxonomy", "import", "paths", "paths.txt", "--out", qv_file).code == 0
    (tmp_path / "bad.qvt").write_bytes(qv_file.read_bytes()[:100])
    (tmp_path / "empty.qvt").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.qvt")
    listed = {Path(one.name).name: one for one in list_taxonomies(tmp_path).taxonomies}
    assert listed["good.qvt"].concepts == 3
    assert listed["wordnet-nouns"].concepts == 82_115
    for name in ("bad.qvt", "empty.qvt", "pipe.qvt"):
        assert listed[name].concepts is None
        assert listed[name].description.startswith("not readable: this ")
    assert "no plain file" in cli("taxonomy", "show", "pipe.qvt").err
    ran = cli("taxonomy", "list")
    assert ran.code == 0
    assert "bad.qvt" in ran.out
    assert "not readable" in ran.out


@pytest.mark.parametrize("form", ["tsv", "csv", "parquet"])
def test_mapped_queries_are_harmless_and_private(cli: Any, tmp_path: Path, form: str) -> None:
    queries = [
        '=hyperlink("http://evil.example","x") tennis',
        "+1+1 tennis",
        "'@x tennis",
        "tennis",
    ]
    (tmp_path / "queries.txt").write_text("\n".join(queries))
    before = os.umask(0)
    try:
        ran = cli("taxonomy", "map", "--input", "queries.txt", "--out", f"out.{form}")
    finally:
        os.umask(before)
    assert ran.code == 0, ran.err
    out = tmp_path / f"out.{form}"
    assert out.stat().st_mode & 0o777 == 0o600
    if form == "parquet":
        assert set(pl.read_parquet(out)["query"]) == set(queries)
        return
    separator = "\t" if form == "tsv" else ","
    table = pl.read_csv(out, separator=separator, infer_schema=False)
    assert {cell.removeprefix("'") for cell in table["query"]} == set(queries)
    cells = [cell for column in table for cell in column if cell]
    assert not [cell for cell in cells if cell.startswith(tuple("=+@"))]


def test_a_taxonomy_that_was_written_meanwhile_is_not_replaced(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from queryveil.concepts.loaders import paths as loader

    (tmp_path / "paths.txt").write_text("Home/Garden\nHome/Kitchen\n")
    real = loader.import_paths

    def slow(*args: Any, **more: Any) -> Any:
        (tmp_path / "out.qvt").write_text("theirs")
        return real(*args, **more)

    monkeypatch.setattr(loader, "import_paths", slow)
    ran = cli("taxonomy", "import", "paths", "paths.txt", "--out", "out.qvt")
    assert ran.code == 1
    assert (tmp_path / "out.qvt").read_text() == "theirs"
