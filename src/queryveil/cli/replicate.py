"""`queryveil replicate`: the evaluation of a paper, done again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison, replication
from .compare import Dataset, Force, Fresh, Out, Repeat, Seed, Workers
from .options import LogArguments, optional_log_options, screen_options, with_options
from .terminal import Terminal, sanitize


app = typer.Typer()

Which = Annotated[str, typer.Argument(metavar="PAPER", help=f"{', '.join(replication.PAPERS)}.")]
Users = Annotated[int | None, typer.Option(min=10, help="Users of the synthetic log.")]
Ruler = Annotated[str | None, typer.Option(help="A taxonomy in place of WordNet: a file.")]


@app.command()
@with_options(optional_log_options, screen_options)
def replicate(
    paper: Which,
    log: LogArguments,
    screen: Terminal,
    out: Out,
    users: Users = None,
    taxonomy: Ruler = None,
    repeat: Repeat = 1,
    seed: Seed = None,
    workers: Workers = 0,
    force: Force = False,
    fresh: Fresh = False,
    dataset: Dataset = None,
) -> None:
    """Do a paper's evaluation again, on a synthetic log or on yours, and check its claims."""
    comparison.check_comparison_output(out, force)
    journal = comparison.open_journal(out, fresh=fresh)
    how = comparison.RunOptions(repeat, seed, dataset, workers, journal)
    read = (lambda: log.read(screen, seed)) if log.paths else None
    found = replication.replicate(paper, read, how, users=users, taxonomy=taxonomy, progress=screen)
    comparison.write_comparison(found, out, force, journal)
    told = {"folder": str(out), **found.to_dict()}
    screen.result(told, lambda console: _draw(console, told, out))


_WORDS = {
    True: "[green]holds[/]",
    False: "[yellow]does not hold[/]",
    None: "[dim]cannot be told[/]",
}


def _draw(console: Console, found: dict[str, Any], out: Path) -> None:
    log = found["log"]
    kind = "a synthetic log" if found["synthetic"] else "the log"
    console.print(f"On {kind} of {log['users']:,} users and {log['rows']:,} rows:")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("claim", "published", "ours", ""):
        table.add_column(name, overflow="fold")
    for claim in found["claims"]:
        ours = (
            f"{claim['ours']} [dim]{sanitize(claim['why'])}[/]" if claim["why"] else claim["ours"]
        )
        table.add_row(
            sanitize(claim["claim"]), sanitize(claim["published"]), ours, _WORDS[claim["holds"]]
        )
    console.print(table)
    console.print("\nWhy ours may differ:")
    for why in found["differs"]:
        console.print(f"  - {sanitize(why)}", soft_wrap=True)
    for note in found["notes"]:
        console.print(f"[yellow]Note:[/] {sanitize(note)}", soft_wrap=True)
    console.print(f"{sanitize(str(out))}/report.html has the figures.", soft_wrap=True)
