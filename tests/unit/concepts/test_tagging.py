"""Brill's tagger, against the same rules applied one word at a time."""

from __future__ import annotations

import random
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from queryveil.concepts.mapping.language import load_word_list
from queryveil.concepts.mapping.tagging import (
    MODIFIER,
    NOUN,
    OTHER,
    VERB,
    BrillTagger,
    NounTagger,
    word_classes,
)
from queryveil.concepts.mapping.tokens import Vocabulary
from queryveil.concepts.taxonomy.arrays import RaggedArray

LEXICON = dict(line.split() for line in load_word_list("lexicon"))
FORM = [line.split() for line in load_word_list("rules of form")]
CONTEXT = [line.split() for line in load_word_list("rules of context")]
NOUNS = {"NN", "NNS", "NNP", "NNPS"}
SENTENCE = {"TO", "MD", "PRP", "to", "n't"}
EDGE = ("STAART", "STAART")


# --- the plain version ---------------------------------------------------------------------------


def plain_lexical(word: str) -> str:
    """Tag a word by itself."""
    name = word[:1].upper() + word[1:]
    if word in LEXICON:
        return LEXICON[word]
    if LEXICON.get(name, "").startswith("NNP"):
        return LEXICON[name]
    if re.fullmatch(r"[0-9\-,.:/%$]+", word):
        return "CD"
    tag = "NN"
    for rule in FORM:
        conditional = rule[2].startswith("f") and rule[1] not in ("char", "hassuf", "addsuf")
        kind, x = (rule[2][1:], rule[1]) if conditional else (rule[1], rule[0])
        if conditional and tag != rule[0]:
            continue
        fits = {
            "char": x in word,
            "haspref": word.startswith(x),
            "hassuf": word.endswith(x),
            "addpref": x + word in LEXICON,
            "addsuf": word + x in LEXICON,
            "deletepref": word.startswith(x) and word[len(x) :] in LEXICON,
            "deletesuf": word.endswith(x) and word[: -len(x)] in LEXICON,
        }
        if fits.get(kind, False):  # a rule that looks at a neighbour is left out
            tag = rule[-2]
    return tag


def plain_fits(kind: str, x: str, y: str, t: list[tuple[str, str]], i: int) -> bool:
    """Tell whether a rule of context holds at a word; `t` are pairs of word and tag."""
    wx, wy = x.replace("'", ""), y.replace("'", "")
    word = [one for one, _ in t]
    tag = [one for _, one in t]
    return {
        "prevtag": lambda: x == tag[i - 1],
        "nexttag": lambda: x == tag[i + 1],
        "prev2tag": lambda: x == tag[i - 2],
        "next2tag": lambda: x == tag[i + 2],
        "prev1or2tag": lambda: x in (tag[i - 1], tag[i - 2]),
        "next1or2tag": lambda: x in (tag[i + 1], tag[i + 2]),
        "prev1or2or3tag": lambda: x in (tag[i - 1], tag[i - 2], tag[i - 3]),
        "next1or2or3tag": lambda: x in (tag[i + 1], tag[i + 2], tag[i + 3]),
        "surroundtag": lambda: x == tag[i - 1] and y == tag[i + 1],
        "curwd": lambda: wx == word[i],
        "prevwd": lambda: wx == word[i - 1],
        "nextwd": lambda: wx == word[i + 1],
        "prev1or2wd": lambda: wx in (word[i - 1], word[i - 2]),
        "next1or2wd": lambda: wx in (word[i + 1], word[i + 2]),
        "wdprevtag": lambda: x == tag[i - 1] and wy == word[i],
        "wdnexttag": lambda: wx == word[i] and y == tag[i + 1],
        "wdand2aft": lambda: wx == word[i] and wy == word[i + 2],
        "wdand2tagbfr": lambda: x == tag[i - 2] and wy == word[i],
        "wdand2tagaft": lambda: wx == word[i] and y == tag[i + 2],
        "lbigram": lambda: wx == word[i - 1] and wy == word[i],
        "rbigram": lambda: wx == word[i] and wy == word[i + 1],
        "prevbigram": lambda: x == tag[i - 2] and y == tag[i - 1],
        "nextbigram": lambda: x == tag[i + 1] and y == tag[i + 2],
    }[kind]()


def plain_tags(words: list[str]) -> list[str]:
    """Tag one query. A rule is tested against a word's own tag; the last that fits wins."""
    t = [EDGE] * 3 + [(word, plain_lexical(word)) for word in words] + [EDGE] * 3
    for i in range(3, len(t) - 3):
        word, old = t[i]
        new = old
        for was, becomes, kind, *operands in CONTEXT:
            if was not in (old, "*"):
                continue
            if was in NOUNS and becomes not in NOUNS and not SENTENCE & set(operands):
                continue
            x, y = operands[0], operands[1] if len(operands) > 1 else ""
            if plain_fits(kind.lower(), x, y, t, i):
                new = becomes
        t[i] = (word, new)
    return [tag for _, tag in t[3:-3]]


# --- what is tagged ------------------------------------------------------------------------------


