"""What a ledger shows: its entries, what was spent, what is left, and whether its chain holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import polars as pl

from ..core.notebook import Cell, NotebookTable, NotebookView
from ..core.pandas_output import to_pandas
from ..core.records import Record, json_field
from ..dp.budget import format_amount, format_exact
from ..dp.losses import RELATIONS, Relation, rounded_up
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

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: the sums, the limit, and the entries."""
        limit = None if self.limit is None else Budget(self.limit.epsilon, self.limit.delta)
        facts: list[tuple[str, Cell]] = [
            (f"spent, {name}", "no guarantee" if total.sum is None else _describe(total.sum))
            for name, total in self.totals.items()
        ]
        for title, amounts in (("limit", BudgetAmounts.of(limit)), ("left", self.left)):
            if amounts is not None:
                facts.append((f"{title}, {self.relation}", _describe(amounts)))
        rows = tuple(_list_cells(entry) for entry in self.entries or ())
        table = NotebookTable("Entries", ("number", "date", "method", "epsilon", "delta"), rows)
        return NotebookView(
            "LedgerSummary", tuple(facts), (table,) if rows else (), notes=self.warnings
        )

    def to_polars(self) -> pl.DataFrame:
        """Return one row per entry; epsilon and delta as the nearest floats."""
        return entries_to_polars(self.entries or ())

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())


def _list_cells(entry: LedgerEntry) -> tuple[Cell, ...]:
    amounts = (
        "" if value is None else round_amount(value) for value in (entry.epsilon, entry.delta)
    )
    return entry.number, entry.time.date().isoformat(), entry.method, *amounts


def _describe(amounts: BudgetAmounts) -> str:
    return f"epsilon {format_stored(amounts.epsilon)}, delta {format_stored(amounts.delta)}"


def format_stored(text: str) -> str:
    """Return a stored amount as text; an amount that is not an exact number stays as it is.

    >>> format_stored("185914091423/50000000000000000000"), format_stored("about 3")
    ('3.71829e-9', 'about 3')
    """
    return text if " " in text else round_amount(Fraction(text))


def round_amount(value: Fraction) -> str:
    """Return an amount as text; one of many digits is rounded up to six digits."""
    shown = format_amount(value)
    return format_amount(rounded_up(value, 6)) if len(shown) > 12 else shown


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
