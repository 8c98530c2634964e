"""From queries to concepts: the examples of the papers, every way to find a label, odd queries."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence

import polars as pl
import pytest

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping import mapper as mapper_module
from queryveil.concepts.mapping.explanation import explain_query
from queryveil.concepts.mapping.language import load_word_list
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.mapping.result import ConceptMapping
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.merging import merge_taxonomies
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog

BATET = taxonomy_from_paths(
    [
        "Top/Sports/Water_Sports/Windsurfing",
        "Top/Sports/Water_Sports/Swimming_and_Diving",
        "Top/Regional/Europe/Mediterranean",
    ],
    "odp",
)


@pytest.fixture(scope="module")
def wordnet() -> Taxonomy:
    return open_taxonomy("wordnet")


@pytest.fixture(scope="module")
def english(wordnet: Taxonomy) -> Mapper:
    return Mapper(wordnet)


@pytest.fixture(scope="module")
def batet() -> Mapper:
    return Mapper(BATET)


def mapped(mapper: Mapper, *queries: str) -> ConceptMapping:
    return mapper.map(pl.Series("query", queries, dtype=pl.String))


def found(mapper: Mapper, query: str) -> list[tuple[str, str | None, str | None]]:
    """Each phrase of a query with its label and how that was found."""
    return mapped(mapper, query).to_polars().select("phrase", "label", "how").rows()


def labels(mapper: Mapper, query: str) -> list[str | None]:
    return [label for _, label, _ in found(mapper, query) if label is not None]


def plain(*labelled: str, **options: object) -> Mapper:
    """Map to categories below one root, taking every word for a noun."""
    paths = [f"Top/{label.replace(' ', '_')}" for label in labelled]
    return Mapper(taxonomy_from_paths(paths), **{"tagger": "none", **options})


# --- the examples of the papers ------------------------------------------------------------------


def test_a_query_of_batet(batet: Mapper) -> None:
    assert found(batet, "diving in the Mediterranean") == [
        ("diving", "Swimming and Diving", "part"),
        ("mediterranean", "Mediterranean", "label"),
    ]


def test_a_profile_of_batet(batet: Mapper) -> None:
    queries = ["diving in the Mediterranean", "windsurfing in the Mediterranean"]
    log = QueryLog.from_rows([("ann", query, None, None, None) for query in queries])
    sent = log.local_frame.select("query").unique().collect()["query"]
    profiles = batet.map(sent).profiles(log)
    concepts, counts = profiles.profile(0)
    assert profiles.users.to_list() == ["ann"]
    assert {BATET.label(c): n for c, n in zip(concepts.tolist(), counts.tolist(), strict=True)} == {
        "Swimming and Diving": 1,
        "Mediterranean": 2,
        "Windsurfing": 1,
    }


def test_the_same_query_in_wordnet(english: Mapper) -> None:
    assert found(english, "diving in the Mediterranean") == [
        ("diving", "diving", "label"),
        ("mediterranean", "mediterranean", "label"),
    ]


@pytest.mark.parametrize("query", ["windsurfing", "Windsurfing!", "cheap windsurfing"])
def test_a_gerund_is_a_noun(batet: Mapper, query: str) -> None:
    assert labels(batet, query) == ["Windsurfing"]


# --- which label ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("winter water sports", "Winter Water Sports"),
        ("cheap winter water sports", "Winter Water Sports"),
        ("big cheap water sports", "Water Sports"),
        ("winter sports", "Sports"),
        ("water winter sports", "Sports"),
        ("winter of the water sports", "Water Sports"),  # a stop word parts phrases
    ],
)
def test_the_longest_label_at_the_end(query: str, label: str) -> None:
    mapper = plain("Sports", "Water Sports", "Winter Water Sports", "Winter")
    assert labels(mapper, query)[-1] == label


def test_what_was_tried_on_the_way() -> None:
    told = explain_query(plain("Sports"), "big winter sports")
    (phrase,) = told.phrases
    assert phrase.tried == ("big winter sports", "winter sports", "sports")
    assert (phrase.label, phrase.concept) == ("Sports", "Top/Sports")
    assert phrase.ancestors == ("Sports",)
    (missed,) = explain_query(plain("Sports"), "big zebra").phrases
    assert missed.tried == ("big zebra", "zebra")
    assert (missed.label, missed.concept, missed.ancestors) == (None, None, ())


def test_words_are_dropped_from_the_left_first() -> None:
    mapper = plain("Water", "Zebra")
    assert found(mapper, "water zebra") == [("water zebra", "Zebra", "label")]
    # Nothing is found from the left: then words go from the right, which is a second try.
    table = mapped(mapper, "water zqx").to_polars()
    assert table.filter(pl.col("loose")).select("phrase", "label").rows() == [("water", "Water")]
    assert table.filter(~pl.col("loose")).select("phrase", "label").rows() == [("water zqx", None)]


@pytest.mark.parametrize(
    ("known", "query", "label", "how"),
    [
        (["Glass", "Glasses"], "glasses", "Glasses", "label"),
        (["Glass", "Glasses"], "glass", "Glass", "label"),
        (["Glass"], "glasses", "Glass", "plural"),
        (["University", "Universe"], "universities", "University", "plural"),
        (["Universe", "University"], "universes", "Universe", "plural"),
        (["Universe", "University"], "universality", "Universe", "stem"),
        (["University", "Universe"], "universality", "Universe", "stem"),  # by the alphabet
        (["News", "New"], "news", "News", "label"),
        (["New"], "news", "New", "plural"),
        (["Mouse"], "mice", "Mouse", "plural"),
    ],
)
def test_the_word_before_its_plural_before_its_stem(
    known: list[str], query: str, label: str, how: str
) -> None:
    assert found(plain(*known), query) == [(query, label, how)]


def test_a_longer_label_by_its_stem_beats_a_shorter_one() -> None:
    mapper = plain("Painting", "Oil Painting")
    assert found(mapper, "oils painting") == [("oils painting", "Oil Painting", "stem")]


@pytest.mark.parametrize(
    "joined",
    ["Arts and Crafts", "Arts & Crafts", "Arts or Crafts", "Arts, Crafts", "Arts, Music & Crafts"],
)
def test_a_joined_label_by_its_parts(joined: str) -> None:
    mapper = plain(joined)
    assert found(mapper, "crafts") == [("crafts", joined, "part")]
    assert found(mapper, "arts") == [("arts", joined, "part")]
    assert found(mapper, "craft") == [("craft", joined, "part stem")]
    assert labels(mapper, "arts crafts") == [joined]


@pytest.mark.parametrize("order", [1, -1])
def test_whole_labels_before_parts(order: int) -> None:
    mapper = plain(*["Arts and Crafts", "Craft"][::order])
    assert found(mapper, "crafts") == [("crafts", "Craft", "plural")]
    assert found(mapper, "arts") == [("arts", "Arts and Crafts", "part")]
    both = plain(*["Zebra and Horse", "Horse and Mule"][::order])
    assert found(both, "horse") == [("horse", "Horse and Mule", "part")]  # by the alphabet


def test_the_root_of_a_tree_is_no_label(batet: Mapper) -> None:
    assert labels(batet, "top") == []


def test_stop_words_in_labels() -> None:
    mapper = plain("Bank of America", "The Hague", "Bank")
    assert labels(mapper, "bank of america") == ["Bank of America"]
    assert labels(mapper, "bank america") == ["Bank of America"]
    assert labels(mapper, "the bank") == ["Bank"]


def test_glued_words(english: Mapper) -> None:
    assert found(english, "freebingogames") == [("freebingogames", "game", "glued")]


# --- queries that are no phrase ------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    ["www.weather.com", "http://www.weather.com", "https://weather.com/index.html", "weather.com"],
)
def test_an_address_by_its_name(query: str) -> None:
    assert labels(plain("Weather", "Index", "Com"), query) == ["Weather"]


def test_words_of_an_address_elsewhere() -> None:
    mapper = Mapper(taxonomy_from_paths(["Top/Weather", "Top/Index"]))
    assert labels(mapper, "weather index") == ["Index"]


def test_a_query_without_a_noun_is_tried_whole() -> None:
    mapper = Mapper(taxonomy_from_paths(["Top/Free", "Top/Very_Cheap", "Top/Watch"]))
    for query, label in (("free", "Free"), ("very cheap", "Very Cheap"), ("watch", "Watch")):
        assert labels(mapper, query) == [label]
    table = mapped(mapper, "free", "watch").to_polars()
    assert table["loose"].to_list() == [True, True]


def test_a_verb_is_a_noun_if_nothing_else_is_found() -> None:
    mapper = Mapper(taxonomy_from_paths(["Top/Watch", "Top/Phone"]))
    assert labels(mapper, "zqx watch") == ["Watch"]
    assert labels(mapper, "watch phone") == ["Phone"]


def test_a_second_try_takes_no_stems_and_no_short_words() -> None:
    mapper = plain("Universe", "Ab")
    assert labels(mapper, "universality") == ["Universe"]
    assert labels(mapper, "universality zqx") == []
    assert labels(mapper, "ab zqx") == []
    assert labels(mapper, "ab") == ["Ab"]


# --- odd queries ---------------------------------------------------------------------------------

ODD = [
    "",
    " ",
    "the",
    "of the",
    "the who",
    "to be or not to be",
    "...",
    "?!",
    "&",
    "'",
    "-",
    "a",
    "zqx the",
    "the zqx",
    "in hotel in",
    "hotel the",
    "the hague",
    "THE HAGUE",
    "\0",
    "hotel\0bar",
    "\U0001f642",
    "\U0001f642 hotel",
    "\u5317\u4eac \u9152\u5e97",
    "\u0645\u0631\u062d\u0628\u0627",
    "caf\u00e9",
    "cafe\u0301",
    "\u0130stanbul",
    "\u200b",
    "\ufeff",
    "\ud7ff",
    "x.com",
    "www",
    "www.com",
    "com",
    "http://",
    "1",
    "2006",
    "3.5%",
    "$",
    "\t\n",
]


@pytest.fixture(scope="module")
def warm(batet: Mapper) -> Mapper:
    """One that has seen the words of all odd queries: new words cost time."""
    mapped(batet, *ODD, "diving")
    return batet


@pytest.mark.parametrize("query", ODD, ids=ascii)
def test_odd_queries_alone(warm: Mapper, query: str) -> None:
    assert mapped(warm, query).to_polars()["label"].drop_nulls().to_list() == []
    assert explain_query(warm, query).query == query


def test_odd_queries_in_wordnet(english: Mapper) -> None:
    together = told_by_query(mapped(english, *ODD))
    alone = {query: told_by_query(mapped(english, query))[query] for query in ODD}
    assert together == alone
    assert [query for query in ("", "the", "of the", "...", "\0", "www.com") if alone[query]] == []


@pytest.mark.parametrize("query", ["the", "zqx the", "the who", "who the", "of the in"])
def test_stop_words_alone_mean_nothing(english: Mapper, query: str) -> None:
    assert labels(english, query) == []


def test_a_label_that_begins_with_a_stop_word_at_the_very_beginning(english: Mapper) -> None:
    hague = plain("The Hague")
    assert labels(hague, "the hague") == ["The Hague"]
    assert labels(english, "the hague") == ["the hague"]
    both = mapped(hague, "the hague", "zqx", "the hague hotel").to_polars()
    assert both["label"].drop_nulls().to_list() == ["The Hague"] * 2


@pytest.mark.parametrize("known", ["The Who", "Who", "It", "To Be or Not to Be"])
def test_a_label_of_stop_words_alone(known: str) -> None:
    mapper = plain(known, "Hotel")
    assert labels(mapper, known) == []
    assert labels(mapper, f"{known} hotel") == ["Hotel"]


def test_no_queries(batet: Mapper) -> None:
    nothing = mapped(batet)
    assert nothing.phrases.height == 0
    assert nothing.phrases.schema == mapped(batet, "diving").phrases.schema


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_missing_query_means_nothing(batet: Mapper) -> None:
    told = batet.map(pl.Series("query", ["diving", None, "mediterranean"]))
    assert told.phrases["query"].to_list() == [0, 2]
    assert told.has_concept.tolist() == [True, False, True]


@pytest.mark.parametrize(("tagger", "times"), [("none", 2_500), ("brill", 500)])
def test_a_very_long_query(tagger: str, times: int) -> None:
    words = " ".join(["windsurfing lessons in the"] * times)  # 10,000 words, and 2,000
    told = mapped(Mapper(BATET, tagger=tagger), "diving", f"{words} mediterranean", "diving")
    assert told.has_concept.all()
    # "windsurfing lessons" is no label and the query has one, so there is no second try.
    rows = told.phrases.select("query", "begin", "words", "concept").rows()
    sea, missed = BATET.find("Mediterranean"), [(1, 4 * n, 2, -1) for n in range(times)]
    assert rows[1:-1] == [*missed, (1, 4 * times, 1, sea)]


def test_a_phrase_of_40_000_words() -> None:
    mapper = plain("Zebra")
    told = mapped(mapper, "zqx " * 40_000 + "zebra", "zqx the " * 20_000 + "zebra")
    assert told.phrases.filter(pl.col("concept") >= 0)["begin"].to_list() == [0, 40_000]
    assert told.phrases.filter(pl.col("concept") >= 0)["words"].to_list() == [40_001, 1]


def test_a_long_query_in_which_nothing_is_found(batet: Mapper) -> None:
    told = mapped(batet, "zqx " * 1_000)
    assert told.phrases.select("words", "concept").rows() == [(1_000, -1)]


# --- a query does not depend on others -----------------------------------------------------------

QUERIES = [
    "diving in the mediterranean",
    "windsurfing",
    "the hague",
    "zqx the",
    "cheap hotels in paris",
    "steve atwater",
    "john smith florida",
    "banks",
    "bank",
    "universal studios",
    "university",
    "universities",
    "free",
    "free watch",
    "ebay watch",
    "watch",
    "www.weather.com",
    "weather",
    "to watch",
    "north carolina",
    "north",
    "carolina",
    "north carolina state university",
    "the",
    "",
    "new york times",
    "times",
    "red shoes red",
    "lawnmower parts",
    "mike",
    "mike tyson",
    "how to cook",
    "cook",
    "jaguar",
    "jaguars",
    "java",
    "mercury",
    "plant",
    "plants",
    "spring",
    "organization",
    "organ",
    "organs",
    "general",
    "generals",
    "policy",
    "police",
    "new",
    "news",
    "chicago emt",
    "emt",
    "phone with watch",
    "you from watch",
    "in",
    "zqx",
]


def told_by_query(told: ConceptMapping) -> dict[str, list[tuple[object, ...]]]:
    """What was found for each query, without its number."""
    rows: dict[str, list[tuple[object, ...]]] = {query: [] for query in told.queries.to_list()}
    names = told.queries.to_list()
    for number, *rest in told.phrases.rows():
        rows[names[number]].append(tuple(rest))
    return rows


@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_size_of_blocks_does_not_matter(
    english: Mapper, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    whole = mapped(english, *QUERIES)
    monkeypatch.setattr(mapper_module, "_BLOCK", size)
    assert mapped(english, *QUERIES).phrases.equals(whole.phrases)


def test_the_order_of_queries_does_not_matter(english: Mapper, wordnet: Taxonomy) -> None:
    rng = random.Random(1)
    first = told_by_query(mapped(english, *QUERIES))
    for _ in range(20):
        some = rng.sample(QUERIES, rng.randrange(1, len(QUERIES)))
        assert told_by_query(mapped(english, *some)) == {query: first[query] for query in some}
    fresh = Mapper(wordnet)  # its words have other numbers
    assert told_by_query(mapped(fresh, *QUERIES[::-1])) == first


def test_the_order_of_paths_does_not_matter_for_stems() -> None:
    known = [
        "Policy",
        "Police",
        "Organ",
        "Organize",
        "General",
        "Generic",
        "Universe",
        "University",
    ]
    asked = ["policed", "organs", "organized", "generalized", "universal", "polices", "generics"]

    def all_labels(names: Sequence[str]) -> list[list[str | None]]:
        mapper = plain(*names)
        return [labels(mapper, query) for query in asked]

    first = all_labels(known)
    assert all(first)
    assert all_labels(known[::-1]) == first


SCRIPT = """
import json, sys
import polars as pl
from queryveil.concepts import Mapper, open_taxonomy
told = Mapper(open_taxonomy("wordnet")).map(pl.Series("query", json.load(sys.stdin)))
print(json.dumps(told.phrases.rows()))
"""


def test_processes_agree(english: Mapper) -> None:
    asked = [query for query in QUERIES if query]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONHASHSEED": "4242"},  # here it is another one
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert json.loads(done.stdout) == [list(row) for row in mapped(english, *asked).phrases.rows()]


def test_the_most_usual_meaning_of_an_ambiguous_label(english: Mapper, wordnet: Taxonomy) -> None:
    usual = dict(line.split("\t") for line in load_word_list("usual meanings"))
    words = [word for word in ("spring", "mercury", "star") if word not in usual]
    assert len(words) > 2
    chance = [word for word in usual if word.isalpha()][:20]
    assert len(chance) == 20
    table = mapped(english, *words, *chance).to_polars()
    named = dict(table.select("query", "name").rows())
    for word in words:
        assert named[word] == wordnet.name(wordnet.lookup(word)[0]), word
        assert len(wordnet.lookup(word)) > 1, word
    for word in chance:  # where WordNet's first one is by chance
        assert named[word] == usual[word] != wordnet.name(wordnet.lookup(word)[0]), word


def test_the_first_category_of_an_ambiguous_label() -> None:
    for paths in (["Top/B/Java", "Top/A/Java"], ["Top/A/Java", "Top/B/Java"]):
        told = mapped(Mapper(taxonomy_from_paths(paths), tagger="none"), "java").to_polars()
        assert told["name"].to_list() == paths[:1]


# --- several taxonomies, own terms ---------------------------------------------------------------

SHOP = taxonomy_from_paths(["Shop/Tennis", "Shop/Water_Sports/Boards", "Shop/Weather"], "shop")
SPORT = taxonomy_from_paths(["Top/Sport/Tennis", "Top/Sport/Boards", "Top/Sport/Golf"], "sport")


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_taxonomy_that_knows_a_phrase_wins(turned: bool) -> None:
    parts = [SPORT, SHOP] if turned else [SHOP, SPORT]
    mapper = Mapper(merge_taxonomies(parts), tagger="none")
    told = mapped(mapper, "tennis", "boards", "golf", "weather").to_polars()["name"].to_list()
    own, other = ["Shop/Tennis", "Shop/Water_Sports/Boards"], ["Sport/Tennis", "Sport/Boards"]
    assert told == [*(other if turned else own), "Sport/Golf", "Shop/Weather"]


def test_the_first_taxonomy_wins_however_it_knows_the_phrase() -> None:
    one = taxonomy_from_paths(["A/Glass"], "one")
    other = taxonomy_from_paths(["B/Glasses"], "other")
    told = [
        mapped(Mapper(merge_taxonomies(parts), tagger="none"), "glasses")
        .to_polars()
        .row(0, named=True)
        for parts in ([one, other], [other, one])
    ]
    assert [(row["name"], row["how"]) for row in told] == [
        ("A/Glass", "plural"),
        ("B/Glasses", "label"),
    ]


def test_more_words_beat_the_first_taxonomy() -> None:
    mapper = Mapper(merge_taxonomies([SPORT, taxonomy_from_paths(["B/Table_Tennis"], "more")]))
    assert labels(mapper, "table tennis") == ["Table Tennis"]


def test_own_terms_beat_the_taxonomy(wordnet: Taxonomy) -> None:
    golf, board = SPORT.find("Golf"), SPORT.find("Boards")
    terms = [("tennis", golf), ("zqx 9000", board), ("Tee-Time", golf), ("golf", board)]
    mapper = Mapper(SPORT, custom_terms=terms, tagger="none")
    assert labels(mapper, "tennis") == ["Golf"]
    assert labels(mapper, "golf") == ["Boards"]
    assert labels(mapper, "cheap zqx 9000") == ["Boards"]
    assert labels(mapper, "TEE TIME") == ["Golf"]
    assert labels(mapper, "tee times") == ["Golf"]  # in the plural, too
    assert labels(mapper, "boards") == ["Boards"]
    assert labels(Mapper(SPORT, tagger="none"), "tennis") == ["Tennis"]
    dog = wordnet.find("dog")
    assert labels(Mapper(wordnet, custom_terms=[("mike", dog)]), "mike") == ["dog"]


def test_parts_of_an_own_term_do_not_beat_whole_labels() -> None:
    golf = SPORT.find("Golf")
    mapper = Mapper(SPORT, custom_terms=[("boards and tennis", golf)], tagger="none")
    assert labels(mapper, "boards and tennis") == ["Golf"]
    assert labels(mapper, "tennis") == ["Tennis"]


# --- names ---------------------------------------------------------------------------------------


def test_a_given_name_and_a_surname(english: Mapper, wordnet: Taxonomy) -> None:
    told = mapped(english, "steve atwater").to_polars()
    assert told.select("phrase", "label", "how").rows() == [("steve atwater", "person", "name")]
    assert told["name"].to_list() == ["n#00007846"]
    assert labels(english, "steve atwater phone number") != ["person"]
    assert labels(english, "paris") == ["paris"]


def test_a_town_that_wordnet_does_not_know(english: Mapper, wordnet: Taxonomy) -> None:
    known = set(wordnet.labels.series().str.to_lowercase())
    for kind, label in (("cities", "city"), ("towns", "town")):
        names = [n for n in load_word_list(kind) if n not in known and " " in n and n.isascii()]
        told = mapped(english, *names[:40]).to_polars()
        hits = told.filter(pl.col("label") == label)
        assert hits["query"].n_unique() > 30, kind


def test_names_mean_nothing_in_other_taxonomies(batet: Mapper) -> None:
    assert labels(batet, "steve atwater") == []


# --- other languages, taggers --------------------------------------------------------------------


def test_german() -> None:
    tiere = taxonomy_from_paths(["Top/Tiere/Katze", "Top/Wohnen/K\u00fcche", "Top/Und"], "de")
    mapper = Mapper(tiere, language="german")
    assert labels(mapper, "Katzen in der K\u00fcche und die Katze") == [
        "Katze",
        "K\u00fcche",
        "Katze",
    ]
    assert [how for *_, how in found(mapper, "die katzen")] == ["plural"]
    assert labels(mapper, "und") == []
    assert labels(Mapper(tiere), "die katzen") == []  # English stems do not fit


def test_taggers() -> None:
    with pytest.raises(UsageError, match="knows English, not german") as caught:
        Mapper(BATET, language="german", tagger="brill")
    assert "none" in caught.value.hint
    with pytest.raises(UsageError, match='no tagger "bril"') as caught:
        Mapper(BATET, tagger="bril")
    assert caught.value.hint == 'did you mean "brill"?'
    with pytest.raises(UsageError, match="klingon"):
        Mapper(BATET, language="klingon")
    assert labels(Mapper(BATET, tagger="brill"), "diving") == ["Swimming and Diving"]
