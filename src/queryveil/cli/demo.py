"""Run `queryveil demo`, and show its steps on a page or two of a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ..demonstration import demo as run_demo
from ..demonstration.demo import USERS
from ..demonstration.page import verdict_of
from ..demonstration.records import Demonstration, DemoRelease
from .help import Application
from .options import screen_options, with_options
from .terminal import Terminal, sanitize

app = Application()
_ROWS = 6  # of each table: the page has more


@app.command(example="queryveil demo")
@with_options(screen_options)
def demo(
    screen: Terminal,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path(
        "queryveil-demo"
    ),
    users: Annotated[int, typer.Option(min=100, help="Users of the synthetic log.")] = USERS,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what queryveil wrote there before.")
    ] = False,
) -> None:
    """Show risks, three kinds of release, checks and a comparison on a synthetic log."""
    document = run_demo(out, users=users, overwrite=overwrite, progress=screen)
    screen.result(document, lambda console: _draw(console, document))


def _draw(console: Console, demo: Demonstration) -> None:
    program, example = _name_program(), demo.example
    log = sanitize(demo.log.out)
    console.print(f"[bold]A synthetic log[/]: {demo.log.rows:,} rows of {demo.log.users:,} users\n")
    _head(console, "1. What is risky", f"{program} profile {log}")
    _table(
        console,
        [
            (f"{users:,} of {demo.profile.size.users:,}", f"users {text}")
            for users, text in demo.risks
        ],
        numbers=True,
    )
    _release(console, "2. One user, before and after microaggregation", demo.microaggregation)
    heads = (f"user {example.user} sent", f"{example.group_size} users share this log")
    _columns(console, heads, example.before, example.grouped)
    _release(console, "3. Private statistics, with their noise", demo.statistics)
    counts = [(f"{row.count:,} ± {row.interval:,}", row.query) for row in demo.counts[:_ROWS]]
    _table(console, counts, numbers=True)
    console.print(
        f"  {demo.released_queries:,} queries in all; ± holds in 95 of 100 cases", soft_wrap=True
    )
    _release(console, "4. Queries replaced", demo.replacement)
    _columns(console, (heads[0], "released in their place"), example.before, example.replaced)
    console.print(
        "  Drawn from noisy topics: for statistics of many users, not for one of them.",
        soft_wrap=True,
    )
    folder = sanitize(demo.folder)
    _head(console, "\n5. Verified on the written files", f"{program} verify {folder}/statistics")
    _table(console, [(one.card.method, verdict_of(one)) for one in demo.releases])
    text = f"The ledger adds up both private releases: {sanitize(demo.together)}."
    console.print(Padding(text, (0, 0, 0, 2)))
    _head(console, "\n6. Risk and utility compared", _run_as(demo.comparison.command))
    console.print(f"  {sanitize(demo.comparison.picture)} shows the frontier.", soft_wrap=True)
    console.print(f"\nLook at [bold]{sanitize(demo.page)}[/] in a browser.", soft_wrap=True)


def _release(console: Console, title: str, release: DemoRelease) -> None:
    _head(console, f"\n{title}", _run_as(release.command))
    text = f"{release.meaning[:1].upper()}{release.meaning[1:]}."
    console.print(Padding(sanitize(text), (0, 0, 0, 2)))


def _head(console: Console, title: str, command: str) -> None:
    console.print(f"[bold]{title}[/]")
    console.print(f"[dim]  $ {sanitize(command)}[/]", soft_wrap=True)


def _columns(
    console: Console, heads: tuple[str, str], left: Sequence[str], right: Sequence[str]
) -> None:
    rows = [
        (left[i] if i < len(left) else "", right[i] if i < len(right) else "")
        for i in range(min(_ROWS, max(len(left), len(right))))
    ]
    _table(console, rows, heads)


def _table(
    console: Console,
    rows: Sequence[tuple[str, str]],
    heads: tuple[str, str] | None = None,
    *,
    numbers: bool = False,
) -> None:
    table = Table(box=None, show_header=heads is not None, padding=(0, 0, 0, 2), header_style="dim")
    table.add_column(heads[0] if heads else "", justify="right" if numbers else "left")
    table.add_column(heads[1] if heads else "")
    for row in rows:
        table.add_row(*map(sanitize, row))
    console.print(table)


def _run_as(command: str) -> str:
    """Return a command with the name by which this program runs from the current folder."""
    return command.replace("queryveil", _name_program(), 1)


def _name_program() -> str:
    return "queryveil" if shutil.which("queryveil") else os.path.relpath(sys.argv[0])
