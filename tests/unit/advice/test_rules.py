"""The table of rules: walked over every combination of answers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from queryveil.advice.answers import NEVERS, PURPOSES, RECIPIENTS, Answers
from queryveil.advice.evaluation import Evaluation, Observed, evaluate
from queryveil.advice.preventions import prevented_by
from queryveil.advice.rules import (
    FEWEST_QUERIES,
    MAX_PROPOSALS,
    RULES,
    STRENGTHS,
)
from queryveil.advice.strength import Chosen, delta_for
from queryveil.concepts.mapping import language_data
from queryveil.methods.base import Method, parse_method
from queryveil.release.guarantee import Guarantee, Level, standing_of
from queryveil.workflows.budget import is_differentially_private

USERS = (1, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000_000)
LANGUAGES = ("english", "finnish")
NEVER_SETS = [
    tuple(chosen) for n in range(len(NEVERS) + 1) for chosen in itertools.combinations(NEVERS, n)
]


@pytest.fixture(autouse=True, scope="module")
def languages_known() -> Iterator[None]:
    """Search for the data of each language once: that reads the names of all distributions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_data, "_find_module", cache(language_data._find_module))
        yield


@cache
def guarantee_of(method: Method) -> Guarantee:
    """Return the guarantee of a method; few methods are proposed for many combinations."""
    return method.guarantee()


@cache
def expectation_of(method: Method) -> Callable[[int], float] | None:
    """Return how many queries a method expects to release, by the number of users."""
    return method.expected_queries()


@cache
def all_evaluations() -> tuple[tuple[Answers, Evaluation], ...]:
    """Return every combination of answers with what the table gives."""
    combinations = itertools.product(RECIPIENTS, PURPOSES, USERS, LANGUAGES, NEVER_SETS)
    answers = [
        Answers(recipient=r, purpose=p, users=u, language=lang, never=never)
        for r, p, u, lang, never in combinations
    ]
    return tuple((one, evaluate(one)) for one in answers)


def all_proposals() -> Iterator[tuple[Answers, Chosen]]:
    for answers, evaluation in all_evaluations():
        for chosen in evaluation.proposed:
            yield answers, chosen


def test_every_combination_gives_advice_or_says_why_not() -> None:
    for answers, evaluation in all_evaluations():
        assert len(evaluation.proposed) <= MAX_PROPOSALS, answers
        if not evaluation.proposed:
            assert evaluation.verdict == "no"
            assert evaluation.excluded, answers
        assert all(exclusion.because for exclusion in evaluation.excluded)


def test_every_rule_is_reachable() -> None:
    reached = {chosen.rule.name for _, chosen in all_proposals()}
    assert reached == {rule.name for rule in RULES}
    assert len(reached) == len(RULES)  # names are different


def test_every_purpose_and_recipient_has_a_proposal() -> None:
    found = {(answers.recipient, answers.purpose) for answers, _ in all_proposals()}
    assert found == set(itertools.product(RECIPIENTS, PURPOSES))


def test_every_verdict_occurs() -> None:
    verdicts = {evaluation.verdict for _, evaluation in all_evaluations()}
    assert verdicts == {"yes", "with-care", "no"}


def test_every_method_parses_from_its_spec() -> None:
    for spec, method in {
        str(chosen.method): chosen.method for _, chosen in all_proposals()
    }.items():
        assert parse_method(spec) == method


def test_nothing_that_must_never_happen_is_left_open() -> None:
    """By the guarantee itself, which `preventions.py` reads too, but here in other words."""
    for answers, chosen in all_proposals():
        guarantee, never = guarantee_of(chosen.method), set(answers.never)
        private = guarantee.model in ("pure-dp", "approx-dp")
        if "depend-on-one-user" in never:
            assert private, (answers, chosen)
        if "identify-a-user" in never:
            assert private or guarantee.model == "k-anonymity", (answers, chosen)
        if "link-two-queries" in never:
            unlinked = chosen.method.params().get("pseudonym_scope") == "none"
            assert private or (guarantee.model == "none" and unlinked), (answers, chosen)
        if "reveal-a-rare-query" in never and not private:
            values = chosen.method.params()
            assert (values["min_users"] or values["k"]) >= 5, (answers, chosen)


@pytest.mark.parametrize(
    ("spec", "never"),
    [
        ("frequent-queries:pseudonym-scope=user", "link-two-queries"),
        ("frequent-queries:pseudonym-scope=none", "identify-a-user"),
        ("frequent-queries:min-users=4", "reveal-a-rare-query"),
        ("semantic-microaggregation:k=5:min-users=2", "reveal-a-rare-query"),
        ("semantic-microaggregation:k=50", "depend-on-one-user"),
        ("semantic-microaggregation:k=50", "link-two-queries"),
        ("semantic-replacement:domain=disease,sport", "depend-on-one-user"),
        ("semantic-replacement:budget-unit=query", "identify-a-user"),
        ("click-graph:output-kind=logs", "link-two-queries"),
    ],
)
def test_a_method_does_not_prevent_what_it_does_not_cover(spec: str, never: str) -> None:
    assert never not in prevented_by(parse_method(spec))


def test_the_public_gets_a_formal_guarantee_alone() -> None:
    for answers, chosen in all_proposals():
        method = chosen.method
        level = standing_of(guarantee_of(method), method.reasons_not_to_publish()).level
        assert level is not Level.NOT_FOR_PUBLICATION, chosen
        if answers.recipient == "public":
            assert level is Level.FORMAL, chosen


