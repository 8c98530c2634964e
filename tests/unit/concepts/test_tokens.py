"""Words as numbers, languages, and words typed without a blank."""

from __future__ import annotations

import gc

import numpy as np
import polars as pl
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from stop_words import AVAILABLE_LANGUAGES

from queryveil.concepts.mapping.language import (
    CompoundSplitter,
    english_singulars,
    get_language,
    load_word_list,
)
from queryveil.concepts.mapping.tokens import Vocabulary, WordFeature, tokenize
from queryveil.errors import UsageError


def words_of(text: str) -> list[str]:
    return tokenize(pl.Series([text], dtype=pl.String)).to_list()[0]


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("   \t\n", []),
        ("?!., -- //", []),
        ("Alzheimer's", ["alzheimers"]),
        ("alzheimer\u2019s \u2018x\u2019 `y`", ["alzheimers", "x", "y"]),
        ("U.S.A. today", ["usa", "today"]),
        ("u.s. dept. of art", ["us", "dept", "of", "art"]),
        ("AT&T", ["at", "and", "t"]),
        ("arts & crafts", ["arts", "and", "crafts"]),
        ("e-mail_me/now", ["e", "mail", "me", "now"]),
        ("www.weather.com", ["www", "weather", "com"]),
        ("CAF\u00c9 M\u00dcNCHEN", ["caf\u00e9", "m\u00fcnchen"]),
        ("cafe\u0301", ["cafe\u0301"]),  # an accent of its own stays with its letter
        ("\u5317\u4eac \u9152\u5e97", ["\u5317\u4eac", "\u9152\u5e97"]),
        ("\u0645\u0631\u062d\u0628\u0627", ["\u0645\u0631\u062d\u0628\u0627"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("\U0001f642hotel\U0001f642bar", ["hotel", "bar"]),
        ("hotel\0bar", ["hotel", "bar"]),
        ("mp3 2006 3.5", ["mp3", "2006", "3", "5"]),
        ("father s day", ["fathers", "day"]),
        ("plan s", ["plans"]),
        ("x s x size", ["x", "s", "x", "size"]),
    ],
)
def test_the_words_of_a_text(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def _is_s(word: str) -> bool:
    """Whether it is an "s", with a sign that is no letter after it or not."""
    return word[:1] == "s" and not word[1:2].isalpha()


@given(st.lists(st.text(max_size=30), max_size=8))
def test_words_are_stable_and_texts_do_not_touch(texts: list[str]) -> None:
    together = tokenize(pl.Series(texts, dtype=pl.String)).to_list()
    turned = tokenize(pl.Series([*texts[::-1], *texts], dtype=pl.String)).to_list()
    assert turned == [*together[::-1], *together]
    assert all(all(words) for words in together)
    # An "s" of its own joins the word before it, so what is written anew may differ there.
    kept = [words for words in together if not any(map(_is_s, words))]
    written = pl.Series([" ".join(words) for words in kept], dtype=pl.String)
    assert tokenize(written).to_list() == kept


# --- numbers -------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.text("ab\u00e9\u5317 .&'", max_size=9), max_size=5), max_size=6))
@settings(max_examples=50)
def test_numbers_against_a_dictionary(batches: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    numbers: dict[str, int] = {}
    for texts in batches:
        lists = tokenize(pl.Series(texts, dtype=pl.String)).to_list()
        wanted = [[numbers.setdefault(w, len(numbers)) for w in words] for words in lists]
        found = vocabulary.encode(pl.Series(texts, dtype=pl.String))
        assert [found[row].tolist() for row in range(len(found))] == wanted
        assert vocabulary.words.to_list() == list(numbers)
        assert len(vocabulary) == len(numbers)


def test_numbers_stay_when_nothing_else_holds_them() -> None:
    vocabulary = Vocabulary()
    first = vocabulary.encode(pl.Series(["red car", "blue car"])).items.tolist()
    gc.collect()
    assert vocabulary.encode(pl.Series(["car green blue"])).items.tolist() == [1, 3, 2]
    gc.collect()
    assert vocabulary.encode(pl.Series(["red car", "blue car"])).items.tolist() == first
    assert vocabulary.words.to_list() == ["red", "car", "blue", "green"]


def test_vocabularies_do_not_share_numbers() -> None:
    one, other = Vocabulary(), Vocabulary()
    assert one.index(pl.Series(["a", "b"])).tolist() == [0, 1]
    assert other.index(pl.Series(["b", "c", "a"])).tolist() == [0, 1, 2]
    assert one.index(pl.Series(["c", "b"])).tolist() == [2, 1]


def test_many_words_are_numbered_in_the_order_of_their_first_use() -> None:
    words = [f"w{number * 7919 % 50_021}" for number in range(120_000)]
    numbers: dict[str, int] = {}
    wanted = [numbers.setdefault(word, len(numbers)) for word in words]
    assert Vocabulary().index(pl.Series(words)).tolist() == wanted


def test_texts_without_words() -> None:
    vocabulary = Vocabulary()
    assert len(vocabulary.encode(pl.Series([], dtype=pl.String))) == 0
    found = vocabulary.encode(pl.Series(["", "red", "...", "red"]))
    assert found.sizes.tolist() == [0, 1, 0, 1]
    assert found.items.tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_missing_text_has_no_words() -> None:
    found = Vocabulary().encode(pl.Series(["red", None, "car"]))
    assert found.sizes.tolist() == [1, 0, 1]
    assert found.items.tolist() == [0, 1]


def test_known_words_are_not_added() -> None:
    vocabulary = Vocabulary()
    vocabulary.index(pl.Series(["red", "car"]))
    asked = pl.Series(["car", "blue", "", None, "red", "car"])
    assert vocabulary.known(asked).tolist() == [1, -1, -1, -1, 0, 1]
    assert len(vocabulary) == 2
    assert Vocabulary().known(asked).tolist() == [-1] * 6


def test_words_that_were_taken_do_not_change() -> None:
    vocabulary = Vocabulary()
    vocabulary.index(pl.Series(["red"]))
    taken = vocabulary.words
    vocabulary.index(pl.Series(["blue"]))
    assert taken.to_list() == ["red"]


def test_a_figure_is_computed_once_a_word() -> None:
    vocabulary, asked = Vocabulary(), []

    def lengths(new: pl.Series) -> np.ndarray:
        asked.extend(new.to_list())
        return new.str.len_chars().to_numpy()

    figure = WordFeature(vocabulary, lengths)
    assert figure().tolist() == []
    vocabulary.index(pl.Series(["red", "blue"]))
    assert figure().tolist() == [3, 4]
    assert figure().tolist() == [3, 4]
    vocabulary.index(pl.Series(["blue", "x", "red"]))
    assert figure().tolist() == [3, 4, 1]
    assert asked == ["red", "blue", "x"]


def test_flags_hold_for_words_that_come_later() -> None:
    vocabulary = Vocabulary()
    chosen = vocabulary.flags({"blue", "x"})
    nothing = vocabulary.flags([])
    vocabulary.index(pl.Series(["red", "blue"]))
    assert chosen().tolist() == [False, True]
    vocabulary.index(pl.Series(["x", "y"]))
    assert chosen().tolist() == [False, True, True, False]
    assert nothing().tolist() == [False] * 4


# --- languages -----------------------------------------------------------------------------------

LANGUAGES = sorted({*AVAILABLE_LANGUAGES} & {*Stemmer.algorithms()})


def test_english_stop_words_carry_no_meaning() -> None:
    stop = get_language("english").stop_words
    assert {"the", "in", "of", "and", "is", "dont", "whats"} <= stop
    assert not {"area", "home", "act", "work", "us navy", "hotel"} & stop


@pytest.mark.parametrize("name", ["english", "English", "ENGLISH"])
def test_english(name: str) -> None:
    language = get_language(name)
    assert (language.name, language.has_tagger) == ("english", True)
    words = pl.Series(["windsurfing", "universities", "generally", "flies"])
    # Porter's first algorithm, not Snowball's English: "general", not "generalli".
    assert language.stem(words).to_list() == ["windsurf", "univers", "gener", "fli"]
    assert language.stem(pl.Series([], dtype=pl.String)).dtype == pl.String


@pytest.mark.parametrize(
    ("name", "stop", "word", "stem"),
    [
        ("german", "und", "katzen", "katz"),
        ("french", "les", "chevaux", "cheval"),
        ("spanish", "los", "gatos", "gat"),
        ("russian", "\u0438", "\u043a\u043e\u0448\u043a\u0438", "\u043a\u043e\u0448\u043a"),
    ],
)
def test_other_languages(name: str, stop: str, word: str, stem: str) -> None:
    language = get_language(name)
    assert not language.has_tagger
    assert stop in language.stop_words
    words = pl.Series([word])
    assert language.stem(words).to_list() == [stem]
    assert language.singulars(words)[-1].to_list() == [word]


def test_every_language_can_be_had() -> None:
    for name in LANGUAGES:
        language = get_language(name)
        assert len(language.stop_words) > 50, name
        assert len(language.stem(pl.Series(["a", "bb"]))) == 2, name


@pytest.mark.parametrize("name", ["english", "german", "french", "italian", "spanish", "dutch"])
def test_stop_words_are_written_as_words_of_queries_are(name: str) -> None:
    listed = sorted(get_language(name).stop_words)
    written = tokenize(pl.Series(listed)).to_list()
    assert [word for word, words in zip(listed, written, strict=True) if words != [word]] == []


@pytest.mark.parametrize(("name", "hint"), [("germn", '"german"'), ("x", "english"), ("", "a")])
def test_an_unknown_language_is_refused(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match="no stop words and stemmer") as caught:
        get_language(name)
    assert hint in caught.value.hint


# --- plurals -------------------------------------------------------------------------------------

IRREGULAR = dict(line.split() for line in load_word_list("irregular plurals"))


def plain_singulars(word: str) -> tuple[str, str]:
    """The rules again, one word at a time."""
    forms = (word, word)
    if len(word) >= 3 and not word.endswith("ss"):
        if word.endswith("ies"):
            forms = (word[:-3] + "y", word[:-3] + "ie")
        elif word.endswith("men"):
            forms = (word[:-3] + "man", word)
        elif word.endswith("es"):
            forms = (word[:-1], word[:-2])
        elif word.endswith("s"):
            forms = (word[:-1], word)
    return IRREGULAR.get(word, forms[0]), forms[1]


ENDINGS = st.sampled_from(["", "s", "es", "ies", "ss", "men", "sses", "x", "\u00e9s"])
PLURALS = st.builds(str.__add__, st.text("aebs\u00e9", max_size=5), ENDINGS)


@given(st.lists(PLURALS | st.sampled_from(sorted(IRREGULAR)), max_size=20))
@settings(max_examples=60)
def test_singulars_against_one_word_at_a_time(words: list[str]) -> None:
    found = english_singulars(pl.Series(words, dtype=pl.String))
    assert list(zip(*(form.to_list() for form in found), strict=True)) == [
        plain_singulars(word) for word in words
    ]


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("hotels", "hotel"),
        ("cities", "city"),
        ("movies", "movie"),
        ("mice", "mouse"),
        ("women", "woman"),
        ("buses", "bus"),
        ("houses", "house"),
        ("children", "child"),
        ("glass", "glass"),
        ("us", "us"),
        ("s", "s"),
        ("", ""),
    ],
)
def test_a_singular_is_among_the_two(plural: str, singular: str) -> None:
    assert singular in [form.to_list()[0] for form in english_singulars(pl.Series([plural]))]


