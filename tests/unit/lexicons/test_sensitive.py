"""Sensitive topics are found in queries of ten languages, and not in names that look alike."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.lexicons import TOPICS, flag_topics, topic_bits
from queryveil.lexicons.sensitive_terms import parse_terms, read_terms

FOUND = {
    "health": [
        "breast cancer support", "Alzheimer's disease", "swollen ankle pain", "www.webmd.com",
        "buy zoloft", "brustkrebs symptome", "rückenschmerzen", "rueckenschmerzen", "fausse couche",
        "dolor de cabeza", "mal di schiena", "zwangerschap", "dor nas costas", "ciąża objawy",
        "sjukdom hos barn", "kræft symptomer",
    ],
    "sexuality": ["gay bars", "free porn", "erotik filme", "lesbienne", "sexo", "naakt strand",
                  "seks", "homosexuell", "homoseksuel"],
    "religion": ["first baptist church", "quran verses", "katholische kirche", "mosquée paris",
                 "iglesia catolica", "chiesa evangelica", "moskee", "igreja", "kościół", "kyrka",
                 "kirke"],
    "politics": ["presidential election", "republican party donations", "bundestagswahl 2021",
                 "syndicat cgt", "elecciones", "elezioni", "verkiezingen", "eleições", "wybory",
                 "riksdag", "folketing"],
    "crime": ["county jail inmates", "how to make meth", "bail bonds", "vergewaltigung anzeige",
              "meurtre", "asesinato", "omicidio", "moord", "homicídio", "morderstwo", "brott",
              "voldtægt"],
    "self-harm": ["how to kill myself", "suicide hotline", "selbstmord", "idées suicidaires",
                  "suicidio", "zelfmoord", "samobójstwo", "självmord", "selvmord"],
}  # fmt: skip
HARMLESS = [
    "java virus scanner", "cancer zodiac sign", "church street", "party supplies",
    "gun lake casino", "great depression", "ford escort parts", "kidney bean recipe",
    "sex and the city", "suicide squad", "grand theft auto cheats", "credit union", "martial arts",
    "essex county", "roof shingles", "burglar alarm", "general hospital", "boston tea party",
    "medical school", "dog ear infection", "cheap flights", "weather", "united states map",
    "criminal justice degree", "tennis", "heart", "", "kristen", "gift ideas", "art museum",
]  # fmt: skip


@pytest.mark.parametrize(
    ("topic", "text"), [(topic, text) for topic, texts in FOUND.items() for text in texts]
)
def test_a_topic(topic: str, text: str) -> None:
    assert flag_topics(pl.Series([text]))[topic].item()


def test_what_looks_alike_is_harmless() -> None:
    bits = topic_bits(pl.Series(HARMLESS))
    assert [text for text, found in zip(HARMLESS, bits, strict=True) if found] == []


def test_a_text_may_have_several_topics() -> None:
    flags = flag_topics(pl.Series(["hiv and gay men in the catholic church"]))
    assert [name for name in TOPICS if flags[name].item()] == ["health", "sexuality", "religion"]


def test_a_text_is_judged_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the other texts nor their order nor the size of a part change what is found."""
    texts = pl.Series([text for some in FOUND.values() for text in some] + HARMLESS)
    together = topic_bits(texts)
    alone = [topic_bits(pl.Series([text])).item() for text in texts]
    assert together.to_list() == alone
    monkeypatch.setattr("queryveil.lexicons.sensitive._MAX_TEXTS", 7)
    assert topic_bits(texts.reverse()).to_list() == alone[::-1]


def test_nulls_and_nothing() -> None:
    assert topic_bits(pl.Series([None, "flu"], dtype=pl.String)).to_list() == [0, 1]
    assert topic_bits(pl.Series([], dtype=pl.String)).to_list() == []
    assert len(topic_bits(pl.Series(["church " * 5000]))) == 1


LISTS = """
[crime]
en: arson, bank robber
de: *raub, mörder*
[crime hint]
en: police, stolen
[harmless]
en: arson daily, traub
[place]
en: street
[context games]
en: game
[games cancels]
en: topic:crime
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [("arson", True), ("bank robbers", True), ("bank", False), ("arson daily", False),
     ("arson street", False), ("kunstraub", True), ("traub", False), ("moerderin", True),
     ("police", False), ("police police", False), ("stolen car police", True),
     ("arson game", False)],
)  # fmt: skip
def test_the_rules_of_the_lists(text: str, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = parse_terms(LISTS)
    monkeypatch.setattr("queryveil.lexicons.sensitive.read_terms", lambda: terms)
    assert (topic_bits(pl.Series([text])).item() != 0) is found


def test_every_topic_has_terms_in_every_language() -> None:
    from queryveil.lexicons.sensitive_terms import DATA, _split_lines

    lines = set()
    for section, language, term in _split_lines((DATA / "sensitive.txt").read_text("utf-8")):
        assert term, section
        assert "*" not in term.strip("*") and (" " not in term or "*" not in term), term
        lines.add((section, language))
    languages = {"en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da"}
    assert {(topic, language) for topic in TOPICS for language in languages} <= lines
    assert read_terms().longest >= 4
