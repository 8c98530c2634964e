"""Run `queryveil replicate`: repeat the evaluation of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .. import comparison, replication
from .compare import Out, Repeats, Resume, Seed, Workers
from .documents import WrittenReplication
from .help import Application
from .messages import name_options
from .options import LogArguments, optional_log_options, screen_options, with_options
from .release_options import LedgerName, Overwrite
from .terminal import Terminal, sanitize

app = Application()

Paper = Annotated[
    str, typer.Argument(metavar="PAPER", help=f"{', '.join(replication.PAPERS.names())}.")
]
Users = Annotated[int | None, typer.Option(min=10, help="Users of the synthetic log.")]
TaxonomyFile = Annotated[str | None, typer.Option(help="Taxonomy file to use in place of WordNet.")]


@app.command(example="queryveil replicate batet2013 --out replication")
@with_options(optional_log_options, screen_options)
def replicate(
    paper: Paper,
    log: LogArguments,
    screen: Terminal,
    out: Out,
    users: Users = None,
    taxonomy: TaxonomyFile = None,
    repeats: Repeats = 1,
    seed: Seed = None,
    workers: Workers = 0,
    overwrite: Overwrite = False,
    resume: Resume = True,
    ledger: LedgerName = None,
) -> None:
    """Repeat the evaluation of a paper on a synthetic log or on yours, and check its claims."""
    comparison.check_comparison_output(out, overwrite)
    journal = comparison.open_journal(out, resume=resume)
    options = comparison.RunOptions(repeats, seed, ledger, workers)
    read = (lambda: log.read(screen, seed)) if log.paths else None
    result = replication.replicate(
        paper, read, options, users=users, taxonomy=taxonomy, journal=journal, progress=screen
    )
    result.write(out, overwrite=overwrite, journal=journal)
    document = WrittenReplication(str(out), result)
    screen.result(document, lambda console: _draw(console, result, out))


_OUTCOMES = {
    True: "[green]holds[/]",
    False: "[yellow]does not hold[/]",
    None: "[dim]unknown[/]",
}


def _draw(console: Console, result: replication.Replication, out: Path) -> None:
    log, options = result.comparison.log, result.comparison.options
    source = "a synthetic log" if options.synthetic else "the log"
    console.print(f"On {source} of {log.users:,} users and {log.rows:,} rows:")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("claim", "published", "ours", ""):
        table.add_column(name, overflow="fold")
    for claim in result.claims:
        ours = f"{claim.ours} [dim]{sanitize(claim.why)}[/]" if claim.why else claim.ours
        table.add_row(
            sanitize(claim.claim), sanitize(claim.published), ours, _OUTCOMES[claim.holds]
        )
    console.print(table)
    console.print("\nWhy our figures may differ:")
    for reason in result.deviations:
        console.print(f"  - {sanitize(reason)}", soft_wrap=True)
    for note in result.comparison.notes:
        console.print(f"[yellow]Note:[/] {sanitize(name_options(note))}", soft_wrap=True)
    console.print(f"{sanitize(str(out))}/report.html has the figures.", soft_wrap=True)
