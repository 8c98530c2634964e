"""Run `queryveil compare` and `queryveil measures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison
from ..comparison.page import format_interval
from ..comparison.series import short_labels
from ..core.parameters import split_specs
from ..errors import UsageError
from ..log.detectors import parse_detectors
from ..measures.base import DEFAULT_MEASURES, MEASURES, Measure
from ..methods.base import METHODS
from .detectors import Detectors
from .documents import MeasureDescription, MeasureList, MeasureParameter, WrittenComparison
from .help import Application
from .identifiers import Identifiers
from .messages import name_options
from .options import LogArguments, log_options, screen_options, with_options
from .release_options import LedgerName, Overwrite
from .sensitive import Sensitive
from .terminal import Terminal, sanitize

app = Application()

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")]
Methods = Annotated[str | None, typer.Option(help="Specs of methods, separated by commas.")]
Sweep = Annotated[
    list[str] | None,
    typer.Option(help="Values of a parameter: epsilon=0.1,1,10 or k=2..7; several times."),
]
Repeats = Annotated[int, typer.Option(min=1, help="Runs of each method, to show the spread.")]
Measures = Annotated[
    str | None,
    typer.Option(help="Measures, separated by commas; else two of risk and three of utility."),
]
Preset = Annotated[
    str | None, typer.Option(help=f"Figures of a paper: {', '.join(comparison.PRESETS)}.")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Makes runs repeatable.")]
Workers = Annotated[int, typer.Option(min=0, help="Parallel processes; 0: one per core.")]
Resume = Annotated[
    bool, typer.Option("--resume/--no-resume", help="Keep what an earlier run computed.")
]


@app.command(
    example="queryveil compare log.tsv --out comparison --sweep k=3,5,10 \\\n"
    "    --methods semantic-microaggregation,string-microaggregation"
)
@with_options(log_options, screen_options)
def compare(
    log: LogArguments,
    screen: Terminal,
    out: Out,
    methods: Methods = None,
    sweep: Sweep = None,
    repeats: Repeats = 1,
    measures: Measures = None,
    preset: Preset = None,
    overwrite: Overwrite = False,
    seed: Seed = None,
    ledger: LedgerName = None,
    workers: Workers = 0,
    resume: Resume = True,
    identifiers: Identifiers = "drop",
    sensitive: Sensitive = "keep",
    detectors: Detectors = None,
) -> None:
    """Run methods side by side, measure them, and draw the figures. Nothing is published."""
    comparison.check_comparison_output(out, overwrite)
    _check_choice(preset, {"--methods": methods, "--sweep": sweep, "--measures": measures})
    if preset is None:
        request = comparison.request_figures(
            split_specs(methods or "", METHODS),
            split_specs(measures, MEASURES) if measures else DEFAULT_MEASURES,
            comparison.parse_sweeps(sweep or []),
        )
    else:
        request = comparison.get_preset(preset)
    journal = comparison.open_journal(out, resume=resume)
    options = comparison.RunOptions(
        repeats,
        seed,
        ledger,
        workers,
        identifiers=identifiers,
        sensitive=sensitive,
        detectors=parse_detectors(detectors or ""),
    )
    result = comparison.compare_figures(
        lambda: log.read(screen, seed), request, options, journal=journal, progress=screen
    )
    comparison.write_comparison(result, out, overwrite, journal)
    document = WrittenComparison(str(out), result)
    screen.result(document, lambda console: _draw_comparison(console, result, out))


def _check_choice(preset: str | None, others: Mapping[str, str | list[str] | None]) -> None:
    used = [name for name, value in others.items() if value]
    if preset is not None and used:
        raise UsageError(f"a preset has its own {', '.join(used)}", hint="leave one of them out")
    if preset is None and "--methods" not in used:
        raise UsageError("no method was named", hint="--methods a,b, or --preset NAME")


def _draw_comparison(console: Console, result: comparison.Comparison, out: Path) -> None:
    for spec, about in result.measures.items():
        title = f"{sanitize(about.title)}, {about.better} is better"
        console.print(f"[bold]{sanitize(spec)}[/]  {title}")
        _draw_runs(console, result, [_format_mean(result, run, spec) for run in result.means])
    _draw_utility(console, result)
    if result.has_limits:
        console.print(
            "At best: what no release reaches whose texts have as many users as the method "
            "demands; for retrieval-effectiveness, the value of all rows of such texts.",
            soft_wrap=True,
        )
    if result.known_before:
        console.print(f"{result.known_before:,} figures were known from an earlier run.")
    for note in result.notes:
        console.print(f"[yellow]Note:[/] {sanitize(name_options(note))}", soft_wrap=True)
    console.print(
        f"{sanitize(str(out))}/report.html has the figures. They are computed from "
        "private data: for the owner of the log only.",
        soft_wrap=True,
    )


def failed_runs(rows: Sequence[comparison.ComparisonRow]) -> list[str]:
    """Return the runs that failed and their errors, without duplicates."""
    failed = [row for row in rows if row.error]
    texts = (f"{row.method} ({row.measure}): {row.error}" for row in failed)
    return list(dict.fromkeys(texts))


def _draw_utility(console: Console, result: comparison.Comparison) -> None:
    """Print the figure of utility of each run, if any run has one."""
    utilities = sum(about.kind == "utility" for about in result.measures.values())
    if not any(run.utility for run in result.means):
        return
    of = "one utility measure" if utilities == 1 else f"{utilities} utility measures"
    console.print(
        f"[bold]utility[/]  mean score of {of}: 0 for an empty release, 1 for the original log",
        soft_wrap=True,
    )
    cells = [
        _format_value(run.utility)
        if run.utility
        else ("", f"[yellow]{sanitize(run.no_utility_because or '')}[/]", "")
        for run in result.means
    ]
    _draw_runs(console, result, cells)


def _draw_runs(
    console: Console, result: comparison.Comparison, cells: Sequence[tuple[str, str, str] | None]
) -> None:
    """Print a line for each run with cells: its shortened label, its swept values, the cells."""
    short = short_labels(dict.fromkeys(run.label for run in result.means))
    table = Table.grid(padding=(0, 3))
    for run, own in zip(result.means, cells, strict=True):
        if own is not None:
            swept = " ".join(f"{name}={value}" for name, value in run.params.items())
            table.add_row(f"  {sanitize(short[run.label])}", sanitize(swept), *own)
    console.print(table)
    console.print()


def _format_mean(
    result: comparison.Comparison, run: comparison.RunMeans, measure: str
) -> tuple[str, str, str] | None:
    """Return the cells of a measure of a run, or None if it was not asked for."""
    if measure in run.measures:
        return _format_value(run.measures[measure])
    own = (run.label, run.method, measure)
    rows = [row for row in result.rows if (row.label, row.method, row.measure) == own]
    errors = [row.error or f"a value is {row.value}" for row in rows if row.value is None]
    return ("", f"[yellow]{sanitize(errors[0])}[/]", "") if errors else None


def _format_value(value: comparison.MeanValue) -> tuple[str, str, str]:
    best = value.best_with_threshold
    limit = "" if best is None else f"at best {best:.4f}"
    return f"{value.mean:.4f}", f"[dim]{format_interval(value)}[/]", f"[dim]{limit}[/]"


@app.command(example="queryveil measures record-linkage")
@with_options(screen_options)
def measures(
    screen: Terminal,
    name: Annotated[str | None, typer.Argument(help="Name of a measure; else all.")] = None,
) -> None:
    """List the measures with their parameters and papers."""
    chosen = [MEASURES.find(name)] if name else list(MEASURES.values())
    descriptions = tuple(_describe(measure) for measure in chosen)
    screen.result(MeasureList(descriptions), lambda console: _draw_measures(console, descriptions))


def _describe(measure: type[Measure]) -> MeasureDescription:
    return MeasureDescription(
        name=measure.name,
        title=measure.title,
        description=measure.description,
        paper=measure.paper,
        unit=measure.unit,
        better=measure.better,
        kind=measure.kind,
        parameters=tuple(
            MeasureParameter(
                declared.name,
                declared.type.__name__,
                declared.default,
                declared.allowed,
                declared.help,
            )
            for declared in measure.parameters()
        ),
    )


def _draw_measures(console: Console, measures: Sequence[MeasureDescription]) -> None:
    for measure in measures:
        console.print(f"[bold]{measure.name}[/]  {sanitize(measure.title)}")
        console.print(f"  {sanitize(measure.description)}; {measure.better} is better")
        console.print(f"  [dim]paper:[/] {sanitize(measure.paper)}")
        table = Table.grid(padding=(0, 2))
        for declared in measure.parameters:
            name = declared.name.replace("_", "-")
            text = f"{sanitize(declared.help)} [dim]({sanitize(declared.range)})[/]"
            table.add_row(f"  {name}={sanitize(str(declared.default))}", text)
        console.print(table)
