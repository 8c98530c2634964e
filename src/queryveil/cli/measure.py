"""`queryveil measure`: risk and use of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison
from ..comparison.series import REFERENCES
from ..core.parameters import split_specs
from ..errors import UsageError
from ..measures.base import RerunMeasure, all_measures
from ..methods.base import all_methods
from .compare import Dataset, Repeat, Seed, Sweep, Workers, failed_runs
from .options import LogArguments, log_options, screen_options, with_options
from .terminal import Terminal, sanitize


app = typer.Typer()


@app.command()
@with_options(log_options, screen_options)
def measure(
    log: LogArguments,
    screen: Terminal,
    measures: Annotated[
        str | None, typer.Option(help="Measures, with commas; else all that run nothing again.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Other methods to show beside it, with commas.")
    ] = None,
    sweep: Sweep = None,
    repeat: Repeat = 1,
    seed: Seed = None,
    workers: Workers = 0,
    dataset: Dataset = None,
) -> None:
    """Measure risk and use of a release, and put them into its private report: measure LOG DIR."""
    *paths, last = log.paths
    folder = Path(last)
    if not paths or not folder.is_dir():
        raise UsageError("name the log, and then the folder of a release", hint="measure LOG DIR")
    chosen = split_specs(measures, all_measures()) if measures else None
    read = LogArguments(paths, log.options, log.engine).read(screen)
    found = comparison.measure_folder(
        read,
        folder,
        chosen,
        methods=split_specs(methods, all_methods()) if methods else (),
        sweep=comparison.parse_sweeps(sweep or []),
        how=comparison.RunOptions(repeat, seed, dataset, workers),
        progress=screen,
    )
    screen.result(found, lambda console: _draw(console, found))


def _says(told: dict[str, Any]) -> str:
    """Say a value in words, or what it must be read against."""
    if "why_not" in told or "words" in told:
        return str(told.get("why_not") or told["words"])
    beside = [f"{says} {told[name]:,.4g}" for name, says in REFERENCES.items() if told.get(name)]
    return "; ".join([f"{told['title']}: {told['unit']}, {told['better']} is better", *beside])


def _draw(console: Console, found: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 3))
    for line, told in found["measures"].items():
        value = "[dim]none[/]" if told["value"] is None else f"{told['value']:,.4g}"
        table.add_row(sanitize(line), value, sanitize(_says(told)))
    console.print(table)
    for row in failed_runs(found.get("comparison", {"rows": []})):
        console.print(f"[yellow]Did not run:[/] {sanitize(row)}", soft_wrap=True)
    for note in found["notes"]:
        console.print(f"[yellow]Note:[/] {sanitize(note)}", soft_wrap=True)
    console.print("These are figures of private data: for the owner of the log only.")
    if found["report"]:
        console.print(f"They stand in {sanitize(found['report'])} too.", soft_wrap=True)
    console.print(f"[dim]Ask by name for {', '.join(_again())}: these run the method again.[/]")


def _again() -> list[str]:
    return [name for name, kind in all_measures().items() if issubclass(kind, RerunMeasure)]
