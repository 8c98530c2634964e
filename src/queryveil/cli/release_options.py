"""Options of the commands that write releases, some of which others share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .help import RARE

Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write the release to.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace what queryveil wrote there before.")
]
LedgerName = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="NAME",
        help="Ledger of the privacy budget: name of the population, or a folder. Without it, the "
        "ledger is in the folder of the log.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        rich_help_panel=RARE,
        help="For tests: repeats a run exactly, and makes it unfit for publication.",
    ),
]

Extend = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Extend the release in DIR by the rows that are new since then."
    ),
]
CopyOf = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=RARE,
        help="Copy the release in DIR, at no cost; the log is not opened.",
    ),
]
GroupsOf = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=RARE,
        help="Keep the groups of the k-anonymous release in DIR.",
    ),
]
AddBudget = Annotated[
    bool,
    typer.Option(
        "--add-budget",
        rich_help_panel=RARE,
        help="With --extend: pay for as many queries per user again.",
    ),
]
