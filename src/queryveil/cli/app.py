"""The commands that a person types."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from .. import synthetic, workflows
from .._version import __version__
from ..engine.table import ENGINES
from ..errors import UsageError
from ..methods.base import Method, all_methods, get_method
from ..peers import cli as peers
from ..workflows.repeated_releases import unrecorded
from . import compare, ledger, measure, replicate, tables, taxonomy
from . import verification as checking
from .config import load_config
from .copies import check_copy, check_form
from .options import (
    AppendedIdentifiers,
    Identifiers,
    LogArguments,
    MapperArguments,
    MethodArguments,
    check_groups_of,
    log_options,
    mapper_options,
    method_options,
    optional_log_options,
    optional_method_options,
    screen_options,
    with_options,
)
from .terminal import Terminal, sanitize
from .verification import SignWith, may_be_published

app = typer.Typer(
    name="queryveil",
    help="Anonymize web-search query logs, say what that promises, and check it on the files.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(taxonomy.app, name="taxonomy")
app.add_typer(ledger.app, name="ledger")
app.add_typer(checking.app)
app.add_typer(compare.app)
app.add_typer(measure.app)
app.add_typer(replicate.app)
app.add_typer(peers.app, name="peers")

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what queryveil wrote there before.")]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", help="Whose ledger: a name, or a folder; else the log's folder."),
]
Seed = Annotated[
    int | None, typer.Option("--seed", help="For tests: makes a run repeatable and unpublishable.")
]

Append = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Go on with the release in DIR: what is new since then."),
]
CopyOf = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Copy the release in DIR, at no cost; the log is not opened."),
]
GroupsOf = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep the groups of the k-anonymous release in DIR."),
]
LowerGuarantee = Annotated[
    bool, typer.Option("--lower-guarantee", help="With --append: let users use as much again.")
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"queryveil {__version__}")
        raise typer.Exit


@app.callback()
def main_callback(
    ctx: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", help="Options in TOML; else ./queryveil.toml.")
    ] = None,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Read the config file before any command."""
    group: Any = ctx.command
    known = dict(_commands(group))
    options: dict[str, Any] = load_config(config, known)
    for name in [name for name in options if " " in name]:  # "taxonomy map", one inside the other
        *outer, inner = name.split(" ")
        place = options
        for word in outer:
            place = place.setdefault(word, {})
        place[inner] = options.pop(name)
    ctx.default_map = options


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """List the commands with their options, those inside another as "taxonomy map"."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield before + name, _options(command.params)


def _options(parameters: list[Any]) -> dict[str, str]:
    """Give what a person types for each parameter, without hyphens, and the parameter's name."""
    return {
        word.removeprefix("--"): parameter.name
        for parameter in parameters
        for word in parameter.opts
        if not word.startswith("-") or word.startswith("--")
    }


@app.command()
@with_options(screen_options)
def demo(
    screen: Terminal,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path(
        "queryveil-demo"
    ),
    force: Force = False,
) -> None:
    """Go the whole way on a synthetic log, in under a minute."""
    found = workflows.demo(out, force=force, progress=screen)
    screen.result(found, lambda console: _draw_demo(console, found))


def _draw_demo(console: Console, found: dict[str, Any]) -> None:
    folder, log = sanitize(found["folder"]), sanitize(found["log"]["out"])
    console.print(f"[bold]1. A log that belongs to nobody[/]: {found['log']['rows']:,} lines\n")
    tables.print_profile(console, found["profile"])
    console.print()
    tables.print_card(console, found["card"], "2. Protected with frequent-queries")
    console.print("\n[bold]3. Verified on the written files[/]")
    tables.print_verification(console, found["verify"])
    console.print(
        f"\nMade: [bold]{folder}/public[/] ({may_be_published(found['card'])}) and "
        f"[bold]{folder}/private[/] (never publish).\n"
        f"Open {folder}/public/report.html in a browser.\n\nTry next:",
        soft_wrap=True,
    )
    for command in (
        "profile YOUR_LOG",
        f"plan {log} --method frequent-queries --n 20",
        f"anonymize {log} --method frequent-queries --n 20 --out my-release",
        "verify my-release",
    ):
        console.print(f"  {_program()} {command}", soft_wrap=True)


