"""Run `queryveil measure`: risk and utility of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison
from ..core.parameters import split_specs
from ..errors import UsageError
from ..measures.base import MEASURES, RerunMeasure
from ..measures.result import baseline_title, sort_baselines
from ..methods.base import METHODS
from .compare import LedgerName, Repeats, Seed, Sweep, Workers, failed_runs
from .options import LogArguments, log_options, screen_options, with_options
from .terminal import Terminal, sanitize

app = typer.Typer()


@app.command()
@with_options(log_options, screen_options)
def measure(
    log: LogArguments,
    screen: Terminal,
    measures: Annotated[
        str | None,
        typer.Option(
            help="Measures, separated by commas; else all that do not run the method again."
        ),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Other methods to compare with, separated by commas.")
    ] = None,
    sweep: Sweep = None,
    repeats: Repeats = 1,
    seed: Seed = None,
    workers: Workers = 0,
    ledger: LedgerName = None,
) -> None:
    """Measure risk and utility of a release for its private report: measure LOG DIR."""
    *paths, last = log.paths
    folder = Path(last)
    if not paths or not folder.is_dir():
        raise UsageError("name the log, and then the folder of a release", hint="measure LOG DIR")
    chosen = split_specs(measures, MEASURES) if measures else None
    read = LogArguments(paths, log.options, log.engine).read(screen)
    document = comparison.measure_folder(
        read,
        folder,
        chosen,
        methods=split_specs(methods, METHODS) if methods else (),
        sweep=comparison.parse_sweeps(sweep or []),
        how=comparison.RunOptions(repeats, seed, ledger, workers),
        progress=screen,
    )
    screen.result(document, lambda console: _draw(console, document))


def _describe_result(result: dict[str, Any]) -> str:
    """Return the summary of a result, or its unit and reference values."""
    if "skipped_because" in result or "summary" in result:
        return str(result.get("skipped_because") or result["summary"])
    baselines = result.get("baselines", {})
    references = [
        f"{baseline_title(name)} {baselines[name]:,.4g}" for name in sort_baselines(baselines)
    ]
    unit = f"{result['title']}: {result['unit']}, {result['better']} is better"
    return "; ".join([unit, *references])


def _draw(console: Console, document: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 3))
    for spec, result in document["measures"].items():
        value = "[dim]none[/]" if result["value"] is None else f"{result['value']:,.4g}"
        table.add_row(sanitize(spec), value, sanitize(_describe_result(result)))
    console.print(table)
    for row in failed_runs(document.get("comparison", {"rows": []})):
        console.print(f"[yellow]Did not run:[/] {sanitize(row)}", soft_wrap=True)
    for note in document["notes"]:
        console.print(f"[yellow]Note:[/] {sanitize(note)}", soft_wrap=True)
    console.print("These are figures of private data: for the owner of the log only.")
    if document["report"]:
        console.print(f"They are in {sanitize(document['report'])} too.", soft_wrap=True)
    reruns = ", ".join(_list_rerun_measures())
    console.print(f"[dim]Computed only if named, as they run the method again: {reruns}[/]")


def _list_rerun_measures() -> list[str]:
    return [name for name, kind in MEASURES.items() if issubclass(kind, RerunMeasure)]
