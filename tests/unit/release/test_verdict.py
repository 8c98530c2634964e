"""The verdict of the private report: never better than the standing and the worst figure."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

import queryveil as qv
from queryveil.ledger.groups import OTHER_GROUPS_NOTE
from queryveil.ledger.reservation import LedgerReference
from queryveil.release.cards import OwnerMeasurement, PrivateCard
from queryveil.release.guarantee import LIMITING_NOTES, Guarantee, Level
from queryveil.release.page import card_view
from queryveil.release.private_page import owner_view, render_private_card
from queryveil.release.risk_figures import (
    EPSILON,
    GROUPS,
    PEOPLE,
    RiskFigure,
    Severity,
    collect_figures,
    people_figure,
)
from queryveil.release.verdict import Verdict, judge

K5 = Guarantee("k-anonymity", "", k=5)
RULE = Guarantee("none", "")
NOISE = Guarantee("approx-dp", "", relation="add-remove", epsilon=1.0, delta=1e-9)


@pytest.fixture(scope="module")
def made() -> PrivateCard:
    rows = [(user, "weather", None, None, None) for user in "abcdef"]
    log = qv.QueryLog.from_rows(rows)
    return qv.anonymize(log, qv.FrequentQueries(min_users=5)).preview_card()


def card_with(
    made: PrivateCard, guarantee: Guarantee, level: Level, unique: int | None = None, **more: object
) -> PrivateCard:
    public = replace(made.public, guarantee=guarantee, standing=level, **more)
    counted = {} if unique is None else {"uniqueness": OwnerMeasurement(961, unique, 0, 0.0, "")}
    return replace(made, public=public, measured=counted)


def verdict_of(card: PrivateCard, *measured: RiskFigure) -> Verdict:
    return judge(card, collect_figures(card, measured), attacked=bool(measured))


def linked(fraction: float) -> RiskFigure:
    return people_figure(fraction, 1000, "users", "are linked", "measured", "linkage")


def test_a_rule_with_unique_users_is_not_anonymous(made: PrivateCard) -> None:
    verdict = verdict_of(card_with(made, RULE, Level.RULE_ONLY, unique=957))
    assert (verdict.color, verdict.title) == ("bad", "Do not publish as anonymous")
    assert verdict.sentence.startswith("957 of 961 released users have a released log that nobody")


@pytest.mark.parametrize("unique", [None, 0, 5, 961])
def test_a_rule_is_never_green(made: PrivateCard, unique: int | None) -> None:
    verdict = verdict_of(card_with(made, RULE, Level.RULE_ONLY, unique))
    assert verdict.color != "good"
    assert "nothing is promised about a person" in verdict.sentence


def test_a_guarantee_is_colored_by_its_worst_figure(made: PrivateCard) -> None:
    card = card_with(made, replace(K5, k=20), Level.FORMAL)
    assert verdict_of(card).color == "good"
    assert verdict_of(card_with(made, K5, Level.FORMAL)).color == "warn"
    assert verdict_of(card, linked(0.0005)).color == "good"
    assert verdict_of(card, linked(0.05)).color == "warn"
    worst = verdict_of(card, linked(0.0005), replace(linked(0.2), key="other"))
    assert (worst.color, worst.title) == ("bad", "Do not publish: a risk is high")
    assert worst.sentence.startswith("200 of 1,000 users are linked.")


def test_reasons_against_publication_come_first(made: PrivateCard) -> None:
    card = card_with(
        made, K5, Level.NOT_FOR_PUBLICATION, not_release_grade_because=("a seed was given",)
    )
    verdict = verdict_of(card, linked(0.0))
    assert (verdict.color, verdict.title) == ("bad", "Do not publish")
    assert verdict.sentence == "A seed was given."


def test_a_broken_guarantee_is_not_published(made: PrivateCard) -> None:
    broken = replace(linked(0.0), breaks_guarantee=True, severity=Severity.HIGH)
    verdict = verdict_of(card_with(made, NOISE, Level.FORMAL), broken)
    assert (verdict.color, verdict.title) == ("bad", "Do not publish: the guarantee is broken")


def test_conditions_are_named(made: PrivateCard) -> None:
    given = replace(NOISE, given="the lengths of logs", epsilon=0.1)
    assert verdict_of(card_with(made, given, Level.FORMAL)).title == (
        "May be published only if the condition of the guarantee is met"
    )
    groups = card_with(made, replace(K5, k=20), Level.FORMAL, notes=(OTHER_GROUPS_NOTE,))
    verdict = verdict_of(groups)
    assert verdict.color == "warn"
    assert verdict.title.endswith("if no other release of the same users is published")


def test_bounds_grade_as_they_are_written() -> None:
    assert [PEOPLE.grade(x) for x in (0.0009, 0.001, 1 / 11, 0.1)] == [0, 1, 1, 2]
    assert [GROUPS.grade(1 / k) for k in (20, 11, 10, 5, 4, 2)] == [0, 0, 1, 1, 2, 2]
    assert [EPSILON.grade(x) for x in (0.1, 1, 1.01, 10, 10.1)] == [0, 0, 1, 1, 2]


def test_the_bound_on_guesses_follows_from_epsilon(made: PrivateCard) -> None:
    (figure,) = collect_figures(card_with(made, NOISE, Level.FORMAL))
    share = (math.e + 1e-9) / (math.e + 1)
    assert figure.count == f"At most {math.ceil(1000 * share)} of 1,000 guesses"
    huge = replace(NOISE, epsilon=5000.0)
    (figure,) = collect_figures(card_with(made, huge, Level.NOT_FOR_PUBLICATION))
    assert figure.count == "At most 1,000 of 1,000 guesses"


def test_worst_figures_come_first_and_three_open_the_page(made: PrivateCard) -> None:
    card = card_with(made, K5, Level.FORMAL, unique=0)
    more = [replace(linked(x), key=str(x)) for x in (0.0001, 0.3, 0.02)]
    view = owner_view(card, more)
    assert [figure.severity for figure in view.figures] == ["high", "medium", "medium"]
    assert view.figures[0].count == "300 of 1,000 users"
    assert {figure.severity for figure in view.other_figures} == {"low"}


def test_later_measurements_replace_the_same_figure_alone(made: PrivateCard) -> None:
    card = card_with(made, RULE, Level.RULE_ONLY, unique=957)
    assert len(collect_figures(card, [linked(0.1)])) == 3
    again = replace(linked(0.1), key="uniqueness")
    assert [figure.count for figure in collect_figures(card, [again])] == [
        "100 of 1,000 users",
        "0 of 961 released users",
    ]


def test_nothing_measured_has_the_command(made: PrivateCard) -> None:
    card = card_with(made, NOISE, Level.FORMAL)
    page = render_private_card(card)
    assert "Nothing has been measured yet." in page
    assert "queryveil measure LOG DIR" in page


def test_a_private_release_names_its_ledger(made: PrivateCard) -> None:
    card = replace(
        card_with(made, NOISE, Level.FORMAL), ledger=LedgerReference("a/ledger.db", 3, ("looked",))
    )
    first, second = owner_view(card).budget
    assert first == (
        "This release spent epsilon 1 and delta one in a billion (1e-9); it is entry 3 of "
        "a/ledger.db."
    )
    assert second == "Looked."


def test_groups_are_counted(made: PrivateCard) -> None:
    mapping = pl.DataFrame({"user": list("abcdefg"), "group": [1, 1, 1, 1, 2, 2, 2]})
    (text,) = owner_view(card_with(made, K5, Level.FORMAL), mapping=mapping).groups
    assert "7 users are in 2 groups: the smallest has 3 users" in text
    assert owner_view(made, mapping=mapping.select("user")).groups == ()


@pytest.mark.parametrize("note", LIMITING_NOTES)
def test_what_epsilon_does_not_cover_stands_beside_the_guarantee(
    made: PrivateCard, note: str
) -> None:
    """A look at the data, or rows that could stop the run: not green, and said at once."""
    usual = card_with(made, NOISE, Level.FORMAL)
    assert verdict_of(usual).color == "good"
    card = card_with(made, NOISE, Level.FORMAL, notes=(note,))
    verdict = verdict_of(card)
    assert verdict.color == "warn"
    assert note[1:] in verdict.sentence
    assert note[1:] in card_view(card.public).lead
    assert note[1:] not in card_view(usual.public).lead