def test_parameters_are_defensible() -> None:
    for answers, chosen in all_proposals():
        guarantee = guarantee_of(chosen.method)
        if guarantee.model == "k-anonymity":
            assert guarantee.k is not None
            assert guarantee.k >= (10 if answers.recipient == "public" else 5)
        elif guarantee.model == "none":
            assert chosen.method.params()["min_users"] >= 10
        else:
            assert guarantee.epsilon is not None
            assert answers.users is not None
            assert guarantee.epsilon <= (2 if answers.recipient == "public" else 4)
            assert (guarantee.delta or 0) <= min(1e-6, 1 / (100 * answers.users))


def test_epsilons_rise_and_the_public_gets_the_strongest_parameters() -> None:
    for strength in STRENGTHS.values():
        assert list(strength.epsilons) == sorted(strength.epsilons)
    public = STRENGTHS["public"]
    for strength in STRENGTHS.values():
        assert public.k >= strength.k
        assert public.min_users >= strength.min_users
        assert public.epsilons[-1] <= strength.epsilons[-1]


def test_private_proposals_are_expected_to_release_something() -> None:
    for answers, chosen in all_proposals():
        expected = expectation_of(chosen.method)
        if expected is not None:
            assert answers.users is not None
            assert expected(answers.users) == chosen.expected_queries >= FEWEST_QUERIES


def test_more_users_never_take_a_proposal_away() -> None:
    """What fits a number of users fits a larger one, maybe with a smaller epsilon."""
    fits: dict[tuple[object, ...], list[bool]] = {}
    for answers, evaluation in all_evaluations():
        key = (answers.recipient, answers.purpose, answers.language, answers.never)
        fits.setdefault(key, []).append(bool(evaluation.proposed))
    for key, by_users in fits.items():
        assert by_users == sorted(by_users), key


def test_a_smaller_epsilon_is_taken_where_it_is_enough() -> None:
    trends = {"recipient": "partner", "purpose": "trends", "language": "english", "never": NEVERS}
    epsilons = [
        evaluate(Answers(users=users, **trends)).proposed[0].method.params()["epsilon"]
        for users in (10_000, 30_000, 1_000_000)
    ]
    assert epsilons == [4.0, 2.0, 1.0]


def test_a_thousand_users_and_epsilon_one_are_not_enough() -> None:
    answers = Answers.of(recipient="public", purpose="trends", users=1_000)
    evaluation = evaluate(answers)
    assert evaluation.verdict == "no"
    [exclusion] = evaluation.excluded
    assert "about 1 with epsilon 1" in exclusion.because
    assert exclusion.users_needed is not None
    enough = Answers.of(recipient="public", purpose="trends", users=exclusion.users_needed)
    assert evaluate(enough).proposed


def test_without_a_taxonomy_of_the_language_no_method_needs_one() -> None:
    for answers, chosen in all_proposals():
        if answers.language != "english":
            assert not chosen.rule.needs_taxonomy
    finnish = Answers.of(
        recipient="partner", purpose="user-modeling", users=5_000, language="Finnish"
    )
    assert [c.method.name for c in evaluate(finnish).proposed] == ["string-microaggregation"]
    own = Answers.of(
        recipient="partner",
        purpose="user-modeling",
        users=5_000,
        language="finnish",
        taxonomy="wordnet",
    )
    assert evaluate(own).proposed[0].method.name == "profile-first"
    assert {c.method.params().get("taxonomy") for c in evaluate(own).proposed[:2]} == {"wordnet"}


def test_a_look_changes_no_private_proposal() -> None:
    """Only the number of users of other methods, and whether users are grouped by meaning."""
    unknown = Answers.of(recipient="team", purpose="user-modeling")
    looked = evaluate(unknown, Observed(users=5_000, coverage=0.1))
    assert [chosen.method.name for chosen in looked.proposed] == ["string-microaggregation"]
    reasons = {exclusion.method: exclusion.because for exclusion in looked.excluded}
    assert "public figure" in reasons["profile-first"]
    assert "10% of the phrases" in reasons["semantic-microaggregation"]
    for answers, before in all_evaluations():
        if answers.never:
            continue
        after = evaluate(answers, Observed(users=77, coverage=0.0))
        private = [
            [c.method for c in one.proposed if is_differentially_private(c.method)]
            for one in (before, after)
        ]
        assert private[0] == private[1]


def test_no_prevention_says_more_than_the_guarantee() -> None:
    """Noise does not make a row nobody's, and a public list is not a taxonomy."""
    pure = prevented_by(parse_method("dp-statistics:mode=pure"))
    assert pure["reveal-a-rare-query"] == (
        "only texts of a public list can be released, no matter who sent them"
    )
    for spec in ("dp-statistics", "profile-first"):
        text = prevented_by(parse_method(spec))["identify-a-user"]
        assert "is bounded by the guarantee" in text
    rows = prevented_by(parse_method("frequent-queries:pseudonym-scope=none"))
    assert "from elsewhere" in rows["link-two-queries"]


def test_thresholds_need_many_users() -> None:
    for answers, chosen in all_proposals():
        if chosen.rule.chosen != "epsilon":
            value = chosen.method.params()[chosen.rule.chosen.replace("-", "_")]
            assert answers.users >= int(value) * chosen.rule.users_per_threshold


@pytest.mark.parametrize("users", [1, 7, 99, 1_000, 12_345, 10**10])
def test_delta_is_far_below_one_user(users: int) -> None:
    assert 0 < delta_for(users) <= 1 / (100 * users)
