"""Run `queryveil measure`: risk and utility of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison
from ..comparison.measured_risks import measured_figures
from ..comparison.release_measurement import read_measurement
from ..core.parameters import split_specs
from ..errors import UsageError
from ..measures.base import MEASURES, RerunMeasure
from ..measures.result import MeasureResult, baseline_title, sort_baselines
from ..methods.base import METHODS
from ..release.reading import read_private_card
from ..release.risk_figures import collect_figures
from ..release.verdict import judge
from . import tables
from .compare import Repeats, Seed, Sweep, Workers, failed_runs
from .help import Application
from .messages import name_options
from .options import LogArguments, log_options, screen_options, with_options
from .release_options import LedgerName
from .terminal import Terminal, sanitize

app = Application()


@app.command(example="queryveil measure log.tsv release")
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
        raise UsageError(
            "the log is missing" if folder.is_dir() else f'"{last}" is not the folder of a release',
            hint="name the log, then the folder of a release: queryveil measure LOG DIR",
        )
    chosen = split_specs(measures, MEASURES) if measures else None
    read = LogArguments(paths, log.options, log.engine).read(screen)
    measurement = comparison.measure_folder(
        read,
        folder,
        chosen,
        methods=split_specs(methods, METHODS) if methods else (),
        sweep=comparison.parse_sweeps(sweep or []),
        how=comparison.RunOptions(repeats, seed, ledger, workers),
        progress=screen,
    )
    screen.result(measurement, lambda console: _draw(console, measurement, folder))


def _draw_verdict(console: Console, folder: Path) -> None:
    """Print the verdict of the private report, which has earlier measurements too."""
    card, known = read_private_card(folder), read_measurement(folder)
    if card is None or known is None:
        return
    figures = collect_figures(card, measured_figures(known.results.measures))
    tables.print_verdict(console, judge(card, figures, attacked=True), figures)
    console.print()


def _describe_result(result: MeasureResult) -> str:
    """Return the summary of a result, or its unit and its baselines."""
    if result.skipped_because or result.summary:
        return result.skipped_because or result.summary or ""
    baselines = [
        f"{baseline_title(name)} {result.baselines[name]:,.4g}"
        for name in sort_baselines(result.baselines)
    ]
    unit = f"{result.title}: {result.unit}, {result.better} is better"
    return "; ".join([unit, *baselines])


def _draw(console: Console, measurement: comparison.ReleaseMeasurement, folder: Path) -> None:
    _draw_verdict(console, folder)
    table = Table.grid(padding=(0, 3))
    for spec, result in measurement.results.items():
        value = "[dim]none[/]" if result.value is None else f"{result.value:,.4g}"
        table.add_row(sanitize(spec), value, sanitize(_describe_result(result)))
    console.print(table)
    for row in failed_runs(measurement.comparison.rows if measurement.comparison else ()):
        console.print(f"[yellow]Did not run:[/] {sanitize(row)}", soft_wrap=True)
    for note in measurement.results.notes:
        console.print(f"[yellow]Note:[/] {sanitize(name_options(note))}", soft_wrap=True)
    console.print("These are figures of private data: for the owner of the log only.")
    if measurement.report:
        console.print(f"They are in {sanitize(measurement.report)} too.", soft_wrap=True)
        if measurement.comparison:
            console.print("The comparison with other parameters or methods is there only.")
    reruns = ", ".join(_list_rerun_measures())
    console.print(f"[dim]Computed only if named, as they run the method again: {reruns}[/]")


def _list_rerun_measures() -> list[str]:
    return [name for name, kind in MEASURES.items() if issubclass(kind, RerunMeasure)]
