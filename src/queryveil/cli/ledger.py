"""`queryveil ledger ...`: what privacy budget was spent on a population."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..dp.budget import format_amount
from ..dp.losses import Relation, rounded_up
from ..errors import VerificationError
from ..ledger.limits import Composition
from ..workflows.budget import check_ledger, set_ledger_limit, show_ledger
from .options import screen_options, with_options
from .terminal import Terminal, sanitize


app = typer.Typer(
    help="The ledger: what privacy budget was spent on a population.", no_args_is_help=True
)

Logs = Annotated[
    list[str] | None, typer.Argument(metavar="[LOG]...", help="The log; its folder has the ledger.")
]
Dataset = Annotated[
    str | None, typer.Option("--dataset", help="Name of the population, or folder of its ledger.")
]


@app.command()
@with_options(screen_options)
def show(screen: Terminal, log: Logs = None, dataset: Dataset = None) -> None:
    """List releases, what they cost, and what is left."""
    found = show_ledger(log or (), dataset)
    screen.result(found, lambda console: _draw_show(console, found))


@app.command()
@with_options(screen_options)
def check(screen: Terminal, log: Logs = None, dataset: Dataset = None) -> None:
    """Check that no row of a ledger was edited, removed or put in."""
    found = check_ledger(log or (), dataset)
    screen.result(found, lambda console: _draw_check(console, found))
    if not found["holds"]:
        raise VerificationError(found["message"], where=found["ledger"], hint=found["hint"])


@app.command()
@with_options(screen_options)
def limit(
    screen: Terminal,
    epsilon: Annotated[str, typer.Option("--epsilon", help="In all: 1, 0.1 or 1/3.")],
    delta: Annotated[str, typer.Option("--delta", help="In all: 1e-7; 0 for pure epsilon only.")],
    log: Logs = None,
    dataset: Dataset = None,
    relation: Annotated[
        Relation,
        typer.Option("--relation", help="Between which logs: a user is replaced, or added."),
    ] = "replace-one",
    composition: Annotated[
        Composition,
        typer.Option("--composition", help="Plain sums, sums at a Renyi order, or either."),
    ] = "either",
) -> None:
    """Set what may be spent in all; it may be raised or lowered later."""
    how: dict[str, Any] = {"relation": relation, "composition": composition}
    found = set_ledger_limit(epsilon, delta, log or (), dataset, **how)
    screen.result(found, lambda console: _draw_totals(console, found))


def _draw_show(console: Console, found: dict[str, Any]) -> None:
    columns = ("", "date", "method", "epsilon", "delta", "relation", "state", "notes")
    table = Table(*columns, box=None)
    for entry in found["entries"]:
        table.add_row(
            str(entry["number"]),
            entry["time"][:10],
            sanitize(entry["method"]),
            _amount(entry["epsilon"]),
            _amount(entry["delta"]),
            "" if entry["epsilon"] is None else entry["relation"] or "unknown",
            _state(entry),
            sanitize("; ".join(_notes(entry))),
        )
    console.print(table if found["entries"] else "Nothing was released yet.")
    console.print()
    _draw_totals(console, found)


def _draw_totals(console: Console, found: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 3))
    for relation, total in found["totals"].items():
        _add_total(table, relation, total)
    for name in ("limit", "left"):
        if found[name]:
            table.add_row(f"[bold]{name}[/]", found["relation"], *_amounts(found[name]))
    console.print(table)
    if not found["limit"]:
        console.print("No limit is set: `queryveil ledger limit` sets one.", soft_wrap=True)
    for says in found["warnings"]:
        console.print(f"[yellow]Note:[/] {sanitize(says)}", soft_wrap=True)
    console.print(f"[dim]{sanitize(found['ledger'])}[/]", soft_wrap=True)


def _add_total(table: Table, relation: str, total: dict[str, Any]) -> None:
    if total["sum"] is None:
        table.add_row("[bold]spent[/]", relation, "no promise: see docs/ledger.md")
        return
    table.add_row("[bold]spent[/]", relation, *_amounts(total["sum"]), "plain sum")
    least = total["composed"]
    if least is not None and least != total["sum"]:
        table.add_row("", "", *_amounts(least), "composed")


def _amounts(budget: dict[str, str]) -> list[str]:
    return [f"{which} {_amount(budget[which])}" for which in ("epsilon", "delta")]


def _draw_check(console: Console, found: dict[str, Any]) -> None:
    if found["holds"]:
        console.print(f"[green]✓[/] {sanitize(found['message'])}", soft_wrap=True)
        console.print(f"[dim]{sanitize(found['ledger'])}, head {found['head']}[/]", soft_wrap=True)


def _amount(text: str | None) -> str:
    """Show a stored amount; what is no exact number any more shows as it is."""
    if text is None:
        return ""
    return text if " " in text else _short(Fraction(text))


def _short(value: Fraction) -> str:
    """Show an amount; one of many digits is shown with six, rounded up."""
    shown = format_amount(value)
    return format_amount(rounded_up(value, 6)) if len(shown) > 12 else shown


def _state(entry: dict[str, Any]) -> str:
    if entry["kind"] == "look":
        return "noted"
    return f"copy of {entry['copy_of']}" if entry["copy_of"] else str(entry["state"])


def _notes(entry: dict[str, Any]) -> list[str]:
    named = [] if entry["kind"] == "dp" else [str(entry["protection"])]
    extends = [f"extends {entry['extends']}"] if entry["extends"] else []
    return [*extends, *named, *entry["notes"]]
