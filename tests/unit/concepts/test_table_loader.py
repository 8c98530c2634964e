"""Tables of edges: both forms, headers, roots, and every fault with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from queryveil.concepts.loaders.table import import_table
from queryveil.concepts.taxonomy.builder import RepairLog
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.errors import ColumnError, FormatError, InputError, UsageError


def load(
    tmp_path: Path,
    text: str | bytes,
    name: str = "shop.csv",
    repairs: RepairLog | None = None,
    columns: dict[str, str] | None = None,
) -> Taxonomy:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_table(path, repairs or RepairLog(name), columns=columns)


def edges(taxonomy: Taxonomy) -> list[tuple[str, str]]:
    """Parent and child of every edge by label, an artificial root as nothing."""
    named = [
        "" if not taxonomy.has_real_root and c == 0 else taxonomy.label(c)
        for c in range(len(taxonomy))
    ]
    return [(named[int(p)], named[c]) for c in range(len(taxonomy)) for p in taxonomy.parents[c]]


SMALL = [("home", "garden"), ("home", "kitchen"), ("garden", "hose")]


@pytest.mark.parametrize("header", ["parent,child\n", "Broader,Narrower\n", "parent_id,id\n", ""])
def test_two_columns(tmp_path, header):
    found = load(tmp_path, f"{header}home,garden\nhome,kitchen\ngarden,hose\n")
    assert edges(found) == SMALL
    assert found.has_real_root
    assert found.name(0) == "home"
    assert found.title == "shop"


@pytest.mark.parametrize("sign", ["\t", ";", "|"])
def test_other_signs_and_another_order(tmp_path, sign):
    rows = [("child", "parent"), ("garden", "home"), ("kitchen", "home"), ("hose", "garden")]
    assert edges(load(tmp_path, "".join(sign.join(row) + "\r\n" for row in rows))) == SMALL


def test_packed_with_a_mark_and_blank_lines(tmp_path):
    data = gzip.compress(b"\xef\xbb\xbfparent,child\n\nhome,garden\n,\nhome,kitchen\ngarden,hose")
    assert edges(load(tmp_path, data, "shop.csv.gz")) == SMALL


def test_cells_in_quotes(tmp_path):
    found = load(tmp_path, 'parent,child\nhome,"hoses, taps"\nhome,"a ""big""\n one"\nhome,x_y\n')
    assert edges(found) == [("home", "hoses, taps"), ("home", 'a "big" one'), ("home", "x y")]
    assert found.names[3] == "x_y"


def test_a_concept_may_have_several_parents(tmp_path):
    found = load(tmp_path, "r,a\nr,b\na,c\nb,c\na,c\n")
    assert edges(found)[2:] == [("a", "c"), ("b", "c")]


def test_one_declared_root(tmp_path):
    found = load(tmp_path, "parent,child\n,home\nhome,garden\n")
    assert found.has_real_root
    assert edges(found) == [("home", "garden")]


def test_several_declared_roots_get_one_above_them(tmp_path):
    found = load(tmp_path, "parent,child\n,home\n,office\nhome,garden\n")
    assert not found.has_real_root
    assert edges(found) == [("", "home"), ("", "office"), ("home", "garden")]


def test_the_form_of_the_iab(tmp_path):
    text = (
        "Some System\t\t\tTiers\t\n"
        "Unique ID\tParent\tName\tTier 1\t\n"
        "1\t\tVehicles\tVehicles\t\n"
        "3\t2\tVans\tVehicles\t\n"
        "2\t1\tBody Styles\tVehicles\t\n"
        "9\t\tBooks\tBooks\t\n"
    )
    found = load(tmp_path, text, "content.tsv")
    assert not found.has_real_root
    assert [found.name(c) for c in range(len(found))] == ["", "1", "9", "2", "3"]
    assert edges(found) == [
        ("", "Vehicles"), ("", "Books"), ("Vehicles", "Body Styles"), ("Body Styles", "Vans"),
    ]  # fmt: skip


def test_an_id_on_several_rows_adds_labels_and_parents(tmp_path):
    text = "id,parent,label\n1,,home\n2,1,hose\n3,1,garden\n2,1,hosepipe\n2,3,hose\n"
    found = load(tmp_path, text)
    hose = found.find("hose")
    assert found.labels_of(hose) == ["hose", "hosepipe"]
    assert [found.label(int(p)) for p in found.parents[hose]] == ["home", "garden"]


def test_a_name_without_an_id(tmp_path):
    assert edges(load(tmp_path, "name,parent\nhome,\ngarden,home\n")) == [("home", "garden")]


@pytest.mark.parametrize(
    "columns", [{"parent": "over", "child": "under"}, {"parent": "OVER", "child": " Under "}]
)
def test_columns_by_their_header(tmp_path, columns):
    found = load(tmp_path, "note,under,over\nx,garden,home\n", columns=columns)
    assert edges(found) == [("home", "garden")]


def test_columns_by_number(tmp_path):
    found = load(
        tmp_path, "x,2,,home\ny,3,2,garden\n", columns={"id": "2", "parent": "3", "label": "4"}
    )
    assert edges(found) == [("home", "garden")]
    assert found.name(1) == "3"


def test_columns_that_are_not_there(tmp_path):
    with pytest.raises(ColumnError, match="note, under, over"):
        load(tmp_path, "note,under,over\nx,garden,home\n")
    for columns in (
        {"parent": "up", "child": "down"},
        {"parent": "1", "child": "9"},
        {"parent": "1"},
    ):
        with pytest.raises(ColumnError):
            load(tmp_path, "a,b,c\n", columns=columns)
    with pytest.raises(UsageError, match="parnet"):
        load(tmp_path, "a,b\n", columns={"parnet": "1"})


# Each fault: the file, what is said of it, and what --repair makes of it.
LABELLED = "id,parent,label\n1,,home\n"
FAULTS = {
    "second root": (
        "a,b\nc,d\n", "line 2: a second root", "a second root",
        [("", "a"), ("", "c"), ("a", "b"), ("c", "d")],
    ),
    "undeclared beside declared": (
        "parent,child\n,a\n,b\nc,d\n", "line 4: a second root", "a second root",
        [("", "a"), ("", "b"), ("", "c"), ("c", "d")],
    ),
    "orphan": (
        LABELLED + "2,7,hose\n", "line 3: a parent that no row defines",
        "a parent that no row defines", [("home", "hose")],
    ),
    "orphan among roots": (
        LABELLED + "2,,office\n3,7,hose\n", "line 4: a parent that no row defines",
        "a parent that no row defines", [("", "home"), ("", "office"), ("", "hose")],
    ),
    "no root": (
        "id,parent,label\n3,7,hose\n", "line 2: a parent that no row defines",
        "a parent that no row defines", [("", "hose")],
    ),
    "no label": (
        LABELLED + "tap_x,1,\n", "line 3: a concept without a label",
        "a concept without a label", [("home", "tap x")],
    ),
    "no concept": (
        LABELLED + ",1,hose\n2,1,tap\n", "line 3: a row without a concept",
        "a row without a concept", [("home", "tap")],
    ),
    "cells": (
        "r,a\nr,b,c\nr\nr,d\n", "line 2: a row with the wrong number of cells",
        "a row with the wrong number of cells", [("r", "a"), ("r", "d")],
    ),
    "cycle": (
        LABELLED + "2,3,hose\n3,1,garden\n3,2,garden\n", "line 4: a cycle .3 < 2 < 3|2 < 3 < 2.",
        "a cycle", [("home", "garden"), ("garden", "hose")],
    ),
    "own parent": ("r,a\na,a\n", "line 2: a cycle", "a cycle", [("r", "a")]),
    "quote": (
        'r,a\nr,"b"x\nr,c\n', "line 2: a row that cannot be read",
        "a row that cannot be read", [("r", "a"), ("r", "c")],
    ),
    "bytes": (
        b"r,a\nr,\xff\nr,c\n", "line 2: a row that is no text",
        "a row that is no text", [("r", "a"), ("r", "c")],
    ),
    "control": (
        "r,a\nr,b\x01\n", "line 2: a control character", "a control character",
        [("r", "a"), ("r", "b")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_refused_with_their_line_or_mended(tmp_path, case):
    text, said, fault, expected = FAULTS[case]
    with pytest.raises(FormatError, match=said):
        load(tmp_path, text)
    repairs = RepairLog("shop", enabled=True)
    assert edges(load(tmp_path, text, repairs=repairs)) == expected
    assert set(repairs.counts) == {fault}


def test_an_open_quotation_mark_is_never_passed_over(tmp_path):
    for text in ('r,a\nr,"b\nr,c\nr,d\n', 'r,a\nr,"b\nr,c"x\n'):
        with pytest.raises(FormatError, match="line 2: a quotation mark that is not closed"):
            load(tmp_path, text, repairs=RepairLog("shop", enabled=True))


def test_lines_are_counted_through_cells_of_several_lines(tmp_path):
    with pytest.raises(FormatError, match="line 4: a row with the wrong number"):
        load(tmp_path, 'parent,child\nr,"a\nb"\nr,c,d\n')


def test_no_table(tmp_path):
    with pytest.raises(FormatError, match="no table"):
        load(tmp_path, "just words\n")
    for text in ("", "\n", "parent,child\n"):
        with pytest.raises(FormatError, match="no concept"):
            load(tmp_path, text)
    with pytest.raises(InputError):
        import_table(tmp_path / "none.csv", RepairLog("none"))
