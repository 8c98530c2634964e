"""What every method owes that gives statistics instead of a log."""

from __future__ import annotations

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import queryveil as qv
from queryveil.ledger.ledger import Ledger
from queryveil.workflows.verification import verify

LINES = [
    "dp-statistics:epsilon=99:delta=1e-3:max-queries-per-user=3:max-clicks-per-user=3",
    "dp-statistics:epsilon=99:delta=1e-3:max-queries-per-user=3:selection=laplace",
    "dp-statistics:epsilon=99:delta=1e-3:max-queries-per-user=3:selection=gaussian",
]
TEXTS = {"queries": ["query"], "clicks": ["query", "url"], "transitions": ["query", "next"]}


@pytest.fixture(scope="module")
def place(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own with the log: the ledger lies there."""
    folder = tmp_path_factory.mktemp("population")
    shutil.copy(synthetic, folder / "log.tsv")
    return folder / "log.tsv"


@pytest.fixture(scope="module", params=LINES)
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def made(line: str, place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "out"
    qv.anonymize(qv.read_log(place), line).write(out)
    return out


def tables(public: Path) -> dict[str, list[list[str]]]:
    found = {}
    for name, texts in TEXTS.items():
        header, *rows = (public / f"{name}.tsv").read_text("utf-8").split("\n")[:-1]
        assert header.split("\t") == [*texts, "count"]
        found[name] = [row.split("\t") for row in rows]
    return found


def cards(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    paths = folder / "public" / "release.json", folder / "private" / "card.json"
    public, internal = (json.loads(path.read_text("utf-8")) for path in paths)
    return public, internal


def test_the_promise_holds_on_the_files(made: Path) -> None:
    found = verify(made)
    assert found.holds, found
    rows, (public, _) = tables(made / "public"), cards(made)
    checks = [check for check in public["guarantee"]["checks"] if "table" in check]
    least = {check["table"]: check["at_least"] for check in checks}
    assert rows["queries"]
    for name, table in rows.items():
        counts = [int(row[-1]) for row in table]
        assert all(count >= least[name] for count in counts)
        assert counts == sorted(counts, reverse=True)
    known = {row[0] for row in rows["queries"]}
    assert {row[0] for row in rows["clicks"]} <= known
    assert {query for *pair, _ in rows["transitions"] for query in pair} <= known


def test_nothing_else_is_in_public(made: Path, place: Path) -> None:
    log = qv.read_log(place).local_frame.collect()
    text = "".join(path.read_text("utf-8") for path in (made / "public").iterdir())
    assert "someone-" not in text
    rows = tables(made / "public")
    shown = "\n".join(cell for row in (*rows["queries"], *rows["clicks"]) for cell in row[:-1])
    cards = [path for path in (made / "public").iterdir() if path.suffix != ".tsv"]
    card = "".join(path.read_text() for path in cards)
    dropped = [q for q in log["query"].unique().cast(str) if len(q) > 6 and q not in shown + card]
    assert len(dropped) > 1000
    assert not [query for query in dropped if query in text]


def test_cards(made: Path, line: str) -> None:
    public, internal = cards(made)
    promise = public["guarantee"]
    assert promise["model"] == "approx-dp"
    assert (promise["epsilon"], promise["delta"]) == (99.0, 1e-3)
    assert promise["neighbours"]
    assert (public["standing"], public["release_grade"]) == ("not-for-publication", False)
    assert "epsilon is 99, above 10" in public["not_release_grade_because"][0]
    sizes = {f"{name}.tsv": len(rows) for name, rows in tables(made / "public").items()}
    assert {name: public["figures"][name] for name in sizes} == sizes
    lost = sum(internal["dropped"].values()) + sum(internal["input"]["rejected"].values())
    assert internal["input"]["rows"] == lost
    for number in (internal["input"]["rows"], internal["input"]["users"]):
        assert not re.search(rf"(?<![\w,.#]){number:,}(?![\w,%])", json.dumps(public["figures"]))
    assert internal["ledger"]["entry"] >= 1
    assert str(qv.parse_method(line)).startswith(public["method"])


def test_the_ledger_has_it(made: Path, place: Path, line: str) -> None:
    with Ledger.open(place.parent / "ledger.db", create=False) as ledger:
        entry = next(one for one in ledger.entries() if one.folder == str(made.absolute()))
        assert (entry.kind, entry.state, entry.epsilon) == ("dp", "confirmed", 99)
        assert entry.method == str(qv.parse_method(line))
        ledger.check()


def test_seeds(line: str, place: Path, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder, seed in zip(folders, (9, 9, 10), strict=True):
        qv.anonymize(qv.read_log(place), line, seed=seed).write(folder)
    one, two, three = (
        {path.name: path.read_bytes() for path in (folder / "public").iterdir()}
        for folder in folders
    )
    assert one == two
    assert one["queries.tsv"] != three["queries.tsv"]
    public, _ = cards(folders[0])
    assert public["release_grade"] is False
    assert verify(folders[0]).holds


def test_unseeded_runs_differ(line: str, place: Path, made: Path, tmp_path: Path) -> None:
    qv.anonymize(qv.read_log(place), line).write(tmp_path / "again")
    one, two = (folder / "public" / "queries.tsv" for folder in (made, tmp_path / "again"))
    assert one.read_bytes() != two.read_bytes()


@pytest.mark.parametrize("damage", ["count", "key", "order", "file"])
def test_damage_is_found(made: Path, tmp_path: Path, damage: str) -> None:
    copy = shutil.copytree(made, tmp_path / "release")
    path = copy / "public" / "queries.tsv"
    header, *rows = path.read_text("utf-8").split("\n")[:-1]
    changed = {
        "count": [*rows[:-1], rows[-1].rsplit("\t", 1)[0] + "\t1"],
        "key": [*rows, rows[-1]],
        "order": rows[::-1],
        "file": rows[:-1],
    }[damage]
    path.write_text("\n".join([header, *changed, ""]), "utf-8")
    names = {found.check for found in verify(copy).findings if not found.holds}
    assert "files" in names
    card = json.loads((copy / "public" / "release.json").read_text("utf-8"))
    card["files"]["queries.tsv"] = sha256(path.read_bytes()).hexdigest()
    (copy / "public" / "release.json").write_text(json.dumps(card), "utf-8")
    assert not verify(copy).holds