# --- words typed without a blank -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "head"),
    [
        ("lawnmower", "mower"),
        ("freebingogames", "games"),
        ("bingogames", "games"),
        ("gamesgames", "games"),  # a last word may stand before, too
        ("freefreebingogames", ""),  # no more than two before
        ("games", ""),  # not glued
        ("xgames", ""),
        ("xxgames", ""),
        ("xyzgames", ""),
        ("lawn4mower", ""),
        ("lawn-mower", ""),
        ("lawncar", ""),  # "car" is too short for a last word
        ("carmower", "mower"),
        ("upmower", ""),  # "up" is too short to stand before
        ("pergames", ""),  # a word of its own
        ("", ""),
    ],
)
def test_the_last_of_glued_words(word: str, head: str) -> None:
    gluing = CompoundSplitter(
        {"games", "mower", "car"}, {"free", "bingo", "lawn", "car", "up", "per"}, {"pergames"}
    )
    assert gluing.last_word(word) == head


def test_the_longest_last_word_is_taken() -> None:
    gluing = CompoundSplitter({"room", "bathroom"}, {"big", "bigbath", "bath"}, ())
    assert gluing.last_word("bigbathroom") == "bathroom"


def test_words_that_are_too_short_or_too_long() -> None:
    gluing = CompoundSplitter({"abcd", "a" * 16}, {"xyz", "xy", "b" * 15, "b" * 14}, ())
    assert gluing.last_word("xyzabcd") == "abcd"
    assert gluing.last_word("xyabcd") == ""
    assert gluing.last_word("b" * 14 + "a" * 16) == "a" * 16
    assert gluing.last_word("b" * 15 + "a" * 16) == ""


PARTS = st.sampled_from(["aaa", "aaab", "baab", "ab", "b", "abab", "aaaaaa"])
SETS = st.sets(PARTS, max_size=6)


@given(SETS, SETS, SETS, st.lists(PARTS, max_size=4).map("".join))
def test_glued_words_against_all_ways_to_cut(
    heads: set[str], words: set[str], whole: set[str], word: str
) -> None:
    heads_kept = {head for head in heads if len(head) >= 4}
    before = {one for one in words if len(one) >= 3} | heads_kept
    starts = before | {one + other for one in before for other in before}
    ways = [head for head in heads_kept if any(start + head == word for start in starts)]
    possible = 7 <= len(word) <= 30 and word not in whole
    wanted = max(ways, key=len, default="") if possible else ""
    assert CompoundSplitter(heads, words, whole).last_word(word) == wanted
