"""The public page of a release, one self-contained file: its view model, which a template draws."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.parameters import Parameter
from ..core.records import Scalar
from ..render.html import format_sentence, render_page
from .cards import PublicCard
from .checks import describe_check
from .explanations import explain_condition, explain_guarantee
from .guarantee import LIMITING_NOTES, Guarantee, Level
from .metadata import releases_log
from .parameter_texts import ParameterView, describe_parameters, describe_value
from .samples import Samples, SampleTable, sample_tables

_MODELS = {
    "none": "No formal guarantee: a rule was kept",
    "k-anonymity": "k-anonymity",
    "pure-dp": "Differential privacy",
    "approx-dp": "Approximate differential privacy",
    "conditional-dp": "Differential privacy, under a condition",
}
_BADGES = {
    Level.FORMAL: ("formal guarantee", "good"),
    Level.RULE_ONLY: ("rule only", "warn"),
    Level.NOT_FOR_PUBLICATION: ("not for publication", "bad"),
}
_RULE_ONLY = "A rule was kept, and nothing is promised about a person."
_INTERNAL = {"previous_epsilon", "continues"}  # not options: `--extend` sets them
NO_SAMPLES = Samples()


@dataclass(frozen=True)
class BadgeView:
    """The standing of a release as a badge, with the numbers of its guarantee."""

    name: str
    kind: str
    numbers: str


@dataclass(frozen=True)
class CardView:
    """A public card as a template draws it.

    Attributes:
        lead: What is guaranteed about a person, or that nothing is, in one sentence.
        guarantee: The numbers and the unit of the guarantee, in words.
        figures: What anyone can count in the public files.
    """

    title: str
    method: str
    version: str
    badge: BadgeView
    lead: str
    statement: str
    warnings: tuple[str, ...]
    model: str
    guarantee: Mapping[str, str]
    noise: Mapping[str, Sequence[str]]
    not_covered: tuple[str, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    figures: Mapping[str, int]
    samples: tuple[SampleTable, ...]
    parameters: tuple[ParameterView, ...]
    checks: tuple[str, ...]
    command: str


def render_card(
    card: PublicCard, samples: Samples = NO_SAMPLES, declared: Sequence[Parameter] = ()
) -> str:
    """Return the public page of a release.

    It follows from the card, the first rows of the public files, and the declarations of the
    method's parameters: `verify` renders it again.
    """
    return render_page("card.html.j2", card=card_view(card, declared, samples))


def card_view(
    card: PublicCard, declared: Sequence[Parameter] = (), samples: Samples = NO_SAMPLES
) -> CardView:
    """Return what a page shows of a public card."""
    guarantee = card.guarantee
    return CardView(
        title="Query log" if releases_log(card) else "Statistics of a query log",
        method=card.method,
        version=card.queryveil,
        badge=_badge(card),
        lead=_lead(card),
        statement=guarantee.statement,
        warnings=card.warnings,
        model=_MODELS[guarantee.model],
        guarantee=_guarantee_rows(guarantee),
        noise=card.noise.statements_by_file(),
        not_covered=guarantee.not_covered,
        assumptions=guarantee.assumptions,
        notes=card.notes,
        figures=_figures(card),
        samples=sample_tables(samples, _totals(card), card.noise),
        parameters=describe_parameters(
            card.parameters, declared, card.identifiers, card.sensitive, card.detectors
        ),
        checks=tuple(map(describe_check, guarantee.checks)),
        command=build_command(card),
    )


def _badge(card: PublicCard) -> BadgeView:
    name, kind = _BADGES[card.standing]
    if card.standing is Level.FORMAL and explain_condition(card.guarantee):
        name, kind = f"{name}, under a condition", "warn"
    return BadgeView(name, kind, _summarize_numbers(card.guarantee))


def _summarize_numbers(guarantee: Guarantee) -> str:
    """Return the model and its numbers on one line; empty for a rule."""
    if guarantee.model == "none":
        return ""
    numbers = {"k": guarantee.k, "epsilon": guarantee.epsilon, "delta": guarantee.delta}
    texts = [f"{name} = {describe_value(n)}" for name, n in numbers.items() if n]
    return ", ".join([_MODELS[guarantee.model], *texts])


def _lead(card: PublicCard) -> str:
    """Return the guarantee in one sentence, or why there is none."""
    if card.standing is Level.NOT_FOR_PUBLICATION:
        return f"Not for publication: {'; '.join(card.not_release_grade_because)}."
    if card.standing is Level.RULE_ONLY:
        return _RULE_ONLY
    lead = explain_guarantee(card.guarantee) or card.standing_summary
    return " ".join(map(format_sentence, (lead, *limits_of(card))))


def limits_of(card: PublicCard) -> tuple[str, ...]:
    """Return the notes without which the sentence about the guarantee would promise too much."""
    return tuple(note for note in LIMITING_NOTES if note in card.notes)


def _guarantee_rows(guarantee: Guarantee) -> dict[str, str]:
    """Return the numbers and the unit of a guarantee; of a rule, nothing."""
    if guarantee.model == "none":
        return {}
    numbers = {
        "k": guarantee.k,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "epsilon of one query": guarantee.per_query_epsilon,
    }
    rows = {name: describe_value(n) for name, n in numbers.items() if n is not None}
    rows["unit"] = f"one {guarantee.unit}: a person's whole log"
    texts = {
        "only if this is public already": guarantee.given,
        "neighbors": guarantee.neighbours,
    }
    return rows | {name: text for name, text in texts.items() if text}


def _figures(card: PublicCard) -> dict[str, int]:
    """Return the few figures that a reader can count in the public files."""
    counts = card.figures
    figures = {f"rows in {name}": rows for name, rows in counts.tables.items()}
    if not counts.tables or counts.rows:
        figures |= {"rows": counts.rows, "pseudonyms": counts.ids}
        figures["distinct queries"] = counts.queries
        if counts.parts is not None:
            figures["distinct parts of queries"] = counts.parts
    if counts.urls:
        figures["distinct URLs"] = counts.urls
    return figures


def _totals(card: PublicCard) -> dict[str, int]:
    logs = [name for name in card.files if name.startswith("log.")]
    return dict.fromkeys(logs, card.figures.rows) | dict(card.figures.tables)


def build_command(card: PublicCard, **changes: Scalar) -> str:
    """Return the command line that runs the method of a card, with some parameters changed."""
    options = {name: value for name, value in card.parameters.items() if name not in _INTERNAL}
    setting = card.identifiers or "drop"
    options |= {} if setting == "drop" else {"identifiers": setting}
    topics = card.sensitive or "keep"
    options |= {} if topics == "keep" else {"sensitive": topics}
    used = ",".join(use.name for use in card.detectors)
    options |= {"detectors": used} if used else {}
    return _command(card.method, options | changes)


def _command(method: str, parameters: Mapping[str, Scalar]) -> str:
    """Return the command line that runs a method with these parameters.

    >>> _command("click-graph", {"min_users": 5, "include_clicks": False})
    'queryveil anonymize LOG --method click-graph --min-users 5 --no-include-clicks --out DIR'
    """
    words = ["queryveil", "anonymize", "LOG", "--method", method]
    for name, value in parameters.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif value is not None:
            text = str(value)
            words += [f"--{option}", text.replace("e-0", "e-") if type(value) is float else text]
    return shlex.join([*words, "--out", "DIR"])
