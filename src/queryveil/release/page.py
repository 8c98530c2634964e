"""The card as one self-contained HTML page: its view model, which a template draws."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.records import Scalar
from ..render.html import format_sentence, render_page
from .cards import PrivateCard, PublicCard
from .guarantee import Check, Guarantee, Level

_PART_COLORS = 7  # of colors.css
_MODELS = {
    "none": "No formal guarantee: a rule was kept",
    "k-anonymity": "k-anonymity",
    "pure-dp": "Differential privacy",
    "approx-dp": "Approximate differential privacy",
    "conditional-dp": "Differential privacy, under a condition",
}
_BADGES = {Level.FORMAL: ("formal guarantee", "good"), Level.RULE_ONLY: ("rule only", "warn")}
_INTERNAL = {"previous_epsilon", "continues"}  # not options: `--extend` sets them
_IDENTIFIERS = {
    "drop": "drop: queries that look like one were left out, such URLs blanked",
    "mask": "mask: what looks like one was masked in queries, such URLs blanked",
    "keep": "keep: let through as they are",
}


@dataclass(frozen=True)
class BadgeView:
    """The standing of a release: a badge, and its meaning in a sentence or a list of reasons."""

    name: str
    kind: str
    meaning: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class BarPart:
    """A part of all rows, with its number in the palette."""

    name: str
    color: int
    rows: int
    fraction: float


@dataclass(frozen=True)
class AccountingView:
    """What became of every row that went in; generated rows are not rows of the log."""

    rows: int
    parts: tuple[BarPart, ...]
    generated: Mapping[str, int]
    blanked: Mapping[str, int]


@dataclass(frozen=True)
class OwnerView:
    """What only the data owner sees of a card."""

    measured: tuple[str, ...]
    accounting: AccountingView
    files: tuple[str, ...]
    run: Mapping[str, float]


@dataclass(frozen=True)
class CardView:
    """A card, as the template draws it; `owner` is None on a public page."""

    method: str
    version: str
    badge: BadgeView
    statement: str
    warnings: tuple[str, ...]
    model: str
    guarantee: Mapping[str, Scalar]
    noise: Mapping[str, Sequence[str]]
    not_covered: tuple[str, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    figures: Mapping[str, int]
    parameters: Mapping[str, Scalar]
    checks: tuple[str, ...]
    command: str
    owner: OwnerView | None


def render_card(card: PublicCard | PrivateCard) -> str:
    """Return a card, public or private, as a page.

    A public page depends on its card alone, and `verify` renders it again.
    """
    return render_page("card.html.j2", card=card_view(card))


def card_view(card: PublicCard | PrivateCard) -> CardView:
    """Return what the page of a card shows."""
    public, private = (card.public, card) if isinstance(card, PrivateCard) else (card, None)
    guarantee = public.guarantee
    return CardView(
        method=public.method,
        version=public.queryveil,
        badge=_badge(public),
        statement=guarantee.statement,
        warnings=public.warnings,
        model=_MODELS[guarantee.model],
        guarantee=_guarantee_rows(guarantee),
        noise=public.noise.statements_by_file(),
        not_covered=guarantee.not_covered,
        assumptions=guarantee.assumptions,
        notes=public.notes,
        figures=_figures(public, private),
        parameters=_parameters(public),
        checks=tuple(_describe_check(check) for check in guarantee.checks),
        command=_command(public.method, _options(public)),
        owner=None if private is None else _owner_view(private),
    )


def _badge(card: PublicCard) -> BadgeView:
    if card.standing is Level.NOT_FOR_PUBLICATION:
        return BadgeView("not for publication", "warn", reasons=card.not_release_grade_because)
    name, kind = _BADGES[card.standing]
    if card.guarantee.given:
        name, kind = f"{name}, under a condition", "warn"
    return BadgeView(name, kind, format_sentence(card.standing_summary))


def _guarantee_rows(guarantee: Guarantee) -> dict[str, Scalar]:
    rows: dict[str, Scalar] = {
        "k": guarantee.k,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "epsilon of one query": guarantee.per_query_epsilon,
        "unit": f"one {guarantee.unit}: a person's whole log",
        "only given that public is": guarantee.given or None,
        "neighbors": guarantee.neighbours or None,
    }
    return {name: value for name, value in rows.items() if value is not None}


def _owner_view(card: PrivateCard) -> OwnerView:
    seconds = {f"{stage}, seconds": value for stage, value in card.seconds.items()}
    return OwnerView(
        measured=tuple(measurement.summary for measurement in card.measured.values()),
        accounting=_row_accounting(card),
        files=tuple(f"{path} (SHA-256 {sha})" for path, sha in card.input.sha256.items()),
        run=seconds | {"peak memory, MB": card.peak_mb},
    )


def _row_accounting(card: PrivateCard) -> AccountingView:
    generated, released = dict(card.generated), card.output.rows
    name = "released as a row of the log" if generated else "released"
    counts = {name: released - sum(generated.values()), **card.dropped}
    counts |= {f"rejected: {reason}": n for reason, n in card.input.rejected.items()}
    total = max(card.input.rows, 1)
    return AccountingView(
        rows=card.input.rows,
        parts=tuple(
            BarPart(name, i % _PART_COLORS, n, n / total)
            for i, (name, n) in enumerate(counts.items())
        ),
        generated=generated | {"released in all": released} if generated else {},
        blanked=card.blanked,
    )


def _figures(public: PublicCard, private: PrivateCard | None) -> dict[str, int]:
    counts = public.figures
    figures = {
        "rows": counts.rows,
        "pseudonyms": counts.ids,
        "queries": counts.queries,
        "URLs": counts.urls,
        **counts.tables,
    }
    if private is not None:
        figures["users, in the log"] = private.input.users
        figures["queries, in the log"] = private.input.queries
    return figures


def _parameters(card: PublicCard) -> dict[str, Scalar]:
    rows = dict(card.parameters)
    if card.identifiers:
        rows["identifiers"] = _IDENTIFIERS.get(card.identifiers, card.identifiers)
    return rows


def _describe_check(check: Check) -> str:
    return ", ".join(f"{key}: {value}" for key, value in check.to_dict().items())


def _options(card: PublicCard) -> dict[str, Scalar]:
    """Return what users set: parameters, and identifiers unless it is the default."""
    options = {name: value for name, value in card.parameters.items() if name not in _INTERNAL}
    setting = card.identifiers or "drop"
    return options if setting == "drop" else {**options, "identifiers": setting}


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
            words += [f"--{option}", str(value)]
    return shlex.join([*words, "--out", "DIR"])
