"""What a release may claim: on its card, its page, its descriptions and the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.release.guarantee import (
    SEEDED,
    Guarantee,
    Level,
    Model,
    standing_of,
    summarize_standing,
)

DAY = "2006-03-01 10:00:00"
USERS = [f"u{number}" for number in range(12)]
# Each user has a common query, and a pair of queries that two others share each: the pair is hers.
ROWS = [(user, "weather", DAY, None, None) for user in USERS] + [
    (user, f"topic {(place + step) % 12}", DAY, None, None)
    for place, user in enumerate(USERS)
    for step in (0, 1)
]


def guarantee(model: Model, **more: object) -> Guarantee:
    return Guarantee(model, "Little is told.", **more)


@pytest.mark.parametrize(
    ("promise", "against", "level"),
    [
        (guarantee("k-anonymity", k=5), (), Level.FORMAL),
        (guarantee("pure-dp", epsilon=10.0), (), Level.FORMAL),
        (guarantee("approx-dp", epsilon=1.0, delta=1e-9), (), Level.FORMAL),
        (guarantee("conditional-dp", epsilon=1.0, given="the lengths"), (), Level.FORMAL),
        (guarantee("none"), (), Level.RULE_ONLY),
        (guarantee("none"), (SEEDED,), Level.NOT_FOR_PUBLICATION),
        (guarantee("k-anonymity", k=5), ("a reason",), Level.NOT_FOR_PUBLICATION),
        (guarantee("pure-dp", epsilon=10.001), (), Level.NOT_FOR_PUBLICATION),
        (guarantee("approx-dp", epsilon=float("nan")), (), Level.NOT_FOR_PUBLICATION),
        (guarantee("pure-dp", epsilon=1.0, unit="query"), (), Level.NOT_FOR_PUBLICATION),
    ],
)
def test_it_follows(promise: Guarantee, against: tuple[str, ...], level: Level) -> None:
    found = standing_of(promise, against)
    assert found.level is level
    assert found.release_grade is bool(not found.because) is (level != "not-for-publication")
    assert set(against) <= set(found.because)


def test_a_condition_is_never_left_out() -> None:
    promise = guarantee("conditional-dp", epsilon=1.0, delta=1e-6, given="the lengths")
    assert summarize_standing(promise, Level.FORMAL) == (
        "differential privacy for a user's whole log, epsilon 1, delta 1e-06, only given that "
        "public is: the lengths"
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("frequent-queries:min-users=1", "only one user sent"),
        ("semantic-microaggregation:min-users=1", "only one user sent"),
        ("dp-statistics:mode=paper", "do not give the epsilon"),
        ("dp-statistics:epsilon=10.5", "epsilon is 10.5, above 10"),
        ("semantic-replacement:budget-unit=query:epsilon=0.5", "epsilon is 50, above 10"),
        ("semantic-replacement:keep-context-words=yes:preserve-length=yes", "no epsilon covers"),
        ("click-graph:output-kind=logs", "no guarantee covers that"),
        ("disconnected-graph", "one user alone"),
    ],
)
def test_parameters_that_speak_against_publication(line: str, reason: str) -> None:
    method = qv.parse_method(line)
    found = standing_of(method.guarantee(), method.reasons_not_to_publish())
    assert found.level is Level.NOT_FOR_PUBLICATION
    assert any(reason in why for why in found.because)


@pytest.mark.parametrize(
    "line",
    [
        "frequent-queries:min-users=2",
        "semantic-microaggregation",
        "dp-statistics",
        "semantic-replacement",
    ],
)
def test_usual_parameters(line: str) -> None:
    method = qv.parse_method(line)
    formal = method.guarantee().model != "none"
    assert (
        standing_of(method.guarantee(), method.reasons_not_to_publish()).level
        == ("rule-only", "formal")[formal]
    )


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    lines += [f"{user}\t{query}\t{time}\t\t" for user, query, time, _, _ in ROWS]
    Path("log.tsv").write_text("\n".join(lines) + "\n")
    return "log.tsv"


def everything(folder: Path) -> str:
    texts = [p.read_text("utf-8") for p in (folder / "public").iterdir() if p.suffix != ".parquet"]
    return "\n".join(texts)


def test_a_rule_alone_is_never_said_to_be_fit(log: str, cli) -> None:
    ran = cli("anonymize", log, "--method", "frequent-queries", "--min-users", "2", "--out", "out")
    assert ran.code == 0
    assert "may be published" not in ran.out
    assert "a rule only: nothing is promised about a person" in ran.out
    for command in ("verify", "pack"):
        ran = cli(command, "out")
        assert ran.code == 0
        assert "may be published" not in ran.out
        assert "a rule only: nothing is promised about a person" in ran.out
    public = everything(Path("out"))
    assert "release grade" not in public
    assert '<span class="badge warn">rule only</span>' in public
    assert "A rule only: nothing is promised about a person" in public
    card = json.loads(Path("out/public/release.json").read_text())
    assert (card["standing"], card["release_grade"]) == ("rule-only", True)


def test_a_formal_guarantee_is_told_with_its_numbers(log: str, cli) -> None:
    ran = cli("anonymize", log, "--method", "semantic-microaggregation", "--k", "4",
              "--no-include-clicks", "--out", "out")  # fmt: skip
    words = "k-anonymity with k = 4: each user's released log is that of at least 4 users"
    assert f"may be published: {words}" in ran.out
    page = Path("out/public/report.html").read_text()
    assert '<span class="badge good">formal guarantee</span>' in page
    assert "k-anonymity, k = 4" in page
    assert '"standing": "formal"' in Path("out/public/release.json").read_text()


def test_users_who_stay_together_are_warned_of(log: str, cli) -> None:
    """How many stand alone is told to the owner, on the screen and in private/, and no further."""
    ran = cli("anonymize", log, "--method", "frequent-queries", "--min-users", "2", "--out", "out")
    assert "Warning: all queries of a user stay together" in " ".join(ran.out.split())
    told = "12 of 12 released users have a released log that nobody else has"
    assert told in " ".join(ran.out.split())
    card = json.loads(Path("out/private/card.json").read_text())
    assert card["measured"]["uniqueness"]["singled_out_by_queries_alone"] == 12
    assert told in Path("out/private/report.html").read_text()
    assert "Do not publish as anonymous" in ran.out
    public = everything(Path("out"))
    assert "all queries of a user stay together" in public
    assert "nobody else has." not in public
    assert '"measured"' not in public


@pytest.mark.parametrize("link", ["session", "none"])
def test_rows_that_are_not_linked_need_no_warning(link: str) -> None:
    made = qv.anonymize(
        qv.QueryLog.from_rows(ROWS), f"frequent-queries:min-users=2:pseudonym-scope={link}"
    )
    assert (made.warnings, made.measured) == ((), {})


def test_a_plan_tells_the_standing(log: str, cli) -> None:
    ran = cli("plan", log, "--method", "dp-statistics", "--epsilon", "20")
    assert "Not for publication: epsilon is 20, above 10" in ran.out
    ran = cli("plan", log, "--method", "dp-statistics", "--json")
    assert json.loads(ran.out)["standing"] == "formal"
