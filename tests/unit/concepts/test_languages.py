"""Queries in other languages on the concepts of WordNet, and the language of a log."""

from __future__ import annotations

import gzip
import tomllib
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping import language_data
from queryveil.concepts.mapping.explanation import explain_query
from queryveil.concepts.mapping.guessing import CODES, guess_language
from queryveil.concepts.mapping.language import get_language
from queryveil.concepts.mapping.language_data import PACKAGED, in_language, load_language_data
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.mapping.options import MappingOptions
from queryveil.concepts.mapping.tokens import tokenize

PACKAGES = Path(__file__).parents[3] / "packages"
CHAIR, SHOE, CAMERA = "n#03001627", "n#04199027", "n#02942699"
TEXTS = {
    "en": "where to buy good shoes\ncheap flights\nweather for the weekend\nused cars\nhotel near "
    "the beach\nhow to cook rice\nbirthday gifts for him\njobs\ntrain times\nflower shop\npizza "
    "recipe\nhouse for rent\nlearn english\nback pain\nlyrics of a song",
    "de": "wo kann man gute schuhe kaufen\ngünstige flüge\nwetter am wochenende\ngebrauchtwagen\n"
    "hotel am strand\nreis kochen\ngeschenke zum geburtstag\nstellenangebote\nfahrplan\n"
    "blumenladen\nrezept für pizza\nhaus mieten\nenglisch lernen\nrückenschmerzen\nliedtext",
    "fr": "où acheter de bonnes chaussures\nvols pas chers\nmétéo du week-end\nvoitures "
    "d'occasion\nhôtel près de la plage\ncuisson du riz\nidées de cadeaux d'anniversaire\noffres "
    "d'emploi\nhoraires des trains\nfleuriste\nrecette de pizza\nmaison à louer",
    "pl": "gdzie kupić dobre buty\ntanie loty\npogoda na weekend\nsamochody używane\nhotel przy "
    "plaży\njak ugotować ryż\nprezent na urodziny\noferty pracy\nrozkład jazdy\nkwiaciarnia\n"
    "przepis na pizzę\ndom do wynajęcia\nnauka angielskiego\nból pleców\ntekst piosenki",
}


@pytest.fixture(scope="module")
def german() -> Mapper:
    return Mapper(open_taxonomy("wordnet"), language="de")


@pytest.fixture(scope="module")
def french() -> Mapper:
    return Mapper(open_taxonomy("wordnet"), language="fr")


def names(mapper: Mapper, query: str) -> list[str]:
    return mapper.map(pl.Series([query])).to_polars()["name"].drop_nulls().to_list()


@pytest.mark.parametrize(
    "query", ["stuhl", "Stühle", "stuehle", "gartenstuhl", "weiße Gartenstühle kaufen"]
)
def test_german_plurals_umlauts_and_compounds(german: Mapper, query: str) -> None:
    assert names(german, query) == [CHAIR]


def test_what_is_no_noun_is_no_head(german: Mapper) -> None:
    assert names(german, "schuhe kaufen") == [SHOE]
    assert names(german, "schuhe rot") == [SHOE]


def test_an_accent_that_is_typed_counts(german: Mapper) -> None:
    barrier, cupboard = names(german, "schranke"), names(german, "schränke")
    assert barrier and cupboard and barrier != cupboard


@pytest.mark.parametrize(
    "query", ["chaise", "chaises de jardin", "petite chaise", "chaise d'enfant"]
)
def test_the_first_noun_is_the_head_in_french(french: Mapper, query: str) -> None:
    assert names(french, query)[0] == CHAIR


def test_two_things_are_two_concepts(french: Mapper) -> None:
    assert names(french, "chaises et chaussures") == [CHAIR, SHOE]


def test_addresses_brands_and_people_are_recognized(german: Mapper) -> None:
    table = german.map(pl.Series(["www.example-shop.de", "gmail", "jane kowalski"])).to_polars()
    assert table["how"].to_list() == ["address", "brand", "name"]


def test_a_phrase_is_found_again_in_its_query(french: Mapper) -> None:
    mapping = french.map(pl.Series(["bottes d'équitation et chaises"]))
    assert mapping.phrase_texts()["phrase"].to_list() == ["bottes d équitation", "chaises"]
    steps = explain_query(french, "chaises de jardin")
    assert steps.phrases[0].tried[-1] == "chaises"


def test_concepts_keep_their_numbers_and_get_labels_of_the_language() -> None:
    wordnet = open_taxonomy("wordnet-nouns")
    german = in_language(wordnet, "german")
    chair = wordnet.find("chair")
    assert (wordnet.label(chair), german.label(chair)) == ("chair", "stuhl")
    assert len(german) == len(wordnet)
    assert in_language(german, "de") is german
    assert in_language(wordnet, "en") is wordnet


