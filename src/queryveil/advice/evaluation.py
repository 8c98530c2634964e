"""Walk the table of rules: which rows give a proposal, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..concepts.mapping.language import language_code
from ..concepts.mapping.language_data import install_hint
from ..methods.base import Method, parse_method
from ..release.explanations import explain_guarantee
from ..release.guarantee import standing_of
from .answers import Answers
from .commands import LogSource, name_method, write_commands, write_python
from .figures import shipped_figures
from .preventions import prevented_by
from .result import Exclusion, Proposal, Verdict
from .rules import FEWEST_QUERIES, MAX_PROPOSALS, RULES, Rule
from .strength import Chosen, choose, expected_queries, private_methods, users_for_queries

MIN_COVERAGE = 0.4  # of phrases with a concept; below, users cannot be grouped by meaning


@dataclass(frozen=True)
class Observed:
    """What a look at the log may change, and for methods that are not private alone.

    Attributes:
        users: The number of users, used where the data owner gave none.
        coverage: The fraction of phrases with a concept; below `MIN_COVERAGE`, methods that need
            a taxonomy are not proposed.
    """

    users: int
    coverage: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """The rows of the table that apply: what is proposed, and what is excluded."""

    proposed: tuple[Chosen, ...]
    excluded: tuple[Exclusion, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict: with care if the best proposal needs it."""
        if not self.proposed:
            return "no"
        first = self.proposed[0]
        return "with-care" if first.is_little or first.rule.care else "yes"


def evaluate(answers: Answers, observed: Observed | None = None) -> Evaluation:
    """Return what the table of rules gives for these answers.

    What was observed decides about methods that are not private alone: it neither adds nor removes
    a proposal of a private one, also where more than `MAX_PROPOSALS` rules are left.
    """
    unseen = _walk(answers, None)
    if observed is None:
        return unseen
    seen = _walk(answers, observed, len(RULES))
    private = [chosen for chosen in unseen.proposed if chosen.rule.chosen == "epsilon"]
    others = [chosen for chosen in seen.proposed if chosen.rule.chosen != "epsilon"]
    kept = [*private, *others[: MAX_PROPOSALS - len(private)]]
    proposed = tuple(chosen for chosen in seen.proposed if chosen in kept)
    return Evaluation(proposed, seen.excluded)


def _walk(answers: Answers, observed: Observed | None, most: int = MAX_PROPOSALS) -> Evaluation:
    proposed, excluded = list[Chosen](), list[Exclusion]()
    for rule in applicable_rules(answers):
        outcome = _try(rule, answers, observed)
        if isinstance(outcome, Chosen):
            proposed.append(outcome)
        else:
            excluded.append(outcome)
    proposed.sort(key=lambda chosen: chosen.is_little)  # the order of the table otherwise
    return Evaluation(tuple(proposed[:most]), tuple(excluded))


def applicable_rules(answers: Answers) -> Iterator[Rule]:
    """Yield the rules whose recipients and purposes contain the answers."""
    for rule in RULES:
        if answers.recipient in rule.recipients and answers.purpose in rule.purposes:
            yield rule


def _try(rule: Rule, answers: Answers, observed: Observed | None) -> Chosen | Exclusion:
    """Return the rule with its parameters, or the first reason that excludes it."""
    is_private = rule.chosen == "epsilon"
    users = answers.users
    if users is None and observed is not None and not is_private:
        users = observed.users
    method = parse_method(rule.method)
    if rule.needs_taxonomy and not answers.has_taxonomy:
        return _exclude(rule, method, _explain_language(answers))
    if rule.needs_taxonomy and not is_private and _is_uncovered(observed):
        return _exclude(rule, method, _explain_coverage(observed))
    chosen = choose(rule, answers, users or 1)
    broken = [never for never in answers.never if never not in prevented_by(chosen.method)]
    if broken:
        return _exclude(rule, chosen.method, f"it does not prevent: {', '.join(broken)}")
    if users is None:
        return _exclude(rule, method, "it needs the number of users as a public figure: `users=N`")
    if not chosen.is_enough:
        return _exclude_small(chosen, answers, users)
    return chosen


