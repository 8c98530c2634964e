"""A log that the taxonomy does not cover: refused where nothing is spent, else only noted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.methods.runner import run_method

sys.path.insert(0, str(Path(__file__).parents[2] / "privacy"))
GERMAN = [
    "günstige flüge nach mallorca",
    "telefonbuch",
    "kfz versicherung",
    "rückenschmerzen",
    "kartoffelsalat rezept",
    "fernsehprogramm heute",
    "stellenangebote",
    "wohnung mieten",
    "gebrauchtwagen",
    "steuererklärung frist",
    "bundesliga tabelle",
    "hautarzt",
    "kindergeld beantragen",
    "fahrrad reparieren",
    "urlaub an der ostsee",
    "handy vertrag kündigen",
    "arbeitsamt",
    "google",
    "gartenmöbel",
    "ebay kleinanzeigen",
    "routenplaner",
]
SHOP = [
    "nike air max 270",
    "ps5 controller",
    "iphone 14 case",
    "usb c hub",
    "hdmi cable 3m",
    "lego 75192",
    "dewalt dcd796",
    "mens running shoes",
    "coffee maker",
    "rtx 3080",
    "ssd 1tb nvme",
    "aa batteries",
    "red kettle",
]
SITES = [
    "google",
    "yahoo mail",
    "myspace.com",
    "ebay",
    "mapquest",
    "bank of america",
    "amazon.com",
    "youtube",
    "walmart",
    "southwest airlines",
    "weather",
    "home depot",
    "hotmail",
    "american idol",
    "lyrics",
    "dictionary",
    "used cars",
    "horoscope",
    "cheap flights to las vegas",
    "symptoms of lupus",
    "lottery results",
    "jobs",
]
BY_MEANING = ["semantic-microaggregation:k=3", "category-microaggregation:k=3"]
SPENDING = ["semantic-replacement", "concept-histogram", "profile-first"]


def log_of(queries: list[str], users: int = 30, each: int = 12) -> qv.QueryLog:
    return qv.QueryLog.from_rows(
        [(f"u{user}", queries[(user * 5 + n) % len(queries)], f"2006-03-01 10:{n:02}", None, None)
         for user in range(users) for n in range(each)]
    )  # fmt: skip


@pytest.mark.parametrize("line", BY_MEANING)
def test_a_log_in_another_language_is_refused_with_what_helps(line: str) -> None:
    with pytest.raises(qv.LanguageError, match=r"seems to be German: only \d+% of its") as told:
        qv.anonymize(log_of(GERMAN), line)
    assert "`language=de`" in str(told.value.hint)
    assert "`min_coverage=0`" in str(told.value.hint)
    assert not any(text in str(told.value) for text in GERMAN)
    release = qv.anonymize(log_of(GERMAN), f"{line}:min-coverage=0")
    assert release.guarantee.model == "k-anonymity"


@pytest.mark.parametrize("line", BY_MEANING)
@pytest.mark.parametrize("queries", [SHOP, SITES], ids=["shop", "sites"])
def test_an_english_log_is_taken(line: str, queries: list[str]) -> None:
    assert qv.anonymize(log_of(queries), line).parameters["min_coverage"] == 0.4


@pytest.mark.parametrize("about", [None, "disease,sport"])
def test_synthetic_logs_are_taken(about: str | None, tmp_path: Path) -> None:
    more = {"topics": about, "queries": 20} if about else {}
    qv.write_synthetic_log(tmp_path / "log.tsv", users=40, **more)
    for line in BY_MEANING:
        qv.anonymize(qv.read_log(tmp_path / "log.tsv"), line)


@pytest.mark.parametrize("line", ["string-microaggregation:k=3", "frequent-queries:min-users=2"])
def test_methods_without_meaning_take_any_language(line: str) -> None:
    assert qv.anonymize(log_of(GERMAN), line).guarantee.model in ("k-anonymity", "none")


def test_a_log_in_shares_is_judged_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of users with nothing but unknown words is no reason to refuse."""
    from in_shares import in_shares

    from queryveil.concepts.mapping.options import MappingOptions
    from queryveil.methods.microaggregation.blocking import repartition_by_similarity

    method = qv.parse_method("semantic-microaggregation:k=3")
    shares = in_shares(log_of(GERMAN)).table
    with pytest.raises(qv.CoverageError):
        method.repartition(shares, NoProgress())
    with pytest.raises(qv.CoverageError):
        repartition_by_similarity(
            shares, MappingOptions(), 3, 2, NoProgress(), covered=method.check_coverage
        )
    assert method.run_partition(log_of(GERMAN), RandomSource(), NoProgress()).generated
    monkeypatch.setattr(type(method), "repartition", lambda _, rows, __: rows)
    release = run_method(method, in_shares(log_of(SHOP)), RandomSource(), NoProgress())
    assert release.parameters["min_coverage"] == 0.4


# --- methods that spend --------------------------------------------------------------------------


@pytest.mark.parametrize("line", SPENDING)
def test_what_spends_never_refuses_by_coverage(line: str, tmp_path: Path) -> None:
    """How much is covered stands on the private card alone, and changes nothing else."""
    asked = f"{line}:domain=disease,sport:max-phrases-per-user=2"
    cards, figures = [], []
    for number, queries in enumerate((["qq vrr", "zz"], ["tennis", "golf"])):
        out = tmp_path / f"out{number}"
        qv.anonymize(log_of(queries), asked, ledger=f"{tmp_path}/").write(out)
        public = json.loads((out / "public" / "release.json").read_text("utf-8"))
        private = json.loads((out / "private" / "card.json").read_text("utf-8"))
        assert "coverage" not in json.dumps(public)
        cards.append({n: public[n] for n in ("noise", "notes", "guarantee", "parameters")})
        figures.append((private["input"]["coverage"], public["figures"]["rows"]))
    assert cards[0] == cards[1]
    assert figures[0] == (0.0, 60)
    assert figures[1][1] == 60
    assert figures[1][0] > 0


def test_the_spread_run_tells_the_owner_too() -> None:
    from in_shares import in_shares

    method = qv.parse_method(
        "semantic-replacement:domain=sport:max-phrases-per-user=2:criterion=nsqc"
    )
    release = run_method(method, in_shares(log_of(["zz", "tennis"])), RandomSource(), NoProgress())
    assert release.coverage == 0.5
    assert release.noise_statements == method.noise_statements()
