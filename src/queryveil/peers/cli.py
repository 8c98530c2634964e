"""`queryveil peers ...`: friends who submit each other's queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..cli.compare import Repeats, Seed
from ..cli.config import parse_fraction
from ..cli.help import Application
from ..cli.options import LogArguments, log_options, screen_options, with_options
from ..cli.release_options import LedgerName, Overwrite
from ..cli.terminal import Terminal
from ..comparison import parse_sweeps
from ..errors import UsageError
from ..log.query_log import QueryLog
from . import cli_node, output, tables
from .simulation import sweeps
from .simulation.graphs import GRAPHS
from .simulation.results import WrittenSweep
from .simulation.scenario import EXPERIMENTS, Scenario

app = Application(
    help="Friends who submit each other's queries, before an engine knows whose they are.",
    no_args_is_help=True,
)
app.add_typer(cli_node.app, name="node")
app.command(example="queryveil peers engine")(cli_node.engine)

Graph = Annotated[
    str,
    typer.Option(help=f"Who is whose friend: {', '.join(GRAPHS)}, as barabasi-albert:m=3; a file."),
]
Test = Annotated[
    str,
    typer.Option(
        help=f"{' or '.join(EXPERIMENTS)}: one query per user many times, or those of the log."
    ),
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(help="Values of a parameter: max-hops=1..5; several times."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder to write.")]


@app.command(example="queryveil peers simulate log.tsv --max-hops 3")
@with_options(log_options, screen_options)
def simulate(
    log: LogArguments,
    screen: Terminal,
    graph: Graph = "barabasi-albert:m=2",
    submit_probability: Annotated[
        float, typer.Option(help="Probability that a relay submits a query.")
    ] = 0.5,
    max_hops: Annotated[int, typer.Option(help="How often a query is relayed at most.")] = 3,
    selfish: Annotated[str, typer.Option(help="Fraction of users who refuse to relay.")] = "0",
    dishonest: Annotated[
        str, typer.Option(help="Fraction of users who record what they relay.")
    ] = "0",
    churn: Annotated[str, typer.Option(help="Fraction of users who are offline.")] = "0",
    message_loss: Annotated[str, typer.Option(help="Fraction of messages that get lost.")] = "0",
    queries: Annotated[
        int | None, typer.Option(min=1, help="Queries of each user at most; with t1: times.")
    ] = None,
    random_hop_start: Annotated[
        bool,
        typer.Option("--random-hop-start", help="Start the hop count at random, as the node does."),
    ] = False,
    test: Test = "t2",
    sweep: Sweep = None,
    max_mean_hops: Annotated[
        float, typer.Option(help="Maximum mean hops of the best setting.")
    ] = 2.0,
    repeats: Repeats = 1,
    out: Out = None,
    overwrite: Overwrite = False,
    seed: Seed = None,
    ledger: LedgerName = None,
) -> None:
    """Simulate users of a log who send queries through friends, and report who learns what."""
    fractions = {
        "selfish": selfish,
        "dishonest": dishonest,
        "churn": churn,
        "message_loss": message_loss,
    }
    scenario = Scenario(
        graph=graph, submit_probability=submit_probability, max_hops=max_hops, queries=queries,
        test=test, random_hop_start=random_hop_start,
        **{name: parse_fraction(text) for name, text in fractions.items()},
    )  # fmt: skip

    def read() -> QueryLog:
        return log.read(screen, seed)

    if not (sweep or out):
        if repeats > 1:
            raise UsageError("--repeats is for a sweep", hint="--sweep max-hops=1..5")
        run = sweeps.simulate(read, scenario, seed=seed, ledger=ledger, progress=screen)
        screen.result(run, lambda console: tables.print_simulation(console, run.summary))
        return
    if out is not None:
        output.check_sweep_output(out, overwrite)
    results = sweeps.sweep(
        read, parse_sweeps(sweep or []), scenario, seed=seed, repeats=repeats,
        max_mean_hops=max_mean_hops, ledger=ledger, progress=screen,
    )  # fmt: skip
    if out is not None:
        output.write_sweep(results, out, overwrite)
    document = WrittenSweep(results, str(out) if out else None)
    screen.result(document, lambda console: tables.print_sweep(console, results, out))