def _is_uncovered(observed: Observed | None) -> bool:
    coverage = observed.coverage if observed is not None else None
    return coverage is not None and coverage < MIN_COVERAGE


def _exclude(rule: Rule, method: Method, because: str) -> Exclusion:
    return Exclusion(rule.name, method.name, because)


def _private_methods(rule: Rule, answers: Answers, users: int) -> Iterator[Method]:
    return private_methods(rule, answers.recipient, answers.taxonomy, answers.query_language, users)


def _explain_language(answers: Answers) -> str:
    return (
        f"it needs a taxonomy, and the {answers.language} words of WordNet are not installed "
        f"({install_hint(language_code(answers.language))}); or import one with "
        "`import_taxonomy()` and name it with `taxonomy=FILE`"
    )


def _explain_coverage(observed: Observed | None) -> str:
    coverage = observed.coverage if observed is not None and observed.coverage is not None else 0
    return (
        f"only {coverage:.0%} of the phrases of this log have a concept of the taxonomy, and "
        f"{MIN_COVERAGE:.0%} are needed to group users by meaning"
    )


def _exclude_small(chosen: Chosen, answers: Answers, users: int) -> Exclusion:
    """Return why so few users are not enough, and how many would be."""
    needed = round_up(chosen.users_needed) if chosen.users_needed else None
    which = f"about {needed:,} users are needed" if needed else "no number of users would do"
    if chosen.expected_queries is not None:
        because = _explain_few_queries(chosen.rule, answers, users)
    elif chosen.rule.chosen == "epsilon":
        because = f"the interests of {users:,} users would mostly be noise; {which}"
    else:
        because = f"in a log of {users:,} users too few texts have enough users; {which}"
    return Exclusion(chosen.rule.name, name_method(chosen.method), because, needed)


def _explain_few_queries(rule: Rule, answers: Answers, users: int) -> str:
    """Return in words how many queries each allowed epsilon would release."""
    texts = []
    for method in _private_methods(rule, answers, users):
        number, needed = expected_queries(method, users), users_for_queries(method)
        epsilon = method.params()["epsilon"]
        which = f"{round_up(needed):,} users" if needed else "more users than exist"
        texts.append(f"about {number} with epsilon {epsilon:g}, which needs about {which}")
    return (
        f"too few queries of {users:,} users would be released ({FEWEST_QUERIES} are the fewest "
        f"that are of use): {'; '.join(texts)}"
    )


def round_up(number: int) -> int:
    """Round up to two digits, the precision of a forecast.

    >>> round_up(1_584), round_up(7)
    (1600, 7)
    """
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step


def propose(
    chosen: Chosen, answers: Answers, source: LogSource, observed: Observed | None = None
) -> Proposal:
    """Return the proposal of a rule, with its reasons, figures and lines to copy."""
    method, rule = chosen.method, chosen.rule
    users = answers.users or (observed.users if observed is not None else None)
    prevented = prevented_by(method)
    guarantee = method.guarantee()
    return Proposal(
        rule=rule.name,
        title=name_method(method),
        method=str(method),
        parameters=method.public_params(),
        standing=standing_of(guarantee, method.reasons_not_to_publish()).level,
        why=rule.why,
        keeps=rule.keeps,
        loses=rule.loses,
        meaning=explain_guarantee(guarantee),
        prevents={never: prevented[never] for never in answers.never},
        care=_explain_care(chosen),
        expected_queries=chosen.expected_queries,
        figures=shipped_figures(chosen, answers, users or 0),
        commands=write_commands(method, source, answers.users, rule.name),
        python=write_python(method, source, answers.users, rule.name),
    )


def _explain_care(chosen: Chosen) -> str | None:
    if chosen.is_little:
        return (
            f"only about {chosen.expected_queries:,} queries would be released, the most frequent"
        )
    return chosen.rule.care or None
