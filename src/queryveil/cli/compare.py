"""`queryveil compare` and `queryveil measures`: methods side by side, and the rulers for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison
from ..comparison.series import short_labels
from ..core.parameters import split_specs
from ..errors import UsageError
from ..measures.base import Measure, all_measures, get_measure
from ..methods.base import all_methods
from .options import Identifiers, LogArguments, log_options, screen_options, with_options
from .terminal import Terminal, sanitize


app = typer.Typer()

_USUAL = "record-linkage,partial-knowledge-linkage,profile-divergence,query-coverage,word-frequency"


Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")]
Methods = Annotated[
    str | None, typer.Option(help="Methods, each as one line, with commas between them.")
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(help="Values of a parameter: epsilon=0.1,1,10 or k=2..7; several times."),
]
Repeat = Annotated[int, typer.Option(min=1, help="Runs of each, for the spread.")]
Measures = Annotated[
    str | None, typer.Option(help="Measures, with commas; else two of risk and three of use.")
]
Preset = Annotated[
    str | None, typer.Option(help=f"Figures of a paper: {', '.join(comparison.PRESETS)}.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace what queryveil wrote there before.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Makes runs repeatable.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes side by side; 0: one a core.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run all anew, also what is known already.")]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", help="Whose ledger: a name, or a folder; else the log's folder."),
]


@app.command()
@with_options(log_options, screen_options)
def compare(
    log: LogArguments,
    screen: Terminal,
    out: Out,
    methods: Methods = None,
    sweep: Sweep = None,
    repeat: Repeat = 1,
    measures: Measures = None,
    preset: Preset = None,
    force: Force = False,
    seed: Seed = None,
    dataset: Dataset = None,
    workers: Workers = 0,
    fresh: Fresh = False,
    identifiers: Identifiers = "drop",
) -> None:
    """Run methods side by side, measure them, and draw the figures. Nothing is published."""
    comparison.check_comparison_output(out, force)
    _check_choice(preset, {"--methods": methods, "--sweep": sweep, "--measures": measures})
    if preset is None:
        asked = comparison.request_figures(
            split_specs(methods or "", all_methods()),
            split_specs(measures or _USUAL, all_measures()),
            comparison.parse_sweeps(sweep or []),
        )
    else:
        asked = comparison.get_preset(preset)
    journal = comparison.open_journal(out, fresh=fresh)
    how = comparison.RunOptions(repeat, seed, dataset, workers, journal, identifiers=identifiers)
    found = comparison.compare_figures(lambda: log.read(screen, seed), asked, how, progress=screen)
    comparison.write_comparison(found, out, force, journal)
    told = {"folder": str(out), **found.to_dict()}
    screen.result(told, lambda console: _draw_comparison(console, told))


def _check_choice(preset: str | None, others: dict[str, Any]) -> None:
    given = [name for name, value in others.items() if value]
    if preset is not None and given:
        raise UsageError(f"a preset has its own {', '.join(given)}", hint="leave one of them out")
    if preset is None and "--methods" not in given:
        raise UsageError("no method was named", hint="--methods a,b, or --preset NAME")


def _draw_comparison(console: Console, found: dict[str, Any]) -> None:
    for line, about in found["measures"].items():
        console.print(
            f"[bold]{sanitize(line)}[/]  {sanitize(about['title'])}, {about['better']} is better"
        )
        table = Table.grid(padding=(0, 3))
        for (label, swept), rows in _runs(found["rows"], line).items():
            table.add_row(f"  {sanitize(label)}", sanitize(swept), *_cells(rows))
        console.print(table)
        console.print()
    if found["known_before"]:
        console.print(f"{found['known_before']:,} figures were known from an earlier run.")
    for note in found["notes"]:
        console.print(f"[yellow]Note:[/] {sanitize(note)}", soft_wrap=True)
    console.print(
        f"{sanitize(found['folder'])}/report.html has the figures. They tell of private data: for "
        "the owner of the log only.",
        soft_wrap=True,
    )


def failed_runs(found: dict[str, Any]) -> list[str]:
    """Say what did not run, and why, each thing once."""
    bad = [row for row in found["rows"] if row["error"]]
    return list(dict.fromkeys(f"{row['method']} ({row['measure']}): {row['error']}" for row in bad))


def _runs(rows: list[dict[str, Any]], measure: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Give the repeats of each run, by its label, as short as can be, and its swept values."""
    short = short_labels(dict.fromkeys(row["label"] for row in rows))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["measure"] == measure:
            swept = " ".join(f"{name}={value}" for name, value in row["swept"].items())
            found.setdefault((short[row["label"]], swept), []).append(row)
    return found


def _cells(rows: list[dict[str, Any]]) -> tuple[str, str]:
    values = [row["value"] for row in rows if row["value"] is not None]
    if not values:
        return "", f"[yellow]{sanitize(rows[0]['error'])}[/]"
    spread = f"{min(values):.4f} to {max(values):.4f}" if len(values) > 1 else ""
    return f"{sum(values) / len(values):.4f}", f"[dim]{spread}[/]"


@app.command()
@with_options(screen_options)
def measures(
    screen: Terminal,
    name: Annotated[str | None, typer.Argument(help="One measure; all if not given.")] = None,
) -> None:
    """List the measures with their parameters and papers."""
    chosen = [get_measure(name)] if name else list(all_measures().values())
    found = [_described(kind) for kind in chosen]
    screen.result({"measures": found}, lambda console: _draw_measures(console, found))


def _described(kind: type[Measure]) -> dict[str, Any]:
    names = ("name", "title", "description", "paper", "unit", "better", "kind")
    parameters = [
        {
            "name": declared.name,
            "type": declared.type.__name__,
            "default": declared.default,
            "range": declared.allowed,
            "help": declared.help,
        }
        for declared in kind.parameters()
    ]
    return {name: getattr(kind, name) for name in names} | {"parameters": parameters}


def _draw_measures(console: Console, measures: list[dict[str, Any]]) -> None:
    for measure in measures:
        console.print(f"[bold]{measure['name']}[/]  {sanitize(measure['title'])}")
        console.print(f"  {sanitize(measure['description'])}; {measure['better']} is better")
        console.print(f"  [dim]paper:[/] {sanitize(measure['paper'])}")
        table = Table.grid(padding=(0, 2))
        for declared in measure["parameters"]:
            name = declared["name"].replace("_", "-")
            says = f"{sanitize(declared['help'])} [dim]({sanitize(declared['range'])})[/]"
            table.add_row(f"  {name}={sanitize(str(declared['default']))}", says)
        console.print(table)
