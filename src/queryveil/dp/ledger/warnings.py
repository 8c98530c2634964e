"""What the totals of a ledger do not cover."""

from __future__ import annotations

from collections.abc import Sequence

from ...ledger.entries import ENTRY_KINDS, LedgerEntry
from ...ledger.limits import Budget
from ..budget import format_amount

__all__ = ["warnings_of"]


def warnings_of(
    entries: Sequence[LedgerEntry], spent: Budget, limit: Budget | None, left: Budget | None
) -> list[str]:
    """Return what the totals do not cover, and whether anything is left."""
    first = [entry for entry in entries if entry.copy_of is None]
    numbers = {kind: sum(entry.kind == kind for entry in first) for kind in ENTRY_KINDS}
    said = []
    if numbers["k-anonymity"] > 1:
        said.append(
            f"{numbers['k-anonymity']} k-anonymous releases: they do not compose; whoever joins "
            "them may tell people apart whom each one alone hides"
        )
    if numbers["none"]:
        said.append(f"{_count(numbers['none'])} unprotected: no budget covers that")
    if numbers["conditional-dp"]:
        said.append(
            f"{_count(numbers['conditional-dp'])} differentially private on conditions only: the "
            "totals hold where those hold"
        )
    unknown = sum(entry.epsilon is not None and entry.relation is None for entry in first)
    if unknown:
        said.append(
            f"{_count(unknown)} without a neighboring relation: counted twice, as if a user who "
            "is replaced were first removed and then added"
        )
    made = (entry for entry in first if entry.kind != "look")  # there is nothing to confirm
    waiting = [str(entry.number) for entry in made if entry.state == "reserved"]
    if waiting:
        said.append(f"reserved and not confirmed, yet spent: {_list(waiting)}")
    if spent.delta >= 1:
        said.append("the deltas add up to 1 or more: together these releases promise nothing")
    return [*said, *_about_limit(spent, limit, left)]


def _about_limit(spent: Budget, limit: Budget | None, left: Budget | None) -> list[str]:
    if limit is None or left is None or left.epsilon:
        return []
    for name, used, most in zip(Budget._fields, spent, limit, strict=True):
        if used > most:
            amounts = (
                f"{name} {format_amount(used)} is spent and the limit is {format_amount(most)}"
            )
            return [f"{amounts}: nothing more can be spent"]
    return ["the limit is reached: nothing more can be spent"]


def _count(number: int) -> str:
    return "1 release is" if number == 1 else f"{number} releases are"


def _list(numbers: list[str]) -> str:
    more = len(numbers) - 10
    shown = ", ".join(numbers[:10])
    return f"entry {shown}" if len(numbers) == 1 else (
        f"entries {shown}{f' and {more} more' if more > 0 else ''}"
    )  # fmt: skip