def _pool() -> list[str]:
    """Words of every tag, all that a rule names, and some that no lexicon knows."""
    rng = random.Random(7)
    by_tag: dict[str, list[str]] = {}
    for word, tag in LEXICON.items():
        if re.fullmatch("[a-z]+", word):
            by_tag.setdefault(tag, []).append(word)
    some = [w for words in by_tag.values() for w in rng.sample(words, min(6, len(words)))]
    named = {one.replace("'", "").lower() for rule in CONTEXT for one in rule[3:]}
    named = {one for one in named if re.fullmatch("[a-z]+", one)}
    unknown = ["zqx", "zqxs", "zqxed", "zqxing", "zqxly", "london", "mp3", "2006", "windsurfing"]
    return sorted({*some, *named, *unknown})


POOL = _pool()
VOCABULARY = Vocabulary()
TAGGER = BrillTagger(VOCABULARY)
VOCABULARY.index(pl.Series(POOL))
QUERIES = st.lists(st.lists(st.sampled_from(POOL), max_size=7), max_size=6)


def tags_of(queries: list[list[str]]) -> list[list[str]]:
    numbers = VOCABULARY.index(pl.Series([w for query in queries for w in query], dtype=pl.String))
    texts = RaggedArray.from_sizes(np.array([len(query) for query in queries], np.int64), numbers)
    flat = TAGGER.names(texts)
    return [flat[texts.start[row] : texts.start[row + 1]] for row in range(len(texts))]


@given(QUERIES)
@example([])
@example([[], ["watch"], []])
@example([["such", "as", "as", "as"], ["you", "from", "watch"], ["you", "with", "diving"]])
@settings(max_examples=150)
def test_tags_against_one_word_at_a_time(queries: list[list[str]]) -> None:
    assert tags_of(queries) == [plain_tags(query) for query in queries]


@pytest.mark.parametrize("rule", [r for r in CONTEXT if r[0] == "*"], ids=" ".join)
def test_rules_for_words_of_any_tag(rule: list[str]) -> None:
    """After every word of the pool, so that another rule may want to change it too."""
    words = rule[3:]
    queries = [[one, *words, other] for one in POOL[::4] for other in ("be", "as", "dogs")]
    assert tags_of(queries) == [plain_tags(query) for query in queries]


def test_words_no_lexicon_knows_against_one_word_at_a_time() -> None:
    rng = random.Random(3)
    ends = sorted({x for rule in FORM for x in rule[:2] if re.fullmatch("[a-z]+", x)})
    known = [word for word in LEXICON if re.fullmatch("[a-z]{3,}", word)]
    words = {rng.choice(["", "un", "zq", "vix", "re"]) + rng.choice(known)[:-1] + rng.choice(ends)
             for _ in range(1500)}  # fmt: skip
    words |= {word.lower() for word in rng.sample(sorted(LEXICON), 500) if word.isalnum()}
    words |= {str(rng.randrange(10**9)) for _ in range(20)} | {"3d", "x9", "100s", "4th"}
    asked = sorted(word for word in words if word.isascii())
    assert [one for (one,) in tags_of([[word] for word in asked])] == [
        plain_tags([word])[0] for word in asked
    ]


def test_neighbours_in_other_queries_are_not_seen() -> None:
    rng = random.Random(5)
    queries = [rng.choices(POOL, k=rng.randrange(6)) for _ in range(300)]
    together = tags_of(queries)
    assert together == [tags_of([query])[0] for query in queries]
    assert together[::-1] == tags_of(queries[::-1])


@pytest.mark.parametrize(
    ("query", "tags"),
    [
        ("cheap hotels in paris", "JJ NNS IN NNP"),
        ("diving in the mediterranean", "VBG IN DT NNP"),
        ("windsurfing", "VBG"),
        ("to watch", "TO VB"),
        ("my watch", "PRP$ NN"),  # a verb of the lexicon, a noun after "my"
        ("phone with watch", "NN IN NN"),
        ("i want to book a hotel", "PRP VBP TO VB DT NN"),
        ("windows history", "NNS NN"),
        ("2006 elections", "CD NNS"),
        ("london", "NNP"),
    ],
)
def test_some_tags(query: str, tags: str) -> None:
    assert tags_of([query.split()]) == [tags.split()]


def test_kinds() -> None:
    texts = VOCABULARY.encode(pl.Series(["cheap hotels in paris", "", "watch windsurfing"]))
    assert TAGGER.word_classes(texts).tolist() == [MODIFIER, NOUN, OTHER, NOUN, VERB, NOUN]
    assert word_classes(["NNP", "NNPS", "VBN", "CD", "VBD", "DT", "", "STAART"]).tolist() == [
        NOUN, NOUN, MODIFIER, MODIFIER, VERB, OTHER, OTHER, OTHER,
    ]  # fmt: skip
    nothing = VOCABULARY.encode(pl.Series([], dtype=pl.String))
    assert TAGGER.word_classes(nothing).tolist() == []
    assert TAGGER.names(VOCABULARY.encode(pl.Series(["", "?"]))) == []


# --- the other taggers ---------------------------------------------------------------------------


def test_no_tagger_takes_all_for_nouns() -> None:
    texts = RaggedArray.from_lists([[4, 2], [], [9]])
    assert NounTagger().word_classes(texts).tolist() == [NOUN] * 3
    assert NounTagger().names(texts) == ["word"] * 3
