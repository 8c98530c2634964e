"""The owner's report: the card, what was measured, and other methods beside it."""

from __future__ import annotations

import pytest
from small_comparisons import Balanced, cells, compared

from queryveil.comparison.measured_risks import measured_figures
from queryveil.comparison.private_report import render_private_report
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures.result import MeasureResult
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.release.cards import PrivateCard
from queryveil.release.page import render_card
from queryveil.workflows.anonymization import anonymize

LINKED = MeasureResult(
    measure="linkage:known-queries=5",
    title="users found",
    unit="percent",
    better="lower",
    kind="risk",
    value=2.34771,
    baselines={"chance": 0.3},
    basis="a <basis>",
    summary="an attacker who knows five queries finds 7 of 300; guessing finds 1",
)
LOSS = MeasureResult("loss", "loss", "bits", "lower", "utility", 81.4, baselines={"chance": 85.44})
KEPT = MeasureResult(
    "kept", "kept", "share", "higher", "utility", None, skipped_because="no users' <logs>"
)
MEASURES = {result.measure: result for result in (LINKED, LOSS, KEPT)}


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> PrivateCard:
    lines = [(user, "weather", None, None, None) for user in "abcdef"]
    release = anonymize(QueryLog.from_rows(lines), FrequentQueries(min_users=5), seed=1)
    return release.write(tmp_path_factory.mktemp("owner") / "out")


def test_risk_is_told_in_words(card: PrivateCard) -> None:
    text = Balanced(render_private_report(card, dict(reversed(MEASURES.items())))).text
    for words in (
        "An attacker who knows five queries finds 7 of 300; guessing finds 1.", "2.348",
        "Basis: a <basis>.", "By chance: 85.44.", "linkage:known-queries=5; percent",
        "Not measured: no users' <logs>", "do not publish",
    ):  # fmt: skip
        assert words in text
    assert text.index("users found") < text.index("Not measured")  # risk first


def test_other_methods_stand_beside_it(card: PrivateCard) -> None:
    rows = [*cells("this release", {}, found=1.0, kept=0.5), *cells("m", {}, found=2.0, kept=0.6)]
    drawn = render_private_report(card, MEASURES, compared(rows))
    found = Balanced(drawn)
    assert "No other run beats this release." in found.text
    assert found.fetched == []


def test_nothing_measured_is_nothing_shown(card: PrivateCard) -> None:
    text = Balanced(render_private_report(card)).text
    assert "Measured risk and utility" not in text
    assert "Nothing has been measured" not in text  # unique users were counted with the release
    assert "In numbers" in text


def test_a_public_page_shows_no_measure(card: PrivateCard) -> None:
    assert "The worst figures first" not in render_card(card.public)
    with pytest.raises(UsageError, match="private data"):
        render_private_report(card.public, MEASURES)


def test_hostile_measures(card: PrivateCard) -> None:
    bad = "</td><script>hacked=1</script>"
    result = MeasureResult(bad, bad, bad, "lower", "risk", 1.0, summary=bad, basis=bad)
    found = Balanced(render_private_report(card, {bad: result}))
    assert [tag for tag, _ in found.seen].count("script") == 3


def test_measured_risks_are_stated_in_people(card: PrivateCard) -> None:
    def result(spec: str, value: float, **more: object) -> MeasureResult:
        return MeasureResult(spec, spec, "", "lower", "risk", value, **more)

    results = [
        result("record-linkage", 15.0, counts={"users": 1000}),
        result("partial-knowledge-linkage", 0.3, counts={"tries": 1000}, summary="it was tried"),
        result("uniqueness", 0.0, counts={"users": 50}),
        result("rare-query-exposure", 0.1, counts={"queries": 40, "rare": 1, "identifiers": 1}),
        result("membership-inference", 0.8),
        result("epsilon-audit", 3.0, counts={"right": 39, "guesses": 40}, details={"holds": False}),
        result("epsilon-audit:seed=2", 0.5, details={"holds": True}),
        result("of-somebody-else", 99.0),
    ]
    figures = measured_figures({one.measure: one for one in results})
    assert [figure.count for figure in figures] == [
        "150 of 1,000 users", "3 of 1,000 target users", "0 of 50 released users",
        "2 of 40 distinct released queries", "900 of 1,000 guesses", "39 of 40 guesses",
    ]  # fmt: skip
    assert [figure.severity.name for figure in figures] == [
        "HIGH", "MEDIUM", "LOW", "MEDIUM", "HIGH", "HIGH",
    ]  # fmt: skip
    assert [figure.breaks_guarantee for figure in figures].count(True) == 1
