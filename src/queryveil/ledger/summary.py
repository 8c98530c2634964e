"""What a ledger shows: its entries, what was spent, what is left, and whether its chain holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ..core.pandas_output import to_pandas
from ..core.records import Record, json_field
from ..dp.budget import format_exact
from ..dp.losses import RELATIONS, Relation
from .entries import LedgerEntry
from .ledger import Ledger
from .limits import Budget, Limit
from .tables import entries_to_polars


@dataclass(frozen=True, repr=False)
class BudgetAmounts(Record):
    """An epsilon and a delta as exact texts; a sum of too many digits is rounded."""

    shown = ("epsilon", "delta")

    epsilon: str
    delta: str

    @classmethod
    def of(cls, budget: Budget | None) -> BudgetAmounts | None:
        """Return the texts of a budget; None if there is none."""
        if budget is None:
            return None
        return cls(format_exact(budget.epsilon), format_exact(budget.delta))


@dataclass(frozen=True, repr=False)
class RelationTotal(Record):
    """The cost of all releases in one neighboring relation.

    Attributes:
        sum: The plain sums; None if a release has no guarantee in this relation.
        composed: The best proved bound for all releases together.
    """

    sum: BudgetAmounts | None
    composed: BudgetAmounts | None


@dataclass(frozen=True, repr=False)
class LedgerSummary(Record):
    """The releases in a ledger, the budget that they spent, and what is left.

    Attributes:
        ledger: The path of the ledger.
        entries: The releases, the oldest first; None where only the totals were asked for.
        relation: The neighboring relation in which `spent`, `limit` and `left` are counted.
        totals: The cost in each neighboring relation.
    """

    shown = ("relation", "spent", "left")
    schema_number = 1

    ledger: str
    entries: tuple[LedgerEntry, ...] | None = field(metadata={"optional": True})
    relation: Relation
    spent: BudgetAmounts
    totals: Mapping[str, RelationTotal]
    limit: Limit | None
    left: BudgetAmounts | None
    warnings: tuple[str, ...]

    def to_polars(self) -> pl.DataFrame:
        """Return one row per entry; epsilon and delta as the nearest floats."""
        return entries_to_polars(self.entries or ())

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())


def summarize_ledger(ledger: Ledger, *, with_entries: bool) -> LedgerSummary:
    """Return the summary of an open ledger."""
    limit, spent = ledger.limit(), ledger.spent()
    return LedgerSummary(
        ledger=str(ledger.path),
        entries=tuple(ledger.entries()) if with_entries else None,
        relation=limit.relation if limit else "replace-one",
        spent=BudgetAmounts(format_exact(spent.epsilon), format_exact(spent.delta)),
        totals={
            name: RelationTotal(
                BudgetAmounts.of(ledger.spent_in(name)), BudgetAmounts.of(ledger.composed_in(name))
            )
            for name in RELATIONS
        },
        limit=limit,
        left=BudgetAmounts.of(ledger.remaining()),
        warnings=tuple(ledger.warnings()),
    )


@dataclass(frozen=True, repr=False)
class LedgerCheck(Record):
    """Whether the chain of hashes of a ledger holds; it is falsy if not.

    Attributes:
        head: The hash of the last row, to be stored elsewhere.
    """

    shown = ("holds", "message")
    schema_number = 1

    ledger: str
    holds: bool
    message: str
    hint: str | None = json_field(optional=True, default=None)
    rows: int | None = json_field(optional=True, default=None)
    head: str | None = json_field(optional=True, default=None)

    def __bool__(self) -> bool:
        return self.holds
