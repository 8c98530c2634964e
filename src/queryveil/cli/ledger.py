"""Run `queryveil ledger`: show, check and limit the privacy budget of a population."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..dp.losses import Relation
from ..errors import VerificationError
from ..ledger.entries import LedgerEntry
from ..ledger.limits import Composition
from ..ledger.summary import (
    BudgetAmounts,
    LedgerCheck,
    LedgerSummary,
    RelationTotal,
    format_stored,
    round_amount,
)
from ..release.guarantee import DATA_ACCESS_NOTE
from ..workflows.budget import check_ledger, set_ledger_limit, show_ledger
from .help import Application
from .options import screen_options, with_options
from .terminal import Terminal, sanitize

app = Application(
    help="The ledger: the privacy budget spent on a population.", no_args_is_help=True
)

Logs = Annotated[
    list[str] | None,
    typer.Argument(metavar="[LOG]...", help="Files of the log; the ledger is in their folder."),
]
LedgerName = Annotated[
    str | None, typer.Option("--ledger", help="Name of the population, or folder of its ledger.")
]


@app.command(example="queryveil ledger show log.tsv")
@with_options(screen_options)
def show(screen: Terminal, log: Logs = None, ledger: LedgerName = None) -> None:
    """List the releases, their cost, and the budget that is left."""
    summary = show_ledger(log or (), ledger)
    screen.result(summary, lambda console: _draw_show(console, summary))


@app.command(example="queryveil ledger check log.tsv")
@with_options(screen_options)
def check(screen: Terminal, log: Logs = None, ledger: LedgerName = None) -> None:
    """Check that no row of a ledger was edited, removed or inserted."""
    summary = check_ledger(log or (), ledger)
    screen.result(summary, lambda console: _draw_check(console, summary))
    if not summary.holds:
        raise VerificationError(summary.message, where=summary.ledger, hint=summary.hint)


@app.command(example="queryveil ledger limit log.tsv --epsilon 1 --delta 1e-7")
@with_options(screen_options)
def limit(
    screen: Terminal,
    epsilon: Annotated[str, typer.Option("--epsilon", help="Total epsilon: 1, 0.1 or 1/3.")],
    delta: Annotated[
        str, typer.Option("--delta", help="Total delta: 1e-7; 0 for pure epsilon only.")
    ],
    log: Logs = None,
    ledger: LedgerName = None,
    relation: Annotated[
        Relation,
        typer.Option("--relation", help="Neighboring logs: one user is replaced, or added."),
    ] = "replace-one",
    composition: Annotated[
        Composition,
        typer.Option("--composition", help="Plain sums, Renyi composition, or the better of both."),
    ] = "either",
) -> None:
    """Set the total budget; it can be raised or lowered later."""
    summary = set_ledger_limit(
        epsilon, delta, log or (), ledger, relation=relation, composition=composition
    )
    screen.result(summary, lambda console: _draw_totals(console, summary))


def _draw_show(console: Console, summary: LedgerSummary) -> None:
    columns = ("", "date", "method", "epsilon", "delta", "relation", "state", "notes")
    table = Table(*columns, box=None)
    for entry in summary.entries or ():
        table.add_row(
            str(entry.number),
            entry.time.date().isoformat(),
            sanitize(entry.method),
            _format_amount(entry.epsilon),
            _format_amount(entry.delta),
            "" if entry.epsilon is None else entry.relation or "unknown",
            _describe_state(entry),
            sanitize("; ".join(_list_notes(entry))),
        )
    console.print(table if summary.entries else "There are no releases yet.")
    if any(DATA_ACCESS_NOTE in entry.notes for entry in summary.entries or ()):
        console.print(f"* {DATA_ACCESS_NOTE}", soft_wrap=True)
    console.print()
    _draw_totals(console, summary)


def _draw_totals(console: Console, summary: LedgerSummary) -> None:
    table = Table.grid(padding=(0, 3))
    for relation, total in summary.totals.items():
        _add_total(table, relation, total)
    if summary.limit:
        limit = BudgetAmounts(str(summary.limit.epsilon), str(summary.limit.delta))
        table.add_row("[bold]limit[/]", summary.relation, *_format_budget(limit))
    if summary.left:
        table.add_row("[bold]left[/]", summary.relation, *_format_budget(summary.left))
    console.print(table)
    if not summary.limit:
        console.print("There is no limit; `queryveil ledger limit` sets one.", soft_wrap=True)
    for warning in summary.warnings:
        console.print(f"[yellow]Note:[/] {sanitize(warning)}", soft_wrap=True)
    console.print(f"[dim]{sanitize(summary.ledger)}[/]", soft_wrap=True)


def _add_total(table: Table, relation: str, total: RelationTotal) -> None:
    if total.sum is None:
        table.add_row("[bold]spent[/]", relation, "no guarantee: see docs/explanation/ledger.md")
        return
    table.add_row("[bold]spent[/]", relation, *_format_budget(total.sum), "plain sum")
    composed = total.composed
    if composed is not None and composed != total.sum:
        table.add_row("", "", *_format_budget(composed), "composed")


def _format_budget(budget: BudgetAmounts) -> list[str]:
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta}
    return [f"{name} {format_stored(amount)}" for name, amount in amounts.items()]


def _draw_check(console: Console, summary: LedgerCheck) -> None:
    if summary.holds:
        console.print(f"[green]✓[/] {sanitize(summary.message)}", soft_wrap=True)
        console.print(f"[dim]{sanitize(summary.ledger)}, head {summary.head}[/]", soft_wrap=True)


def _format_amount(value: Fraction | None) -> str:
    return "" if value is None else round_amount(value)


def _describe_state(entry: LedgerEntry) -> str:
    if entry.kind == "look":
        return "noted"
    return f"copy of {entry.copy_of}" if entry.copy_of else entry.state


def _list_notes(entry: LedgerEntry) -> list[str]:
    protection = [] if entry.kind == "dp" else [entry.protection]
    extends = [f"extends {entry.extends}"] if entry.extends else []
    # The note has many words, and a ledger has it in most rows: the table has a footnote.
    notes = ["*" if note == DATA_ACCESS_NOTE else note for note in entry.notes]
    return [*extends, *protection, *notes]
