"""The cards of every method: complete, and they follow from the files."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from releases import LOG_METHODS, Made, cards, line, made, make, once, population, seeded

import queryveil as qv
from queryveil.release.cards import PrivateCard
from queryveil.release.guarantee import standing_of
from queryveil.workflows.verification import verify

pytestmark = pytest.mark.usefixtures("one_mapper")


PUBLIC = {
    "schema", "queryveil", "method", "parameters", "guarantee", "standing", "release_grade",
    "not_release_grade_because", "warnings", "figures", "files", "notes", "noise",
    "identifiers", "sensitive",
}  # fmt: skip
GUARANTEE = {
    "model", "unit", "neighbours", "given", "k", "epsilon", "delta", "per_query_epsilon",
    "assumptions", "not_covered", "checks", "statement", "relation", "losses",
}  # fmt: skip
INTERNAL = {
    "input",
    "engine",
    "method_spec",
    "output",
    "generated",
    "dropped",
    "blanked",
    "ledger",
    "measured",
    "seconds",
    "peak_mb",
}
MODELS = {"k-anonymity", "pure-dp", "approx-dp", "conditional-dp", "none"}


def test_cards_are_complete(made: Made) -> None:
    public, internal = cards(made)
    assert public.keys() == PUBLIC
    assert public["guarantee"].keys() == GUARANTEE
    assert public["guarantee"]["model"] in MODELS
    assert public["guarantee"]["unit"] == "user"
    assert public["guarantee"]["assumptions"]
    assert public["guarantee"]["not_covered"]
    assert public["guarantee"]["checks"]
    # What was left to the method is shown as it was decided.
    decided = {"min_users": made.method.k, "max_member_fraction": 0.4} if made.shares_logs else {}
    assert public["parameters"] == made.method.params() | decided
    assert public["method"] == made.method.name
    assert public["queryveil"] == qv.__version__
    groups = {"sensitive_groups"} if made.method.guarantee().k else set()
    assert internal.keys() == public.keys() | INTERNAL | groups
    assert PrivateCard.from_dict(internal) == made.card
    assert {key: internal[key] for key in public} == public
    assert internal["input"].keys() >= {"rows", "users", "queries", "rejected", "sha256"}
    assert internal["seconds"].keys() >= {"write", "verify"}
    assert internal["engine"] == "local"
    assert internal["peak_mb"] > 10


def test_figures_of_the_public_card_follow_from_the_file(made: Made) -> None:
    rows = made.rows()
    has_kinds = len(rows[0]) == 6
    queries = [row for row in rows if not has_kinds or row[5] == "query"]
    figures = {
        "rows": len(rows),
        "ids": len({row[0] for row in rows}),
        "queries": len({row[1] for row in queries}),
        "urls": len({row[4] for row in rows} - {None}),
    }
    if has_kinds:
        figures["parts"] = len({row[1] for row in rows if row[5] == "part"})
    assert cards(made)[0]["figures"] == figures


def test_every_row_is_accounted_for(made: Made) -> None:
    card = cards(made)[1]
    rejected, dropped = card["input"]["rejected"], card["dropped"]
    lines = Path(made.log.sources[0].path).read_bytes().count(b"\n") - 1  # the header is no row
    total = len(made.rows()) + sum(dropped.values()) + sum(rejected.values())
    assert card["input"]["rows"] == lines == total - sum(card["generated"].values())
    assert sum(card["generated"].values()) <= len(made.rows())
    assert all(rows > 0 for rows in card["generated"].values())


def test_rows_that_cannot_be_read_are_accounted_for(
    line: str, population: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.tsv"
    log.write_bytes(
        population.read_bytes()
        + b"someone\ta query\tyesterday\t\t\n"  # rejected
        + b"someone\tq\t2006-03-01 10:00:00\tfirst\thttp://a.example\n"  # rejected
        + b"someone\t-\t2006-03-01 10:00:00\t\t\n"  # dropped
    )
    made = make(log, tmp_path / "out", line)
    card, lines = cards(made)[1], len(log.read_bytes().splitlines()) - 1
    assert sum(card["input"]["rejected"].values()) == 2
    total = card["output"]["rows"] + sum(card["dropped"].values()) + 2
    assert card["input"]["rows"] == total - sum(card["generated"].values()) == lines
    table = (tmp_path / "out" / "private" / "rejected.tsv").read_text().splitlines()
    assert [row.split("\t")[1] for row in table] == ["line", str(lines - 1), str(lines)]


def test_the_public_page_says_what_the_card_says(made: Made) -> None:
    public, internal = cards(made)
    page = unescape((made.public / "report.html").read_text("utf-8"))
    guarantee = public["guarantee"]
    for says in (guarantee["statement"], *guarantee["not_covered"], *guarantee["assumptions"]):
        assert says in page
    assert not re.search(r"<[^>]*\b(src|href|srcset|action)=", page)  # it needs nothing but itself
    for row in made.rows()[:3]:
        assert row[0] in page
    private = unescape((made.folder / "private" / "report.html").read_text("utf-8"))
    assert "do not publish" in private
    assert "do not publish" not in page
    assert f"{internal['input']['rows']:,}" in private


def test_a_seed_is_marked_as_not_for_publication(seeded: Made) -> None:
    public = cards(seeded)[0]
    assert public["release_grade"] is False
    assert any("seed" in reason for reason in public["not_release_grade_because"])
    assert "not for publication" in (seeded.public / "report.html").read_text()
    assert verify(seeded.folder).release_grade is False


def test_methods_for_publication() -> None:
    """What could be published once can be published still; a new method need not be here."""
    methods = [qv.parse_method(spec) for spec in LOG_METHODS]
    assert {method.name for method in methods if not method.reasons_not_to_publish()} >= {
        "frequent-queries",
        "semantic-microaggregation",
        "string-microaggregation",
        "category-microaggregation",
        "syntactic-microaggregation",
        "semantic-replacement",
        "profile-first",
        "concept-histogram",
    }


def test_without_a_seed_it_is_for_publication(made: Made) -> None:
    unfit = bool(made.method.reasons_not_to_publish())
    card = cards(made)[0]
    assert card["release_grade"] is not unfit
    assert bool(card["not_release_grade_because"]) is unfit
    follows = standing_of(made.method.guarantee(), made.method.reasons_not_to_publish())
    assert (card["standing"], card["release_grade"]) == (follows.level, follows.release_grade)
    assert card["not_release_grade_because"] == list(follows.because)
    assert card["warnings"] == list(made.method.warnings())
    assert ("not for publication" in (made.public / "report.html").read_text()) is unfit
