"""Queries of shops: the main noun of a label, its other words, compounds, and the data owner's."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

from queryveil.concepts import Mapper, explain_query, open_taxonomy
from queryveil.concepts.mapping.language import get_language
from queryveil.concepts.mapping.product_grammar import product_grammar
from queryveil.concepts.mapping.product_index import has_product_rules
from queryveil.concepts.mapping.product_words import WordPieces, parse_label


def heads(text: str, language: str) -> list[str]:
    label = parse_label(text, product_grammar(language))
    return [label.words[part.head] for part in label.parts]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Scarves & Shawls", "english", ["scarves", "shawls"]),
        ("Coat & Hat Racks", "english", ["racks"]),
        ("Mice & Trackballs", "english", ["mice", "trackballs"]),
        ("Haar- & Bartschneider", "german", ["bartschneider"]),
        ("Kamerataschen & -koffer", "german", ["kamerataschen", "koffer"]),
        ("Bademode für Babys & Kinder", "german", ["bademode"]),
        ("Elektrische & Powerduschen", "german", ["powerduschen"]),
        ("Housses d'oreiller et taies", "french", ["housses", "taies"]),
        ("Accesorios para cámaras y ópticas", "spanish", ["accesorios"]),
        ("3,5-mm-Switches", "german", ["switches"]),
    ],
)
def test_main_nouns_of_labels(text: str, language: str, expected: list[str]) -> None:
    assert heads(text, language) == expected


def test_a_word_of_other_products_may_describe_the_first() -> None:
    label = parse_label("Secadoras de suelos y alfombras", product_grammar("spanish"))
    rugs = label.parts[1]
    assert label.words[rugs.head] == "alfombras"
    assert {label.words[index] for index in rugs.choices} == {"secadoras", "suelos"}


def test_compounds_are_cut_at_known_words() -> None:
    pieces = WordPieces(get_language("german"), ["Betten".lower(), "kinder", "garten", "stühle"])
    assert pieces.of(["kinderbett", "gartenstuhl", "betten"]) == [
        ("kind", "bett"),
        ("gart", "stuhl"),
        ("bett",),
    ]
    assert pieces.is_sure(["kinderbett", "xyzbetten"]) == [True, False]


def test_english_words_are_cut_only_if_no_label_has_them() -> None:
    pieces = WordPieces(get_language("english"), ["books", "shelves", "keyboard", "keys", "board"])
    assert pieces.of(["bookshelf", "keyboards"]) == [("book", "shelf"), ("keyboard",)]


def test_typed_umlauts_and_accents() -> None:
    german = WordPieces(get_language("german"), [])
    assert german.of(["waesche"]) == german.of(["wäsche"])
    spanish = WordPieces(get_language("spanish"), ["sartenes", "altavoces"])
    assert spanish.of(["sarten", "altavoz"]) == spanish.of(["sartén", "altavoces"])
    assert spanish.of(["sarten"]) == spanish.of(["sartenes"])


@pytest.fixture(scope="module")
def mappers() -> dict[str, Mapper]:
    names = {"en": "shop", "de": "shop-de", "fr": "shop-fr", "es": "shop-es"}
    return {code: Mapper(open_taxonomy(name)) for code, name in names.items()}


def category(mapper: Mapper, query: str) -> str | None:
    names = mapper.map(pl.Series([query])).to_polars()["name"].to_list()
    return names[0] if names else None


@pytest.mark.parametrize(
    ("code", "query", "expected"),
    [
        ("en", "non stick frying pan 28cm", "hg-11-2-3-13-1"),
        ("en", "camera case for travel", "co-1-4-2"),
        ("en", "office chair with lumbar support", "fr-12-2"),
        ("en", "wrapping paper", "ae-3-1-5-5"),
        ("en", "wool socks", "aa-1-18"),
        ("en", "dog bed", "ap-2-9"),
        ("de", "kinderfahrrad 16 zoll", "sg-4-4-3-17"),
        ("de", "handtasche leder schwarz", "aa-5-4"),
        ("de", "Esstisch rund", "fr-24-4-2"),
        ("fr", "tuyau d'arrosage 25m", "hg-12-6-3"),
        ("fr", "sac à main cuir noir", "aa-5-4"),
        ("es", "funda de almohada seda", "hg-15-1-8-2"),
        ("es", "calcetines de lana", "aa-1-18"),
    ],
)
def test_queries(mappers: dict[str, Mapper], code: str, query: str, expected: str) -> None:
    assert category(mappers[code], query) == expected


@pytest.mark.parametrize("query", ["", "!!", "42", "zzzz qqqq", "小さい"])
def test_a_query_without_a_product(mappers: dict[str, Mapper], query: str) -> None:
    assert category(mappers["en"], query) is None


def test_a_noun_that_the_query_contradicts_is_not_mapped(mappers: dict[str, Mapper]) -> None:
    """There are fridges for wine, and no others of this name."""
    assert category(mappers["en"], "wine fridge") == "hg-11-7-51"
    assert category(mappers["en"], "fridge for bedroom") is None


def test_how_a_query_was_mapped(mappers: dict[str, Mapper]) -> None:
    queries = ["frying pans", "scarves", "red frying pan"]
    how = mappers["en"].map(pl.Series(queries)).to_polars()["how"].to_list()
    assert how == ["label", "label", "words"]
    (phrase,) = explain_query(mappers["en"], "red frying pan").phrases
    assert phrase.text == "red frying pan"
    assert phrase.label == "Frying Pans"


def test_each_query_has_one_phrase_and_nulls_have_none(mappers: dict[str, Mapper]) -> None:
    queries = pl.Series(["shoes", None, "desk lamp and chair", "shoes red"])
    phrases = mappers["en"].map(queries).phrases
    assert phrases["query"].to_list() == [0, 2, 3]
    assert phrases["begin"].to_list() == [0, 0, 0]
    assert phrases["words"].to_list() == [1, 4, 2]


def test_blocks_do_not_change_the_result(
    mappers: dict[str, Mapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = pl.Series(["shoes", "zzz", "desk lamp", "", "usb cable 2m"])
    together = mappers["en"].map(queries).phrases
    monkeypatch.setattr("queryveil.concepts.mapping.product_rules._BLOCK", 2)
    assert mappers["en"].map(queries).phrases.equals(together)


def test_terms_of_the_data_owner_come_first(mappers: dict[str, Mapper]) -> None:
    shop = mappers["en"].taxonomy
    terms = [("acme runner", shop.find("aa-8-1")), ("acme", shop.find("aa-2"))]
    mapper = Mapper(shop, custom_terms=terms)
    assert category(mapper, "red acme runners for men") == "aa-8-1"
    assert category(mapper, "acme shoes") == "aa-2"
    assert category(mapper, "acmes") == "aa-2"
    assert category(mapper, "shoes") == "aa-8"


def test_a_mapper_can_be_pickled(mappers: dict[str, Mapper]) -> None:
    again = pickle.loads(pickle.dumps(mappers["de"]))
    assert category(again, "kinderfahrrad") == "sg-4-4-3-17"


def test_only_a_taxonomy_of_products_has_these_rules() -> None:
    assert has_product_rules(open_taxonomy("shop"))
    assert not has_product_rules(open_taxonomy("wordnet-nouns"))
    assert not has_product_rules(open_taxonomy("wordnet-nouns,shop"))
