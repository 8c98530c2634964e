"""The default synthetic log measures like real ones, can be set, and names nobody."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import queryveil as qv
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.errors import ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.synthetic import LANGUAGES, LogFigures, measure_log, parse_shape
from queryveil.synthetic import generator as synthetic
from queryveil.synthetic.generator import generate_blocks, planned_rows
from queryveil.synthetic.shapes import LogShape, ShopShape
from queryveil.synthetic.vocabulary import read_topics
from queryveil.synthetic.words import _read_lists, _topics_of, load_words

USERS = 2_000


def make(users: int | None = None, **settings: Any) -> pl.DataFrame:
    return pl.concat(generate_blocks(users, **settings))


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    return make(USERS, seed=1)


@pytest.fixture(scope="module")
def figures(log: pl.DataFrame) -> LogFigures:
    return measure_log(QueryLog.from_clean_frame(log), Mapper(open_taxonomy("wordnet")))


# --- like real logs ------------------------------------------------------------------------------

# Samples of AOL's log. The last three were right in the classic shape already.
REAL = [
    ("addresses", 0.12, 0.21),
    ("most_frequent", 0.058, 0.072),
    ("repeats", 0.32, 0.39),
    ("locations", 0.09, 0.13),
    ("persons", 0.12, 0.16),
    ("words_per_query", 0.64, 0.80),
    ("pairs_with_common_query", 0.06, 0.11),
    ("one_event_sessions", 0.47, 0.53),
    # 1.29 in samples of AOL's log by an earlier mapping, which made no phrases of names and places.
    ("phrases_per_query", 1.30, 1.55),
    ("median_lines", 37, 70),
    ("longest_query", 300, 345),
    ("single_user_queries", 0.93, 0.97),
    ("clicks_per_event", 0.62, 0.72),
    ("rank_1", 0.38, 0.46),
]


@pytest.mark.parametrize(("name", "low", "high"), REAL)
def test_figure_is_like_that_of_real_logs(
    figures: LogFigures, name: str, low: float, high: float
) -> None:
    assert low <= getattr(figures, name) <= high


def test_classic_log_is_not_like_them() -> None:
    """The measure tells the shapes apart, so the test above can fail."""
    classic = measure_log(qv.make_log(500, seed=1, shape="classic"))
    outside = [
        name
        for name, low, high in REAL
        if (value := getattr(classic, name)) is not None and not low <= value <= high
    ]
    assert {"addresses", "most_frequent", "repeats", "median_lines", "longest_query"} <= {*outside}


def test_vocabulary_grows_with_the_log(figures: LogFigures) -> None:
    small = measure_log(qv.make_log(200, seed=1))
    words = [one.words_per_query * one.lines for one in (small, figures)]
    assert words[1] > 4 * words[0]


def test_some_users_are_heavy(log: pl.DataFrame) -> None:
    rows = log.group_by("user").len()["len"]
    assert rows.mean() == pytest.approx(80, rel=0.15)
    assert rows.max() > 1_000


def test_known_sites_are_the_head(log: pl.DataFrame) -> None:
    head = log.filter(pl.col("query") != "-")["query"].value_counts(sort=True)["query"].head(5)
    assert all(re.search("google|ebay|yahoo|mapquest|myspace", query) for query in head)


def test_kinds_of_queries(log: pl.DataFrame) -> None:
    queries = log["query"].unique()
    words = load_words()
    given, family = (
        "|".join(words.terms[first : first + count].to_list())
        for first, count in ((words.given, words.givens), (words.family, words.families))
    )
    patterns = {
        "person": rf"^({given}) ({family})$",
        "street": r"^\d+ [a-z]+ (street|avenue|road|drive|lane|court|boulevard)",
        "address": r"^www\.[a-z0-9-]+\.(com|example)",
        "sentence": r"^.{120,}$",
        "misspelled": r"^(gogle|googgle|gogole|yhaoo|goolge|mapuqest|eaby|googlee|ebbay|yaoho)",
        "plural": r"^[a-z]+(guitars|dogs|cats|cars|houses)?s$",
    }
    for kind, pattern in patterns.items():
        assert queries.str.contains(pattern).sum() >= 3, kind


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "figure", "rises"),
    [
        ("web:navigational=0.6", "addresses", True),
        ("web:repeats=0.05", "repeats", False),
        ("web:new-words=0", "words_per_query", False),
        ("web:median-lines=10", "median_lines", False),
        ("web:one-event=0", "one_event_sessions", False),
        ("web:addresses=0", "addresses", False),
    ],
)
def test_setting_moves_its_figure(shape: str, figure: str, rises: bool) -> None:
    before, after = (measure_log(qv.make_log(600, seed=2, shape=one)) for one in ("web", shape))
    ratio = getattr(after, figure) / getattr(before, figure)
    assert ratio > 1.15 if rises else ratio < 0.85


def test_shop_is_about_products() -> None:
    shop = qv.make_log(300, seed=1, shape="shop")
    found = measure_log(shop)
    assert found.median_lines < 10
    assert found.addresses < 0.08
    assert not shop.to_polars()["query"].cast(str).is_in(["cancer", "texas"]).any()


@pytest.mark.parametrize(
    "text",
    ["webb", "web:navigational=2", "web:speed=1", "web:mean-lines=10", "classic:repeats=0.1", "",
     "web:navigational=0.9:persons=0.2"],
)  # fmt: skip
def test_bad_shapes_are_refused(text: str) -> None:
    with pytest.raises((UsageError, ParameterError)) as caught:
        generate_blocks(10, shape=text)
    assert caught.value.hint


def test_shape_prints_as_its_spec() -> None:
    shape = LogShape(navigational=0.5, median_lines=20)
    assert str(shape) == "web:median-lines=20:navigational=0.5"
    assert parse_shape(str(shape)) == shape


# --- languages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_language(language: str) -> None:
    words = load_words(language)
    texts = words.terms.to_list()
    assert len(texts) - 1 >= words.sizes.sum() > 200
    assert words.sizes.min() >= 3
    assert all(text == text.strip().lower() for text in texts)
    log = make(60, seed=3, language=language)
    own = {*texts[1 : 1 + int(words.sizes.sum())]}
    split = log["query"].str.split(" ").explode()
    assert split.is_in([*own]).mean() > 0.15
    assert log["url"].drop_nulls().str.contains(r"^http://www\.[a-z0-9-]+\.example$").all()


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_topics_are_those_of_english(language: str) -> None:
    topics = {*_topics_of(_read_lists(language))}
    assert topics <= {*read_topics()}
    assert len(topics) >= 40


def test_unknown_language_is_refused() -> None:
    with pytest.raises(UsageError, match="language"):
        generate_blocks(10, language="xx")
    with pytest.raises(UsageError, match="English"):
        generate_blocks(10, language="de", shape="classic")


def test_streets_are_written_as_in_the_language() -> None:
    patterns = {
        "de": r"^[a-z]+(straße|weg|allee|gasse) \d+ ",
        "fr": r"^\d+ (rue|avenue|boulevard|place|chemin) [a-z]+ ",
        "es": r"^(calle|avenida|plaza|paseo) [a-z]+ \d+ ",
    }
    for language, pattern in patterns.items():
        assert make(400, seed=1, language=language)["query"].str.contains(pattern).any(), language


# --- sizes and seeds -----------------------------------------------------------------------------


def test_log_of_a_seed_is_pinned() -> None:
    """It is the same on every machine; a new figure of the shape or a new word changes it."""
    rows = repr(make(lines=5000, seed=7).rows())
    assert sha256(rows.encode()).hexdigest()[:16] == "63497909f880430f"


@pytest.mark.parametrize(
    ("users", "lines"), [(None, 1), (None, 777), (1, 1), (1, 20_000), (7, 7), (123, 4567)]
)
def test_exact_lines_and_users(users: int | None, lines: int) -> None:
    log = make(users, lines=lines)
    assert log.height == lines == planned_rows(users, lines=lines)
    assert log["user"].n_unique() == (users or max(1, round(lines / 80)))


def test_blocks_keep_users_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_ROWS", 1000)
    blocks = list(generate_blocks(lines=10_000))
    assert len(blocks) > 3
    users = [set(block["user"]) for block in blocks]
    assert sum(map(len, users)) == len(set.union(*users))
    assert sum(map(len, blocks)) == 10_000


# --- nobody's data -------------------------------------------------------------------------------


def test_clicked_addresses_are_reserved_ones(log: pl.DataFrame) -> None:
    assert log["url"].drop_nulls().str.contains(r"^http://www\.[a-z0-9-]+\.example$").all()


def test_typed_addresses_are_reserved_or_of_known_sites(log: pl.DataFrame) -> None:
    """An invented name with a real suffix could be somebody's site."""
    words = load_words()
    known = words.terms[words.host : words.host + words.sites].to_list()
    typed = log["query"].filter(log["query"].str.contains(r"\.com\b")).unique()
    stems = typed.str.extract(r"([a-z0-9]+)\.com")
    wrong = typed.filter(~stems.is_in(known))
    edits = [_edit_distance(stem, known) for stem in stems.filter(~stems.is_in(known)).drop_nulls()]
    assert max(edits, default=0) <= 1, wrong.to_list()


