"""The verdict of the private report: one sentence, its color, and what to do next.

A release without a guarantee is never green, and measured values never improve a standing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..ledger.groups import OTHER_GROUPS_NOTE
from ..render.html import format_sentence
from .cards import PrivateCard, PublicCard
from .explanations import explain_condition, explain_guarantee
from .guarantee import SEEDED, Level
from .page import build_command, limits_of
from .risk_figures import RiskFigure, Severity

Color = Literal["good", "warn", "bad"]
_COLORS: dict[Severity, Color] = {
    Severity.LOW: "good",
    Severity.MEDIUM: "warn",
    Severity.HIGH: "bad",
}
_FEWEST = 11  # users of a group of low severity


def color_of(severity: Severity) -> Color:
    """Return the color of a severity."""
    return _COLORS[severity]


@dataclass(frozen=True)
class NextStep:
    """What the data owner can do, with its command if there is one."""

    text: str
    command: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a release.

    Attributes:
        title: The verdict in a few words.
        sentence: The reason, in one sentence.
    """

    color: Color
    title: str
    sentence: str
    next_steps: tuple[NextStep, ...]


def judge(card: PrivateCard, figures: Sequence[RiskFigure], *, attacked: bool = False) -> Verdict:
    """Return the verdict on a release.

    Args:
        figures: Its figures, the worst first.
        attacked: Whether `measure` was run on it.
    """
    color, title, sentence = _state(card.public, figures)
    steps = _list_next_steps(card.public, figures, attacked=attacked)
    return Verdict(color, title, sentence, tuple(steps))


def _state(card: PublicCard, figures: Sequence[RiskFigure]) -> tuple[Color, str, str]:
    if card.standing is Level.NOT_FOR_PUBLICATION:
        return "bad", "Do not publish", f"{_capital('; '.join(card.not_release_grade_because))}."
    broken = [figure for figure in figures if figure.breaks_guarantee]
    if broken:
        return "bad", "Do not publish: the guarantee is broken", f"{broken[0].sentence}."
    if card.standing is Level.RULE_ONLY:
        return _state_rule(figures)
    return _state_guarantee(card, figures)


def _state_rule(figures: Sequence[RiskFigure]) -> tuple[Color, str, str]:
    rule = "A rule was kept, and nothing is promised about a person"
    if not figures:
        return "warn", "Do not publish before it is measured", f"{rule}; nothing was measured."
    worst = figures[0]
    if worst.severity is Severity.HIGH:
        return "bad", "Do not publish as anonymous", f"{worst.sentence}. {rule}."
    return "warn", "Do not call this anonymous", f"{rule}. {worst.sentence}."


def _state_guarantee(card: PublicCard, figures: Sequence[RiskFigure]) -> tuple[Color, str, str]:
    guaranteed = _capital(explain_guarantee(card.guarantee) or card.standing_summary)
    worst = figures[0].severity if figures else Severity.MEDIUM
    color = color_of(worst)
    if worst is Severity.HIGH:
        return color, "Do not publish: a risk is high", f"{figures[0].sentence}. {guaranteed}."
    condition = []
    if explain_condition(card.guarantee):
        condition.append("if the condition of the guarantee is met")
    if OTHER_GROUPS_NOTE in card.notes:
        condition.append("if no other release of the same users is published")
    if condition:
        title = f"May be published only {' and '.join(condition)}"
        return "warn", title, f"{guaranteed}."
    if limits := limits_of(card):
        sentence = " ".join(map(format_sentence, (guaranteed, *limits)))
        return "warn", "May be published, if you accept what epsilon does not cover", sentence
    if worst is Severity.LOW:
        return color, "May be published", f"{guaranteed}."
    return color, "May be published, if you accept the remaining risk", f"{guaranteed}."


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _list_next_steps(
    card: PublicCard, figures: Sequence[RiskFigure], *, attacked: bool
) -> list[NextStep]:
    is_private = card.guarantee.epsilon is not None
    steps = _repairs(card, figures)
    if not attacked:
        text = "Measure what an attacker can do with this release"
        if is_private:
            text += " (the ledger records that the exact log was looked at)"
        steps.append(NextStep(f"{text}.", "queryveil measure LOG DIR"))
    if is_private:
        text = "See what all releases about these people cost together."
        steps.append(NextStep(text, "queryveil ledger show LOG"))
    if card.standing is Level.FORMAL:
        steps += [
            NextStep("Check the files as a reader would.", "queryveil verify DIR"),
            NextStep("Archive the public files, and only those.", "queryveil pack DIR"),
        ]
    return steps


def _repairs(card: PublicCard, figures: Sequence[RiskFigure]) -> list[NextStep]:
    """Return what removes the reasons of a verdict that is not green."""
    worst = figures[0].severity if figures else Severity.MEDIUM
    if card.standing is Level.NOT_FOR_PUBLICATION:
        if card.not_release_grade_because == (SEEDED,):
            return [NextStep("Run it again without a seed.", build_command(card))]
        text = "Remove the reasons above, or ask which method fits."
        return [NextStep(text, "queryveil advise LOG")]
    if card.standing is Level.RULE_ONLY:
        groups = "queryveil anonymize LOG --method semantic-microaggregation "
        return [
            NextStep("Choose a method with a guarantee about people.", "queryveil advise LOG"),
            NextStep(
                f"For example, let each released log be that of {_FEWEST} users or more.",
                f"{groups}--k {_FEWEST} --out OTHER_DIR",
            ),
            NextStep(
                "If this release must be shared, share it only with people who are bound by a "
                "contract, and treat it as personal data."
            ),
        ]
    k = card.guarantee.k
    if k and worst > Severity.LOW and k < _FEWEST:
        text = "See what larger groups would change."
        sweep = f"queryveil measure LOG DIR --sweep k={k},{_FEWEST},20"
        return [NextStep(text, sweep)]
    return []
