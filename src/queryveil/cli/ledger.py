"""`queryveil ledger ...`: what privacy budget was spent on a population."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..dp import show_amount
from ..errors import VerificationError
from ..jobs.ledger import check_ledger, limit_ledger, show_ledger
from .options import screen_options, takes
from .screen import Screen, plain

__all__ = ["app", "check", "limit", "show"]

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
@takes(screen_options)
def show(screen: Screen, log: Logs = None, dataset: Dataset = None) -> None:
    """List releases, what they cost, and what is left."""
    found = show_ledger(log or (), dataset)
    screen.result(found, lambda console: _draw_show(console, found))


@app.command()
@takes(screen_options)
def check(screen: Screen, log: Logs = None, dataset: Dataset = None) -> None:
    """Check that no row of a ledger was edited, removed or put in."""
    found = check_ledger(log or (), dataset)
    screen.result(found, lambda console: _draw_check(console, found))
    if not found["holds"]:
        raise VerificationError(found["says"], where=found["ledger"], hint=found["hint"])


@app.command()
@takes(screen_options)
def limit(
    screen: Screen,
    epsilon: Annotated[str, typer.Option("--epsilon", help="In all: 1, 0.1 or 1/3.")],
    delta: Annotated[str, typer.Option("--delta", help="In all: 1e-7; 0 for pure epsilon only.")],
    log: Logs = None,
    dataset: Dataset = None,
) -> None:
    """Set what may be spent in all; it may be raised or lowered later."""
    found = limit_ledger(epsilon, delta, log or (), dataset)
    screen.result(found, lambda console: _draw_totals(console, found))


def _draw_show(console: Console, found: dict[str, Any]) -> None:
    table = Table("", "date", "method", "epsilon", "delta", "state", "notes", box=None)
    for entry in found["entries"]:
        table.add_row(
            str(entry["number"]),
            entry["time"][:10],
            plain(entry["method"]),
            _amount(entry["epsilon"]),
            _amount(entry["delta"]),
            _state(entry),
            plain("; ".join(_notes(entry))),
        )
    console.print(table if found["entries"] else "Nothing was released yet.")
    console.print()
    _draw_totals(console, found)


def _draw_totals(console: Console, found: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 3))
    for name in ("spent", "limit", "left"):
        if found[name]:
            amounts = (f"{which} {_amount(found[name][which])}" for which in ("epsilon", "delta"))
            table.add_row(f"[bold]{name}[/]", *amounts)
    console.print(table)
    if not found["limit"]:
        console.print("No limit is set: `queryveil ledger limit` sets one.", soft_wrap=True)
    for says in found["warnings"]:
        console.print(f"[yellow]Note:[/] {plain(says)}", soft_wrap=True)
    console.print(f"[dim]{plain(found['ledger'])}[/]", soft_wrap=True)


def _draw_check(console: Console, found: dict[str, Any]) -> None:
    if found["holds"]:
        console.print(f"[green]✓[/] {plain(found['says'])}", soft_wrap=True)
        console.print(f"[dim]{plain(found['ledger'])}, head {found['head']}[/]", soft_wrap=True)


def _amount(text: str | None) -> str:
    """Show a stored amount; what is no exact number any more shows as it is."""
    if text is None:
        return ""
    return text if " " in text else show_amount(Fraction(text))


def _state(entry: dict[str, Any]) -> str:
    if entry["kind"] == "look":
        return "noted"
    return f"copy of {entry['copy_of']}" if entry["copy_of"] else str(entry["state"])


def _notes(entry: dict[str, Any]) -> list[str]:
    named = [] if entry["kind"] == "dp" else [str(entry["protection"])]
    extends = [f"extends {entry['extends']}"] if entry["extends"] else []
    return [*extends, *named, *entry["notes"]]
