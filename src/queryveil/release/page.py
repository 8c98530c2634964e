"""The card as one self-contained HTML page: its view model, which a template draws."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..render.html import format_sentence, render_page
from .guarantee import Level, words_of
from .noise import about_noise

_PART_COLORS = 7  # of colors.css
_MODELS = {
    "none": "No formal guarantee: a rule was kept",
    "k-anonymity": "k-anonymity",
    "pure-dp": "Differential privacy",
    "approx-dp": "Approximate differential privacy",
    "conditional-dp": "Differential privacy, under a condition",
}
_BADGES = {Level.FORMAL: ("formal guarantee", "good"), Level.RULE_ONLY: ("rule only", "warn")}
_NUMBERS = {
    "k": "k",
    "epsilon": "epsilon",
    "delta": "delta",
    "per_query_epsilon": "epsilon of one query",
}
_FIGURES = {"rows": "rows", "ids": "pseudonyms", "queries": "queries", "urls": "URLs"}
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
    guarantee: Mapping[str, Any]
    noise: Mapping[str, Sequence[str]]
    not_covered: tuple[str, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    figures: Mapping[str, int]
    parameters: Mapping[str, Any]
    checks: tuple[str, ...]
    command: str
    owner: OwnerView | None


def render_card(card: dict[str, Any]) -> str:
    """Return a card, public or private, as a page.

    A public page depends on its card alone, and `verify` renders it again.
    """
    return render_page("card.html.j2", card=card_view(card))


def card_view(card: dict[str, Any]) -> CardView:
    """Return what the page of a card shows."""
    guarantee = card["guarantee"]
    return CardView(
        method=card["method"],
        version=str(card["queryveil"]),
        badge=_badge(card),
        statement=guarantee["statement"],
        warnings=tuple(card["warnings"]),
        model=_MODELS[guarantee["model"]],
        guarantee=_guarantee_rows(guarantee),
        noise=about_noise(card),
        not_covered=tuple(guarantee["not_covered"]),
        assumptions=tuple(guarantee["assumptions"]),
        notes=tuple(card.get("notes") or ()),
        figures=_figures(card),
        parameters=_parameters(card),
        checks=tuple(_describe_check(check) for check in guarantee["checks"]),
        command=_command(card["method"], _options(card)),
        owner=_owner_view(card) if "input" in card else None,
    )


def _badge(card: dict[str, Any]) -> BadgeView:
    level, guarantee = card["standing"], card["guarantee"]
    if level == Level.NOT_FOR_PUBLICATION:
        reasons = tuple(card["not_release_grade_because"])
        return BadgeView("not for publication", "warn", reasons=reasons)
    name, kind = _BADGES[level]
    if guarantee.get("given"):
        name, kind = f"{name}, under a condition", "warn"
    return BadgeView(name, kind, format_sentence(words_of(guarantee, level)))


def _guarantee_rows(guarantee: dict[str, Any]) -> dict[str, Any]:
    numbers = {label: guarantee[name] for name, label in _NUMBERS.items()}
    rows = {name: value for name, value in numbers.items() if value is not None}
    rows["unit"] = f"one {guarantee['unit']}: a person's whole log"
    if guarantee.get("given"):
        rows["only given that public is"] = guarantee["given"]
    if guarantee["neighbours"]:
        rows["neighbors"] = guarantee["neighbours"]
    return rows


def _owner_view(card: dict[str, Any]) -> OwnerView:
    seconds = {f"{stage}, seconds": value for stage, value in card["seconds"].items()}
    return OwnerView(
        measured=tuple(str(result["words"]) for result in card.get("measured", {}).values()),
        accounting=_row_accounting(card),
        files=tuple(f"{path} (SHA-256 {sha})" for path, sha in card["input"]["sha256"].items()),
        run=seconds | {"peak memory, MB": card["peak_mb"]},
    )


def _row_accounting(card: dict[str, Any]) -> AccountingView:
    generated, released = card["made"], card["output"]["rows"]
    rows_of_log = released - sum(generated.values())
    name = "released as a row of the log" if generated else "released"
    counts = {name: rows_of_log} | card["dropped"]
    counts |= {f"rejected: {reason}": n for reason, n in card["input"]["rejected"].items()}
    total = max(card["input"]["rows"], 1)
    return AccountingView(
        rows=card["input"]["rows"],
        parts=tuple(
            BarPart(name, i % _PART_COLORS, n, n / total)
            for i, (name, n) in enumerate(counts.items())
        ),
        generated=generated | {"released in all": released} if generated else {},
        blanked=card["blanked"],
    )


def _figures(card: dict[str, Any]) -> dict[str, int]:
    figures = {_FIGURES.get(name, name): n for name, n in card["figures"].items()}
    if "input" in card:
        figures |= {f"{name}, in the log": card["input"][name] for name in ("users", "queries")}
    return figures


def _parameters(card: dict[str, Any]) -> dict[str, Any]:
    rows = dict(card["parameters"])
    if card.get("identifiers"):
        rows["identifiers"] = _IDENTIFIERS.get(card["identifiers"], card["identifiers"])
    return rows


def _describe_check(check: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in check.items())


def _options(card: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters, and the setting of identifiers unless it is the default."""
    setting = card.get("identifiers") or "drop"
    more = {} if setting == "drop" else {"identifiers": setting}
    return dict(card["parameters"]) | more


def _command(method: str, parameters: Mapping[str, Any]) -> str:
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