def _program() -> str:
    """Say how this program is called from here."""
    return "queryveil" if shutil.which("queryveil") else os.path.relpath(sys.argv[0])


@app.command()
@with_options(screen_options)
def synth(
    screen: Terminal,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .tsv, .tsv.gz, .parquet, ...")
    ],
    users: Annotated[int | None, typer.Option(help="Users; about 55 lines each.")] = None,
    lines: Annotated[int | None, typer.Option(help="Lines, exactly.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 0,
    about: Annotated[
        str | None, typer.Option(help="Ask about these topics only: A, or disease,sport.")
    ] = None,
    queries: Annotated[int | None, typer.Option(help="With --about: queries of each user.")] = None,
    force: Force = False,
) -> None:
    """Write an AOL-shaped log that belongs to nobody."""
    found = synthetic.write_synthetic_log(
        out,
        users=users,
        lines=lines,
        seed=seed,
        about=about,
        queries=queries,
        force=force,
        progress=screen,
    )
    text = f"{found['rows']:,} lines of {found['users']:,} users in {sanitize(found['out'])}"
    screen.result(found, lambda console: console.print(text, soft_wrap=True))


@app.command()
@with_options(log_options, mapper_options, screen_options)
def profile(
    log: LogArguments, mapper: MapperArguments, screen: Terminal, dataset: Dataset = None
) -> None:
    """Tell what is in a log, what it is about, and what is risky in it."""
    ready = mapper.make() if mapper.wanted else None
    found = workflows.profile(log.read(screen), mapper=ready, dataset=dataset, progress=screen)
    screen.result(found, lambda console: tables.print_profile(console, found))


@app.command()
@with_options(log_options, method_options, screen_options)
def plan(
    log: LogArguments,
    method: Method,
    screen: Terminal,
    population: Annotated[
        int, typer.Option(min=1, help="People in the log, about: a public figure.")
    ] = 100_000,
    peek: Annotated[
        bool, typer.Option("--peek", help="Look at the log; the ledger and later cards tell so.")
    ] = False,
    dataset: Dataset = None,
    identifiers: Identifiers = "drop",
) -> None:
    """Show what would be released, before anything is written."""
    card = workflows.plan(
        lambda: log.read(screen),
        method,
        population=population,
        peek=peek,
        dataset=dataset,
        identifiers=identifiers,
        progress=screen,
    )

    def drawn(console: Console) -> None:
        if "forecast" in card:
            tables.print_forecast(console, card)
        if "input" not in card:
            return
        tables.print_card(console, card, f"What {method} would release")
        tables.print_alternatives(console, card.get("alternatives", []))
        console.print("\nNothing was written.")

    screen.result(card, drawn)


@app.command()
@with_options(optional_log_options, optional_method_options, screen_options)
def anonymize(
    log: LogArguments,
    method: MethodArguments,
    screen: Terminal,
    out: Out,
    form: Annotated[
        str, typer.Option("--write", help="Form of the log: parquet, tsv, csv or jsonl.")
    ] = "parquet",
    forget_mapping: Annotated[
        bool, typer.Option(help="Keep no list of who got which pseudonym.")
    ] = False,
    force: Force = False,
    seed: Seed = None,
    dataset: Dataset = None,
    append: Append = None,
    lower_guarantee: LowerGuarantee = False,
    copy_of: CopyOf = None,
    identifiers: AppendedIdentifiers = None,
    population: Annotated[
        int | None,
        typer.Option(min=1, help="People in the log, about: a public figure, for private tables."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Pay also for what is expected to hold next to nothing.")
    ] = False,
    groups_of: GroupsOf = None,
    sign: SignWith = None,
) -> None:
    """Protect a log and write a verified release."""
    _check_append(append, lower_guarantee, seed)
    check_groups_of(groups_of, append, copy_of)
    if copy_of is not None:
        check_copy(bool(method.typed_options() or append or identifiers), seed, sign)
        check_form(copy_of, form)
        kept: dict[str, Any] = {"force": force, "forget_mapping": forget_mapping}
        card = workflows.copy_release(copy_of, out, logs=log.paths, dataset=dataset, **kept)
        name = sanitize(str(out))
        screen.result(card, lambda console: _draw_written(console, card, card["method"], name))
        return
    if sign is not None:
        workflows.show_signing_key(sign)  # refuses what is no key before anything is paid for
    log.check_named()
    chosen = method.make() if append is None else method.make_if_typed()
    workflows.check_release_output(out, form, force)
    how: dict[str, Any] = {"form": form, "force": force, "forget_mapping": forget_mapping}
    how |= {"dataset": dataset, "sign": sign, "progress": screen}
    if append is None and chosen is not None and seed is None and not yes:
        _agree_to_pay(screen, chosen, population)  # before the log is opened
    # Whether there is a private release must not hang on one person's rows.
    stops = chosen is not None and (
        seed is not None or not workflows.is_differentially_private(chosen)
    )
    read = log.read(screen, seed, may_stop=stops)
    if append is None and chosen is not None:
        how |= {"identifiers": identifiers or "drop", "groups_of": groups_of}
        card = workflows.anonymize_to_folder(read, chosen, out, seed=seed, yes=True, **how)
    else:
        how |= {"method": chosen, "lower_guarantee": lower_guarantee}
        how["identifiers"] = identifiers
        card = workflows.extend_release(read, append or out, out, **how)
    made_by = str(chosen or card["method"])
    screen.result(card, lambda console: _draw_written(console, card, made_by, sanitize(str(out))))


def _agree_to_pay(screen: Terminal, method: Method, population: int | None) -> None:
    """Ask whether to pay for next to nothing; refuse where nobody is there to answer."""
    problem = workflows.low_yield(method, population)
    if problem is None:
        return
    if not screen.answers:
        raise problem
    screen.err.print(f"{problem.what[0].upper()}{problem.what[1:]}.", soft_wrap=True)
    typer.confirm("Pay and go on all the same?", abort=True, err=True)


def _check_append(append: Path | None, lower_guarantee: bool, seed: int | None) -> None:
    if lower_guarantee and append is None:
        raise UsageError(
            "--lower-guarantee without --append",
            hint="it is for a log that was released before: --append DIR",
        )
    if seed is not None and append is not None:
        raise UsageError(
            "--seed with --append: what can be drawn again would be linked to a real release",
            hint="leave --seed out",
        )


def _draw_written(console: Console, card: dict[str, Any], made_by: str, name: str) -> None:
    if "copied" in card:
        text = f"A copy of {card['copied']}: the same bytes, at no cost."
        console.print(sanitize(text), soft_wrap=True)
    tables.print_card(console, card, f"Released with {made_by}")
    tables.draw_emptiness(console, card)
    for warning in unrecorded(card):
        console.print(f"[yellow]Warning:[/] {warning}")
    console.print(
        f"\nWritten and verified: {name}/public ({may_be_published(card)}), {name}/private (never "
        f"publish).\nNext: queryveil verify {name}; queryveil pack {name}",
        soft_wrap=True,
    )


@app.command()
@with_options(screen_options)
def methods(
    screen: Terminal,
    name: Annotated[str | None, typer.Argument(help="One method; all if not given.")] = None,
) -> None:
    """List the methods with their parameters, papers and guarantees."""
    chosen = [get_method(name)] if name else list(all_methods().values())
    found = [_described(kind) for kind in chosen]
    screen.result({"methods": found}, lambda console: tables.print_methods(console, found))


def _described(kind: type[Method]) -> dict[str, Any]:
    parameters = [
        {
            "name": declared.name,
            "option": declared.option,
            "type": declared.type.__name__,
            "default": declared.default,
            "range": declared.allowed,
            "unit": declared.unit,
            "help": declared.help,
        }
        for declared in kind.parameters()
    ]
    about = {
        "name": kind.name,
        "title": kind.title,
        "paper": kind.paper,
        "promise": kind.guarantee_summary,
    }
    engines = ENGINES[: 1 if kind.parallelism == "no" else None]
    return about | {"engines": list(engines), "parameters": parameters}
