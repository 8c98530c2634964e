"""Counties and universities with their names, titles, stations, and words that join others."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.concepts import Mapper, open_taxonomy


@pytest.fixture(scope="module")
def mapper() -> Mapper:
    return Mapper(open_taxonomy("wordnet"))


def matches(mapper: Mapper, query: str) -> list[tuple[str, str]]:
    """Return phrase and label of the concept of each match of a query."""
    rows = mapper.map(pl.Series([query], dtype=pl.String)).to_polars().drop_nulls("concept")
    return rows.select("phrase", "label").rows()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kern county jobs", [("kern county", "county"), ("jobs", "occupation")]),
        ("orange county jail", [("orange county", "county"), ("jail", "jail")]),
        ("ball state university", [("ball state university", "university")]),
        (
            "university of arkansas volleyball camp",
            [("university of arkansas", "university"), ("volleyball camp", "camp")],
        ),
        ("lake tenkiller", [("lake tenkiller", "lake")]),
        ("city of yuma", [("city of yuma", "city")]),
        ("rhode island hotels", [("rhode island", "rhode island"), ("hotels", "hotel")]),
    ],
)
def test_a_landmark_with_its_name_is_one_phrase(
    mapper: Mapper, query: str, expected: list[tuple[str, str]]
) -> None:
    assert matches(mapper, query) == expected


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("hate it or love it lyrics", ["lyric"]),
        ("lyrics to bless this house", ["lyric"]),
        ("metallica lyrics", ["lyric", "metallica"]),
        ("movie theater", ["cinema"]),
    ],
)
def test_words_of_a_title_mean_nothing(mapper: Mapper, query: str, labels: list[str]) -> None:
    assert sorted(label for _, label in matches(mapper, query)) == labels


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("107 7 wivk", "radio station"),
        ("wilxtv", "television station"),
        ("212 555 0142", "phone number"),
        ("interstate 84", "highway"),
        ("koreanwomen", "woman"),
        ("thirtyplus", "web site"),
    ],
)
def test_shapes_and_joined_words_come_last(mapper: Mapper, query: str, label: str) -> None:
    assert [row[1] for row in matches(mapper, query)] == [label]


def test_a_title_that_looks_like_a_person_is_none(mapper: Mapper) -> None:
    assert [row[1] for row in matches(mapper, "anna karenina")] == ["book"]
