"""`queryveil measure`: risk and use of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import jobs
from ..engine.declared import split_lines
from ..errors import UsageError
from ..measures import all_measures
from .options import LogChoice, log_options, screen_options, takes
from .screen import Screen, plain

__all__ = ["app", "measure"]

app = typer.Typer()


@app.command()
@takes(log_options, screen_options)
def measure(
    log: LogChoice,
    screen: Screen,
    measures: Annotated[
        str | None, typer.Option(help="Measures, with commas; else all that apply.")
    ] = None,
) -> None:
    """Measure risk and use of a release: queryveil measure LOG DIR."""
    *paths, last = log.paths
    folder = Path(last)
    if not paths or not folder.is_dir():
        raise UsageError("name the log, and then the folder of a release", hint="measure LOG DIR")
    chosen = split_lines(measures, all_measures()) if measures else None
    read = LogChoice(paths, log.options).read(screen)
    found = jobs.measure(read, folder, chosen, progress=screen)
    screen.result(found, lambda console: _draw(console, found))


def _draw(console: Console, found: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 3))
    for line, told in found["measures"].items():
        value = "[dim]none[/]" if told["value"] is None else f"{told['value']:,.4g}"
        says = told.get("why_not") or told.get("says") or f"{told['better']} is better"
        table.add_row(plain(line), value, f"[dim]{plain(told['unit'])}[/]", plain(str(says)))
    console.print(table)
    console.print("These are figures of private data: for the owner of the log only.")
