"""Phrases of web queries: misspelled words, places, brands, stems, compounds, known people."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.concepts import Mapper, open_taxonomy
from queryveil.concepts.mapping import web_rules


@pytest.fixture(scope="module")
def mapper() -> Mapper:
    return Mapper(open_taxonomy("wordnet"))


def rules(mapper: Mapper, query: str | None) -> list[tuple[str, str, str]]:
    """Return phrase, label of the concept and rule of each match of a query."""
    rows = mapper.map(pl.Series([query], dtype=pl.String)).to_polars().drop_nulls("concept")
    return rows.select("phrase", "label", "how").rows()


@pytest.mark.parametrize(
    ("query", "label"),
    [("bussiness", "business"), ("gogle", "google")],
)
def test_one_wrong_letter_is_corrected(mapper: Mapper, query: str, label: str) -> None:
    assert rules(mapper, query) == [(query, label, "misspelled")]


@pytest.mark.parametrize("query", ["xqzzyv", "gugl", "hte"])
def test_other_words_are_not_corrected(mapper: Mapper, query: str) -> None:
    assert rules(mapper, query) == []


def test_a_place_is_a_phrase_of_its_own(mapper: Mapper) -> None:
    assert [row[:2] for row in rules(mapper, "albuquerque hotels")] == [
        ("albuquerque", "albuquerque"),
        ("hotels", "hotel"),
    ]
    assert [row[2] for row in rules(mapper, "dallas texas hotels")] == ["town", "plural"]


def test_a_place_inside_the_name_of_a_person_is_none(mapper: Mapper) -> None:
    assert [row[1] for row in rules(mapper, "jane london")] == ["person"]


def test_a_brand_of_several_words_is_a_phrase_of_its_own(mapper: Mapper) -> None:
    assert [row[:2] for row in rules(mapper, "home depot coupons")] == [
        ("home depot", "home depot"),
        ("coupons", "coupon"),
    ]


def test_stems_match_only_forms_of_verbs(mapper: Mapper) -> None:
    assert rules(mapper, "decorating") == [("decorating", "decoration", "stem")]
    assert rules(mapper, "financial") == []  # no financier


@pytest.mark.parametrize(
    ("query", "label"),
    [("toyotafinancial", "toyota"), ("freebingogames", "game"), ("spedwaymotors", "motor")],
)
def test_compounds_mean_a_brand_or_their_last_noun(mapper: Mapper, query: str, label: str) -> None:
    assert rules(mapper, query) == [(query, label, "glued")]


def test_what_precedes_a_noun_of_little_meaning_is_matched_too(mapper: Mapper) -> None:
    assert {row[1] for row in rules(mapper, "herpes pictures")} == {"picture", "herpes"}


def test_known_people_come_last(mapper: Mapper, monkeypatch: pytest.MonkeyPatch) -> None:
    # These words are in no list; only the filter, as set here, knows them.
    monkeypatch.setattr(web_rules, "is_known_person", lambda texts: texts.str.contains("xqzzyv"))
    assert rules(mapper, "xqzzyv wlkjpq") == [("xqzzyv wlkjpq", "person", "name")]
    assert [row[1] for row in rules(mapper, "xqzzyv horse")] == ["horse"]


@pytest.mark.parametrize("query", [None, "", " ", "...", "\x00", "\ufeff\u202e", "\u0301"])
def test_texts_without_words_have_no_concept(mapper: Mapper, query: str | None) -> None:
    assert rules(mapper, query) == []


@pytest.mark.parametrize(
    "query", ["\U0001f697 car", "CAR", "\uff43\uff41\uff52 car", "car\u200b", "car\n\tcar"]
)
def test_odd_characters_do_not_hide_words(mapper: Mapper, query: str) -> None:
    assert {row[1] for row in rules(mapper, query)} == {"car"}


@pytest.mark.parametrize("query", ["a" * 10_000, "horse " * 1_667, "www." * 2_500, "'" * 10_000])
def test_long_texts_are_mapped_as_others(mapper: Mapper, query: str) -> None:
    assert {row[1] for row in rules(mapper, query)} <= {"horse", "web site"}


def test_a_query_is_mapped_alike_alone_and_among_others(mapper: Mapper) -> None:
    queries = ["bussiness", "albuquerque hotels", "toyotafinancial", "", "decorating", "gogle"]
    together = Mapper(mapper.taxonomy).map(pl.Series(queries)).to_polars()
    alone = pl.concat(Mapper(mapper.taxonomy).map(pl.Series([q])).to_polars() for q in queries)
    assert together.equals(alone)
