"""Queries of the web: addresses, brands, sites, towns with their state."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.concepts import Mapper, Taxonomy, concept_distance, open_taxonomy
from queryveil.concepts.mapping.addresses import address_keys
from queryveil.concepts.mapping.web_lexicon import load_web_lexicon


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return open_taxonomy("wordnet")


@pytest.fixture(scope="module")
def mapper(wordnet: Taxonomy) -> Mapper:
    return Mapper(wordnet)


def mapped(mapper: Mapper, query: str) -> list[tuple[str, str, str]]:
    """Return label, label of the concept above, and rule of each concept of a query."""
    taxonomy = mapper.taxonomy
    rows = mapper.map(pl.Series([query])).to_polars().drop_nulls("concept")
    return [
        (row["label"], taxonomy.label(int(taxonomy.parents[row["concept"]][0])), row["how"])
        for row in rows.iter_rows(named=True)
    ]


@pytest.mark.parametrize(
    ("query", "label", "kind", "how"),
    [
        ("hotmail", "hotmail", "electronic mail", "brand"),
        ("www.hotmail.com", "hotmail", "electronic mail", "address"),
        ("http://www.google.com", "google", "search engine", "address"),
        ("yahoo com", "yahoo", "search engine", "address"),
        ("www.ticket master.com", "ticketmaster", "web site about films", "address"),
        ("mail.yahoo.com", "yahoo", "search engine", "address"),
        ("my space", "myspace", "social network", "brand"),
        ("bankofamerica", "bank of america", "depository financial institution", "brand"),
        ("ebay login", "ebay", "auction site", "brand"),
        ("wal-mart", "walmart", "department store", "brand"),
        ("h&m", "h and m", "clothing store", "brand"),
        ("target", "target", "department store", "brand"),
        ("gogle", "google", "search engine", "misspelled"),
        ("weather.com", "weather", "weather forecast", "address"),
        ("www.nobody-knows-this-site.com", "web site", "computer", "address"),
        ("nobody-knows-it.edu", "university", "educational institution", "address"),
        ("denver colorado", "denver", "state capital", "town"),
        ("murfreesboro tn", "city", "municipality", "town"),
        ("london england", "london", "national capital", "town"),
    ],
)  # fmt: skip
def test_a_rule_for_the_whole_query(
    mapper: Mapper, query: str, label: str, kind: str, how: str
) -> None:
    assert mapped(mapper, query) == [(label, kind, how)]


def test_an_everyday_word_is_a_brand_only_as_the_whole_query(mapper: Mapper) -> None:
    assert mapped(mapper, "apple")[0][1] == "computer"
    assert [label for label, _, _ in mapped(mapper, "apple pie")] == ["apple pie"]
    assert [label for label, _, _ in mapped(mapper, "target heart rate")] == ["pulse"]
    assert [label for label, _, _ in mapped(mapper, "weather")] == ["weather"]


def test_a_brand_inside_is_added_and_never_replaces_the_head(mapper: Mapper) -> None:
    both = mapped(mapper, "walmart jobs")
    assert {label for label, _, _ in both} == {"occupation", "walmart"}
    assert [label for label, _, _ in mapped(mapper, "doors")] == ["door"]


@pytest.mark.parametrize("query", ["x", "p", "www.com", "www.", ".com"])
def test_single_letters_and_empty_addresses_have_no_concept(mapper: Mapper, query: str) -> None:
    assert mapped(mapper, query) == []


def test_brands_of_one_kind_are_near_each_other(wordnet: Taxonomy) -> None:
    gmail, hotmail = wordnet.find("web:gmail"), wordnet.find("web:hotmail")
    mail, horse = wordnet.find("electronic mail"), wordnet.find("horse")
    assert concept_distance(wordnet, gmail, hotmail) < concept_distance(wordnet, gmail, horse)
    assert concept_distance(wordnet, gmail, mail) < concept_distance(wordnet, gmail, horse)


def test_names_map_to_the_concept_above_where_they_are_none() -> None:
    nouns = Mapper(open_taxonomy("wordnet-nouns"))
    assert [label for label, _, _ in mapped(nouns, "hotmail")] == ["electronic mail"]


def test_no_name_of_an_adult_site_is_a_label() -> None:
    lexicon = load_web_lexicon()
    hidden = {text for text, name in lexicon.aliases if name == "web:kind/adult site"}
    assert len(hidden) > 50
    assert not hidden & {*lexicon.concepts.labels}


def test_an_extended_taxonomy_keeps_wordnet(wordnet: Taxonomy) -> None:
    nouns = open_taxonomy("wordnet-nouns")
    for label in ("dog", "bank", "paris"):
        old = [nouns.name(c) for c in nouns.ancestors(nouns.lookup(label)[0])]
        assert {wordnet.name(c) for c in wordnet.ancestors(wordnet.lookup(label)[0])} == {*old}
    assert (wordnet.depths[1:] >= 2).all()


def test_an_e_mail_address_is_no_web_address() -> None:
    keys = address_keys(pl.Series(["jane@mail.example", "a.example", None]))
    assert keys["address"].to_list() == [False, True, False]


def test_a_full_name_is_a_person(mapper: Mapper) -> None:
    assert mapped(mapper, "jane kowalski")[0][::2] == ("person", "name")
    assert mapped(mapper, "george washington")[0][2] == "label"
    assert mapped(mapper, "jackson mississippi")[0][2] == "town"


def test_custom_terms_come_before_the_rules_of_the_web(wordnet: Taxonomy) -> None:
    horse = wordnet.find("horse")
    own = Mapper(wordnet, custom_terms=[("hotmail", horse), ("jane kowalski", horse)])
    for query in ("hotmail", "jane kowalski"):
        assert [label for label, _, _ in mapped(own, query)] == ["horse"]


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("jane kowalski obituary", ["person", "obituary"]),
        ("rosalind maria kowalczyk denver colorado", ["person", "denver"]),
        ("jimmybuffett", ["person"]),
        ("delfina santa monica", ["person", "city"]),
        ("martin luther king day", ["martin luther king jr's birthday"]),
    ],
)  # fmt: skip
def test_a_person_inside_a_query_is_a_phrase(mapper: Mapper, query: str, labels: list[str]) -> None:
    assert [label for label, _, _ in mapped(mapper, query)] == labels