def _edit_distance(text: str, known: list[str]) -> int:
    """Return 1 if a known name becomes the text by one slip, else 2."""
    slips = {
        slip
        for name in known
        for at in range(1, len(name))
        for slip in (
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :],
        )
    }
    return 1 if text in slips else 2


def test_frequent_names_have_no_place(log: pl.DataFrame) -> None:
    """A name that somebody has, together with a town, could be taken for that person."""
    words = load_words()
    given, family = (
        "|".join(words.terms[first : first + count].to_list())
        for first, count in ((words.given, words.givens), (words.family, words.families))
    )
    places = "|".join(words.places[1:200].str.strip_chars().to_list())
    named = log["query"].str.contains(rf"^({given}) ({family}) ((in|near) )?({places})$")
    assert not named.any()


def test_identifiers_are_from_reserved_ranges(log: pl.DataFrame) -> None:
    numbers = log["query"].filter(log["query"].str.contains(r"\d{3}-\d{3}-\d{4}"))
    assert numbers.str.contains(r"-555-01\d\d").all()
    mails = log["query"].filter(log["query"].str.contains("@"))
    assert len(mails) > 0
    assert mails.str.contains(r"\.example$").all()


def test_figures_of_a_small_log() -> None:
    rows = [
        ("ann", "ebay.com", "2006-03-01 10:00:00", 1, "http://www.ebay.example"),
        ("ann", "ebay.com", "2006-03-01 12:00:00", 1, "http://www.ebay.example"),
        ("ann", "red car", "2006-03-01 12:01:00", None, None),
        ("bob", "ebay.com", "2006-03-01 10:00:00", 3, "http://www.ebay.example"),
        ("cat", "red dog", "2006-03-01 10:00:00", None, None),
        ("cat", "-", "2006-03-01 10:01:00", None, None),
    ]
    found = measure_log(QueryLog.from_rows(rows))
    assert (found.users, found.lines, found.longest_query) == (3, 5, 8)
    assert found.addresses == 3 / 5
    assert found.most_frequent == 1
    assert found.repeats == 1 / 3
    assert found.words_per_query == 5 / 3  # ebay, com, red, car, dog
    assert found.pairs_with_common_query == 1 / 3
    assert found.one_event_sessions == 3 / 4
    assert found.median_lines == 1
    assert found.single_user_queries == 2 / 3
    assert found.clicks_per_event == 3 / 5
    assert found.rank_1 == 2 / 3
    assert found.persons is None
    assert np.isclose(measure_log(qv.make_log(5)).lines, qv.make_log(5).count(), rtol=0.1)


def test_page_has_all_settings_with_their_defaults() -> None:
    page = Path(__file__).parents[3] / "docs" / "explanation" / "synthetic-log.md"
    text = page.read_text("utf-8")
    for web, shop in zip(LogShape.parameters(), ShopShape.parameters(), strict=True):
        option = web.name.replace("_", "-")
        assert f"| `{option}` | {web.default} | {shop.default} | {web.help} |" in text
