"""Shopify's product taxonomy: the same categories in nine languages, and where it is opened."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from queryveil import UsageError, make_mapper, open_taxonomy
from queryveil.concepts import BUILT_IN, check_taxonomy
from queryveil.concepts.loaders.shop import FILE, LANGUAGES, SHOP_NAMES, name_in_language


def test_all_languages_are_built_in() -> None:
    assert set(SHOP_NAMES) <= set(BUILT_IN)
    assert sorted(SHOP_NAMES.values()) == sorted(LANGUAGES)


@pytest.mark.parametrize("name", SHOP_NAMES)
def test_each_language_is_a_sound_taxonomy(name: str) -> None:
    shop = open_taxonomy(name)
    assert all(check.holds for check in check_taxonomy(shop))
    assert shop.title == name
    assert shop.language == LANGUAGES[SHOP_NAMES[name]]


def test_concepts_are_the_same_in_every_language() -> None:
    english, polish = open_taxonomy("shop"), open_taxonomy("shop-pl")
    assert np.array_equal(english.names.bytes, polish.names.bytes)
    assert np.array_equal(english.parents.items, polish.parents.items)
    shoes = english.find("aa-8")
    assert (english.label(shoes), polish.label(shoes)) == ("Shoes", "Obuwie")


def test_an_id_is_below_the_id_that_it_begins_with() -> None:
    shop = open_taxonomy("shop")
    assert [shop.name(c) for c in shop.ancestors(shop.find("aa-8-1"))] == ["aa", "aa-8", "aa-8-1"]
    assert not shop.has_real_root


def test_it_is_opened_once() -> None:
    assert open_taxonomy("shop-de") is open_taxonomy("shop-de")


def test_an_alias_is_a_label_and_no_title() -> None:
    shop = open_taxonomy("shop")
    shoes = shop.find("aa-8-1")
    assert shop.label(shoes) == "Athletic Shoes"
    assert "running shoes" in shop.labels_of(shoes)


@pytest.mark.parametrize("language", ["german", "de", " DE "])
def test_the_language_selects_the_labels(language: str) -> None:
    assert make_mapper("shop", language=language).taxonomy.title == "shop-de"


def test_other_taxonomies_keep_their_name() -> None:
    assert name_in_language("wordnet", "german") == "wordnet"
    assert name_in_language("shop-fr", "fr") == "shop-fr"
    assert name_in_language("shop", None) == "shop"


def test_a_missing_language_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="danish") as error:
        make_mapper("shop", language="danish")
    assert "english, german, french" in str(error.value.hint)


def test_labels_of_another_language_than_asked_are_an_error() -> None:
    with pytest.raises(UsageError, match="labels of shop-fr are french") as error:
        make_mapper("shop-fr", language="german")
    assert error.value.hint == "use shop-de"


@pytest.mark.parametrize("name", ["shop:de", "shop-da"])
def test_a_wrong_name_is_an_error_that_names_those_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=name) as error:
        open_taxonomy(name)
    assert "shop-de" in str(error.value.hint)


def test_its_licence_and_sources_are_beside_it() -> None:
    assert "Copyright (c) Shopify" in FILE.with_name("LICENSE-shop.txt").read_text("utf-8")
    sources = FILE.with_name("SOURCES-shop.txt").read_text("utf-8")
    assert sources.count("categories.") == len(LANGUAGES)


def test_two_taxonomies_together() -> None:
    both = open_taxonomy("wordnet-nouns,shop")
    assert both.lookup("dog")
    assert both.find("aa-8-1")


@pytest.mark.parametrize(
    ("language", "query", "category"),
    [
        ("pl", "krzesło biurowe", "fr-12-2"),
        ("sv", "trädgårdsslang 25m", "hg-12-6-3"),
    ],
)
def test_queries_of_other_languages(language: str, query: str, category: str) -> None:
    mapping = make_mapper("shop", language=language).map(pl.Series([query]))
    assert mapping.to_polars()["name"].to_list() == [category]
