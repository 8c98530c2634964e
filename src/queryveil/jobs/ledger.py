"""Look at the ledger of a population, check it, and set its limit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..dp.budget import parse_delta, parse_epsilon
from ..dp.ledger.place import locate_ledger
from ..dp.losses import RELATIONS, Relation
from ..errors import VerificationError
from ..ledger.ledger import Ledger
from ..ledger.limits import Budget, Composition
from ..log.reading import resolve_paths

__all__ = ["check_ledger", "set_ledger_limit", "show_ledger"]


def show_ledger(logs: Sequence[str | Path] = (), dataset: str | None = None) -> dict[str, Any]:
    """Tell what was released and spent, and what is left."""
    with Ledger.open(_place(logs, dataset), create=False) as ledger:
        return {
            "ledger": str(ledger.path),
            "entries": [entry.as_dict() for entry in ledger.entries()],
            **_totals(ledger),
        }


def check_ledger(logs: Sequence[str | Path] = (), dataset: str | None = None) -> dict[str, Any]:
    """Walk the chain of a ledger, and tell whether it is whole."""
    path = _place(logs, dataset)
    try:
        with Ledger.open(path, create=False) as ledger:
            head = ledger.check()
    except VerificationError as error:
        return {"ledger": str(path), "holds": False, "says": error.what, "hint": error.hint}
    says = f"{head.number} rows, each chained to the one before"
    return {
        "ledger": str(path),
        "holds": True,
        "says": says,
        "rows": head.number,
        "head": head.hash,
    }


def set_ledger_limit(
    epsilon: str,
    delta: str,
    logs: Sequence[str | Path] = (),
    dataset: str | None = None,
    *,
    relation: Relation = "replace-one",
    composition: Composition = "either",
) -> dict[str, Any]:
    """Set what may be spent in all on a population; the ledger is created if there is none."""
    limit = parse_epsilon(epsilon), parse_delta(delta)
    with Ledger.open(_place(logs, dataset)) as ledger:
        ledger.set_limit(*limit, relation=relation, composition=composition)
        return {"ledger": str(ledger.path), **_totals(ledger)}


def _place(logs: Sequence[str | Path], dataset: str | None) -> Path:
    return locate_ledger(dataset, resolve_paths(logs) if logs and dataset is None else [])


def _totals(ledger: Ledger) -> dict[str, Any]:
    limit, left = ledger.limit(), ledger.remaining()
    return {
        "relation": limit.relation if limit else "replace-one",
        "spent": ledger.spent().as_dict(),
        "totals": {name: _total(ledger, name) for name in RELATIONS},
        "limit": limit and limit.as_dict(),
        "left": left and left.as_dict(),
        "warnings": ledger.warnings(),
    }


def _total(ledger: Ledger, relation: Relation) -> dict[str, dict[str, str] | None]:
    """Return what all releases cost in one relation: plainly added, and the least that is proved.

    Both are none if a release promises nothing in this relation.
    """
    plain, least = ledger.spent_in(relation), ledger.composed_in(relation)
    return {"sum": _as_dict(plain), "composed": _as_dict(least)}


def _as_dict(budget: Budget | None) -> dict[str, str] | None:
    return None if budget is None else budget.as_dict()
