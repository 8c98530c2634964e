"""Checks of a taxonomy: each finds its own fault; figures; files that are cut or damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.taxonomy.arrays import RaggedArray, StringArray
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.storage import read_arrays, write_arrays
from queryveil.concepts.taxonomy.validation import Branch, check_taxonomy, describe_taxonomy
from queryveil.errors import FormatError, InputError


def shop() -> Taxonomy:
    """home > garden > hose; kitchen > tap, hose; `tap` also means the garden."""
    draft = TaxonomyBuilder("shop")
    home = draft.add("home", 1, "home")
    garden, kitchen = (draft.add(n, 2, n, home) for n in ("garden", "kitchen"))
    hose = draft.add("hose", 3, "hose", garden)
    draft.edge(hose, kitchen)
    draft.label(draft.add("tap", 4, "tap", kitchen), "faucet")
    draft.label(garden, "tap")
    return draft.build(RepairLog("shop"))


def failed(taxonomy: Taxonomy) -> list[str]:
    return [one.check for one in check_taxonomy(taxonomy) if not one.holds]


def changed(lists: RaggedArray, at: int, value: int) -> RaggedArray:
    items = lists.items.copy()
    items[at] = value
    return RaggedArray(lists.start, items)


def test_a_whole_taxonomy(tmp_path):
    findings = check_taxonomy(shop())
    assert [one.check for one in findings] == [
        "texts",
        "sizes",
        "parents",
        "label rows",
        "meanings",
        "root",
        "order",
        "levels",
        "ancestors",
        "labels",
        "names",
        "ambiguous labels",
    ]
    assert all(one.holds for one in findings)
    assert findings[-1].message == '1 labels mean several concepts: "tap" 2'
    for packed in (False, True):
        shop().write(tmp_path / "shop.qvt", packed=packed)
        assert failed(Taxonomy.open(tmp_path / "shop.qvt")) == []


def test_paths_may_end_alike():
    found = check_taxonomy(taxonomy_from_paths(["Top/A/News", "Top/B/News"]))
    assert all(one.holds for one in found)
    assert found[-2].to_dict() == {
        "check": "paths",
        "holds": True,
        "message": "every concept has its own path",
    }


good = shop()
stored = replace(good, stored_ancestors=good.all_ancestors)
BROKEN = {
    "texts": replace(good, labels=StringArray(np.frombuffer(b"\xff\n", np.uint8))),
    "texts without end": replace(good, names=StringArray(np.frombuffer(b"home", np.uint8))),
    "sizes": replace(good, names=StringArray.of(["home"])),
    "sizes of titles": replace(good, titles=good.titles[1:]),
    "sizes of marks": replace(good, tags={"kind": np.zeros(2, np.int32)}),
    "sizes of lists": replace(
        good, parents=RaggedArray(good.parents.start, good.parents.items[:-1])
    ),
    "sizes below none": replace(
        good, parents=RaggedArray(np.array([0, 3, 1, 2, 4, 5]), good.parents.items)
    ),
    "sizes of ancestors": replace(good, stored_ancestors=RaggedArray.from_lists([[0]])),
    "sizes of nothing": replace(
        good,
        names=StringArray.of([]),
        labels=StringArray.of([]),
        label_concepts=RaggedArray.from_lists([]),
        titles=good.titles[:0],
        parents=RaggedArray.from_lists([]),
    ),
    "parents": replace(good, parents=changed(good.parents, 0, 99)),
    "parents below none": replace(good, parents=changed(good.parents, 0, -1)),
    "label rows": replace(good, titles=good.titles + 3),
    "meanings": replace(good, label_concepts=changed(good.label_concepts, 1, 5)),
    "root": replace(good, parents=RaggedArray.from_lists([[], [0], [], [1, 2], [2]])),
    "order": replace(good, parents=RaggedArray.from_lists([[], [0], [0], [4], [2]])),
    "levels": replace(good, parents=RaggedArray.from_lists([[], [0], [1], [0], [2]])),
    "ancestors": replace(stored, stored_ancestors=changed(good.all_ancestors, 4, 1)),
    "labels": replace(good, titles=good.titles[::-1]),
    "names": replace(good, names=StringArray.of(["home", "x", "x", "hose", "tap"])),
    "paths": replace(good, names=StringArray.of(["home", "x", "x", "hose", "tap"]), paths=True),
}


@pytest.mark.parametrize("case", BROKEN)
def test_each_fault_is_found_by_its_check(case):
    expected = case.split(" of ")[0].split(" below ")[0].split(" without ")[0]
    assert expected in failed(BROKEN[case])
    assert all(one.message for one in check_taxonomy(BROKEN[case]))


def test_stored_ancestors_that_are_right():
    assert failed(stored) == []


def test_figures():
    assert describe_taxonomy(good).to_dict() == {
        "concepts": 5,
        "labels": 6,
        "edges": 5,
        "concepts_with_several_parents": 1,
        "max_depth": 3,
        "mean_depth": 2.2,
        "leaves": 2,
        "ambiguous_labels": 1,
        "branches": [
            {"concept": "kitchen", "name": "kitchen", "concepts": 3},
            {"concept": "garden", "name": "garden", "concepts": 2},
        ],
    }


def test_an_artificial_root_is_not_counted():
    figures = describe_taxonomy(taxonomy_from_paths(["Top/Arts/News", "Top/Sports"]))
    assert figures.concepts == figures.labels == 3
    assert (figures.edges, figures.max_depth, figures.leaves) == (1, 2, 2)
    assert figures.branches[0] == Branch("Arts", "Top/Arts", 2)


def test_one_concept():
    one = taxonomy_from_paths(["Home"])
    assert failed(one) == []
    assert describe_taxonomy(one).branches == ()


# --- damaged files ------------------------------------------------------------------------------


def written(path: Path, packed: bool) -> bytes:
    shop().write(path, packed=packed)
    return path.read_bytes()


@pytest.mark.parametrize("packed", [False, True])
def test_a_cut_file(tmp_path, packed):
    path = tmp_path / "a.qvt"
    whole = written(path, packed)
    about, arrays = read_arrays(path)
    assert about["title"] == "shop"
    last = len(whole.rstrip(b"\0"))  # what follows only fills up the last block
    assert arrays
    for size in range(last):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            Taxonomy.open(path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_changed_byte_is_found(tmp_path, packed):
    path = tmp_path / "a.qvt"
    whole = written(path, packed)
    start = 8 + int.from_bytes(whole[4:8], "little")
    listed = json.loads(whole[8:start])["arrays"].values()
    for one in listed:
        for at in range(start + one["at"], start + one["at"] + one["bytes"]):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
            with pytest.raises(FormatError, match="damaged"):
                Taxonomy.open(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"QVT",
        b"QVT1",
        b"QVT1\0\0\0\0",
        b"QVT1\xff\xff\xff\xff{}",
        b"QVT1\x02\0\0\0{}",
        b"QVT1\x02\0\0\0[]",
        b"QVT1\x02\0\0\0no",
        b"PK\x03\x04 something else",
    ],
)
def test_other_files(tmp_path, data):
    path = tmp_path / "a.qvt"
    path.write_bytes(data)
    with pytest.raises(FormatError):
        Taxonomy.open(path)


def test_no_file(tmp_path):
    with pytest.raises(InputError):
        Taxonomy.open(tmp_path / "none.qvt")


def headers(whole: bytes) -> dict[str, bytes]:
    """The file with a header that is JSON, but says something else."""
    start = 8 + int.from_bytes(whole[4:8], "little")
    header = json.loads(whole[8:start])
    arrays = header["arrays"]
    changed = {
        "no about": {n: v for n, v in header.items() if n != "about"},
        "empty about": header | {"about": {}},
        "about is a list": header | {"about": []},
        "no packed": {n: v for n, v in header.items() if n != "packed"},
        "no arrays": header | {"arrays": {}},
        "arrays is a list": header | {"arrays": [1]},
        "an array is missing": header
        | {"arrays": {n: v for n, v in arrays.items() if n != "titles"}},
        "kind": header | {"arrays": arrays | {"titles": arrays["titles"] | {"kind": "object"}}},
        "wide kind": header | {"arrays": arrays | {"names": arrays["names"] | {"kind": "int64"}}},
        "at": header | {"arrays": arrays | {"titles": arrays["titles"] | {"at": -64}}},
        "at is text": header | {"arrays": arrays | {"titles": arrays["titles"] | {"at": "0"}}},
        "bytes": header | {"arrays": arrays | {"titles": arrays["titles"] | {"bytes": 1 << 40}}},
        "length": header | {"arrays": arrays | {"titles": arrays["titles"] | {"length": 3}}},
        "no sum": header
        | {
            "arrays": arrays
            | {"titles": {n: v for n, v in arrays["titles"].items() if n != "crc32"}}
        },
    }
    made = {}
    for name, one in changed.items():
        text = json.dumps(one).encode()
        text += b" " * (-(len(text) + 8) % 64)
        made[name] = b"QVT1" + len(text).to_bytes(4, "little") + text + whole[start:]
    return made


@pytest.mark.parametrize("packed", [False, True])
def test_headers_that_say_something_else(tmp_path, packed):
    path = tmp_path / "a.qvt"
    whole = written(path, packed)
    wrong = {}
    for name, data in headers(whole).items():
        path.write_bytes(data)
        try:
            Taxonomy.open(path)
        except FormatError:
            continue
        except Exception as error:
            wrong[name] = repr(error)
        else:
            wrong[name] = "opened"
    assert wrong == {}


def test_arrays_of_no_length(tmp_path):
    for packed in (False, True):
        write_arrays(tmp_path / "a.qvt", {}, {"none": np.empty(0, np.int32)}, packed=packed)
        assert read_arrays(tmp_path / "a.qvt")[1]["none"].tolist() == []
