"""The owner's report of a release: its card, what an attacker could do, and what is left to use."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ..comparison.frontier import FRONTIER_STYLE, frontier_section
from ..comparison.series import REFERENCES
from ..errors import UsageError
from ..release.page import render_card
from ..release.sorting import SORTING
from ..render.charts.line import STYLE as CHART
from ..render.charts.scales import is_drawable
from ..render.html import cell, number, section, sortable
from .frontier_script import SCRIPT

__all__ = ["render_private_report"]

_STYLE = CHART + FRONTIER_STYLE + "main { max-width: 60rem; }"


def render_private_report(
    card: dict[str, Any],
    measures: Mapping[str, Mapping[str, Any]] | None = None,
    comparison: Mapping[str, Any] | None = None,
) -> str:
    """Draw an internal card with what was measured, and with other methods beside it.

    In the comparison, the run whose label is "this release" stands out.
    """
    if "input" not in card:
        raise UsageError(
            "measures are of private data: a public page cannot show them",
            hint="give the card of private/card.json",
        )
    extra = [_risk_and_use(measures)] if measures else []
    extra += [frontier_section(comparison)] if comparison else []
    return render_card(card, extra, style=_STYLE, scripts=(SORTING, SCRIPT))


def _risk_and_use(measures: Mapping[str, Mapping[str, Any]]) -> str:
    heads = [("of", ""), ("measure", "text"), ("value", "number"), ("better", ""),
             ("in words", "text")]  # fmt: skip
    order = sorted(measures.items(), key=lambda item: item[1].get("kind") != "risk")
    rows = [_row(line, told) for line, told in order]
    return section("Risk and use, measured", sortable(heads, rows, folds=True))


def _row(line: str, told: Mapping[str, Any]) -> list[str]:
    value = told["value"]
    about = escape(f"{line}; {told['unit']}")
    return [
        cell(str(told.get("kind", ""))),
        f'<td class="text">{escape(told["title"])}<br><span class="soft">{about}</span></td>',
        number("" if value is None else f"{value:.4g}", value),
        cell(told["better"]),
        f'<td class="text">{_in_words(told)}</td>',
    ]


def _in_words(told: Mapping[str, Any]) -> str:
    if told["value"] is None:
        return f"Not measured: {escape(str(told.get('why_not', '')))}"
    words = [str(told["words"])] if told.get("words") else []
    beside = {called: told.get(name) for name, called in REFERENCES.items()}
    words += [f"{called}: {value:.4g}" for called, value in beside.items() if is_drawable(value)]
    ruler = f'<span class="soft">Ruler: {escape(told["ruler"])}.</span>' if "ruler" in told else ""
    text = " ".join(f"{escape(one[:1].upper() + one[1:])}." for one in words)
    return "<br>".join(part for part in (text, ruler) if part)