def test_each_query_in_its_language() -> None:
    mapper = MappingOptions(language="en,de").mapper()
    queries = pl.Series(["garden chair", "wo kann man schuhe kaufen", "42"])
    table = mapper.map(queries).to_polars()
    assert table.filter(pl.col("query") == queries[1])["name"].to_list() == [SHOE]
    assert [language.name for language in mapper.languages] == ["english", "german"]
    assert mapper.for_query("wo kann man schuhe kaufen").language.name == "german"


@pytest.mark.parametrize("code", TEXTS)
def test_the_language_of_a_log(code: str) -> None:
    guessed = guess_language(pl.Series(TEXTS[code].split("\n")))
    assert guessed.code == code
    assert guessed.is_sure


def test_few_words_tell_nothing() -> None:
    assert not guess_language(pl.Series(["zapatos"])).is_sure


def log_of(code: str) -> qv.QueryLog:
    queries = TEXTS[code].split("\n")
    rows = [
        (f"u{n}", queries[(n + i) % len(queries)], None, None, None)
        for n in range(9)
        for i in range(9)
    ]
    return qv.QueryLog.from_rows(rows)


def test_a_k_anonymous_method_refuses_another_language() -> None:
    with pytest.raises(qv.LanguageError, match="seems to be German") as caught:
        qv.anonymize(log_of("de"), "semantic-microaggregation", k=3)
    assert "`language=de`" in caught.value.hint
    release = qv.anonymize(log_of("de"), "semantic-microaggregation", k=3, language="auto")
    assert release.parameters["language"] == "de"
    assert qv.measure(log_of("de"), release, "profile-divergence").value is not None
    with pytest.raises(qv.LanguageError, match="seems to be English"):
        qv.anonymize(log_of("en"), "semantic-microaggregation", k=3, language="fr")


def test_a_private_method_never_guesses_nor_refuses() -> None:
    with pytest.raises(qv.ParameterError, match="never guesses"):
        qv.parse_method("concept-histogram:language=auto")
    for queries in (log_of("de"), log_of("en")):
        method = qv.parse_method("semantic-replacement:max-phrases-per-user=2")
        assert method.fit(queries) is method


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_data, "_find_module", lambda _: None)
    with pytest.raises(qv.UsageError, match="words of Italian are not installed") as caught:
        Mapper(open_taxonomy("wordnet"), language="it", tagger="none")
    assert "pip install packages/queryveil-lang-it" in caught.value.hint


def test_a_thesaurus_in_another_language_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tiere.ttl"
    path.write_text(
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://x/> .\n"
        ":a a s:Concept ; s:prefLabel 'Tier'@de .\n:b s:broader :a ; s:prefLabel 'Katze'@de .\n",
        "utf-8",
    )
    with pytest.raises(qv.UsageError, match="are German, not French"):
        MappingOptions(str(path), "fr").mapper()


def test_profile_names_the_language() -> None:
    figures = qv.profile(log_of("de"), taxonomy="wordnet")
    assert figures.language is not None
    assert figures.language.code == "de"
    assert any("`language=de`" in note for note in figures.notes)
    mapped = qv.profile(log_of("de"), taxonomy="wordnet", language="auto")
    assert not any("`language=" in note for note in mapped.notes)
    assert (
        mapped.topics.queries_with_concept_fraction > figures.topics.queries_with_concept_fraction
    )


@pytest.mark.parametrize("code", PACKAGED)
def test_packages_are_complete(code: str) -> None:
    folder = PACKAGES / f"queryveil-lang-{code}"
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["queryveil.languages"] == {code: f"queryveil_lang_{code}"}
    assert "Apache" not in project["license"]["text"]
    assert list(folder.glob("LICENSE*"))
    readme = (folder / "README.md").read_text("utf-8")
    assert project["license"]["text"] in readme
    assert "SHA-256" in readme
    data = folder / "src" / f"queryveil_lang_{code}" / "words.tsv.gz"
    assert len(gzip.decompress(data.read_bytes()).splitlines()) > 3000
    nouns = load_language_data(get_language(code)).nouns
    known = open_taxonomy("wordnet-nouns").names.series()
    assert nouns["concepts"].explode().is_in(known.implode()).all()


@pytest.mark.parametrize("code", CODES)
def test_stop_words_are_single_words(code: str) -> None:
    words = sorted(get_language(code).stop_words)
    assert tokenize(pl.Series(words)).to_list() == [[word] for word in words]


def test_a_shortened_compound_is_no_head(german: Mapper) -> None:
    assert names(german, "Ski- & Gartenstühle") == [CHAIR]


def test_a_place_beside_the_head_is_a_phrase_of_its_own(german: Mapper) -> None:
    table = german.map(pl.Series(["krankenhaus köln"])).phrase_texts()
    assert table["phrase"].to_list() == ["krankenhaus", "köln"]


def test_english_nouns_are_found_last(german: Mapper) -> None:
    wordnet = open_taxonomy("wordnet")
    sideboard = wordnet.name(wordnet.lookup("sideboard")[0])
    assert names(german, "sideboards") == [sideboard]


def test_a_listed_word_is_no_plural_of_another(german: Mapper) -> None:
    assert names(german, "mondkuchen") == names(german, "kuchen") != names(german, "küche")
