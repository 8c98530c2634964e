"""What a paper says of its methods, beside what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..render.html import cell, section, sortable, written

__all__ = ["claims_section"]

# Words and a sign, so that nothing hangs on the colour.
_VERDICTS = {
    True: ("good", "\N{CHECK MARK} holds"),
    False: ("warn", "\N{MULTIPLICATION X} does not hold"),
    None: ("soft", "? cannot be told"),
}


def claims_section(told: Sequence[Mapping[str, Any]]) -> str:
    """Make a section of claims: paper, claim, published, ours, holds (or not, or none), why."""
    if not told:
        return ""
    heads = [("claim", "text"), ("holds?", ""), ("published", ""), ("ours", ""), ("why", "text"),
             ("paper", "")]  # fmt: skip
    rows = [_row(one) for one in told]
    return section("What the paper says, and what we find", sortable(heads, rows))


def _row(one: Mapping[str, Any]) -> list[str]:
    kind, verdict = _VERDICTS[one["holds"]]
    return [
        cell(str(one["claim"]), "text"),
        f'<td class="{kind}"><b>{escape(verdict)}</b></td>',
        f"<td>{written(_or_nothing(one['published']))}</td>",
        f"<td>{written(_or_nothing(one['ours']))}</td>",
        cell(_or_nothing(one.get("why")), "text"),
        cell(str(one["paper"])),
    ]


def _or_nothing(value: Any) -> Any:
    return "" if value is None else value
