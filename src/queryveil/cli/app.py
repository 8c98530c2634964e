"""Define the command line application and its main commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from .. import synthetic, workflows
from .._version import __version__
from ..errors import UsageError
from ..methods.base import Method
from ..release.cards import PrivateCard
from ..release.guarantee import Level
from ..workflows.repeated_releases import unrecorded
from . import advise, catalog, compare, demo, formats, ledger, measure, replicate, tables, taxonomy
from . import verification as checking
from .config import load_config
from .copies import check_copied_format, check_copy, check_groups_of
from .detectors import Detectors
from .help import RARE, Application
from .identifiers import ExtensionIdentifiers, Identifiers
from .options import (
    LogArguments,
    MapperArguments,
    MethodArguments,
    log_options,
    mapper_options,
    method_options,
    optional_log_options,
    optional_method_options,
    screen_options,
    with_options,
)
from .profile_tables import print_profile
from .release_options import AddBudget, CopyOf, Extend, GroupsOf, LedgerName, Out, Overwrite, Seed
from .sensitive import ExtensionSensitive, Sensitive
from .terminal import Terminal, sanitize
from .verification import SignWith, may_be_published

app = Application(
    name="queryveil",
    help="Anonymize web-search query logs, state the guarantee, and verify it on the files.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.add_typer(demo.app)
app.add_typer(taxonomy.app, name="taxonomy")
app.add_typer(ledger.app, name="ledger")
app.add_typer(checking.app)
app.add_typer(advise.app)
app.add_typer(catalog.app)
app.add_typer(formats.app)
app.add_typer(compare.app)
app.add_typer(measure.app)
app.add_typer(replicate.app)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"queryveil {__version__}")
        raise typer.Exit


@app.callback()
def main_callback(
    ctx: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", help="Options in TOML; else ./queryveil.toml.")
    ] = None,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Read the config file before any command."""
    group: Any = ctx.command
    known = dict(_list_commands(group))
    options: dict[str, Any] = load_config(config, known)
    for name in [name for name in options if " " in name]:  # nested: "taxonomy map"
        *outer, inner = name.split(" ")
        table = options
        for word in outer:
            table = table.setdefault(word, {})
        table[inner] = options.pop(name)
    ctx.default_map = options


def _list_commands(group: Any, prefix: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the commands with their options; a nested command is named "taxonomy map"."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _list_commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, _list_options(command.params)


def _list_options(parameters: list[Any]) -> dict[str, str]:
    """Return the options as typed, without leading hyphens, and their parameter names."""
    return {
        word.removeprefix("--"): parameter.name
        for parameter in parameters
        for word in parameter.opts
        if not word.startswith("-") or word.startswith("--")
    }


@app.command(example="queryveil synth --users 1000 --out log.tsv")
@with_options(screen_options)
def synth(
    screen: Terminal,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .tsv, .tsv.gz, .parquet, ...")
    ],
    users: Annotated[int | None, typer.Option(help="Users; about 80 rows each.")] = None,
    lines: Annotated[int | None, typer.Option(help="Exact number of rows.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 0,
    shape: Annotated[
        str,
        typer.Option(help="web, shop or classic; with settings: web:navigational=0.1:repeats=0.2."),
    ] = "web",
    language: Annotated[
        str, typer.Option(help="Of the queries: en, de, fr, es, it, nl, pt, pl, sv or da.")
    ] = "en",
    topics: Annotated[
        str | None, typer.Option(help="Only queries on these topics: A, or disease,sport.")
    ] = None,
    queries: Annotated[
        int | None, typer.Option(help="With --topics: queries of each user.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a synthetic log with the statistics of the AOL log."""
    summary = synthetic.write_synthetic_log(
        out,
        users=users,
        lines=lines,
        seed=seed,
        shape=shape,
        language=language,
        topics=topics,
        queries=queries,
        overwrite=overwrite,
        progress=screen,
    )
    text = f"{summary.rows:,} rows of {summary.users:,} users in {sanitize(summary.out)}"
    screen.result(summary, lambda console: console.print(text, soft_wrap=True))


@app.command(example="queryveil profile log.tsv")
@with_options(log_options, mapper_options, screen_options)
def profile(
    log: LogArguments,
    mapper: MapperArguments,
    screen: Terminal,
    ledger: LedgerName = None,
    detectors: Detectors = None,
) -> None:
    """Show the size, topics and disclosure risks of a log."""
    guessed = mapper.language == "auto"  # then the mapper is made when the log is known
    concepts = (mapper.taxonomy if guessed else mapper.make()) if mapper.wanted else None
    figures = workflows.profile(
        log.read(screen),
        taxonomy=concepts,
        language="auto" if guessed else None,
        terms=mapper.terms if guessed else None,
        detectors=detectors or "",
        ledger=ledger,
        progress=screen,
    )
    screen.result(figures, lambda console: print_profile(console, figures))


@app.command(example="queryveil plan log.tsv --method dp-statistics --epsilon 1 --delta 1e-9")
@with_options(log_options, method_options, screen_options)
def plan(
    log: LogArguments,
    method: Method,
    screen: Terminal,
    expected_users: Annotated[
        int,
        typer.Option(min=1, help="Approximate number of users, from a public source."),
    ] = 100_000,
    exact: Annotated[
        bool, typer.Option("--exact", help="Read the log; the ledger and later cards record this.")
    ] = False,
    ledger: LedgerName = None,
    identifiers: Identifiers = "drop",
    sensitive: Sensitive = "keep",
    detectors: Detectors = None,
) -> None:
    """Show what would be released, before anything is written."""
    result = workflows.plan(
        lambda: log.read(screen),
        method,
        expected_users=expected_users,
        exact=exact,
        ledger=ledger,
        identifiers=identifiers,
        sensitive=sensitive,
        detectors=detectors or "",
        progress=screen,
    )

    def draw(console: Console) -> None:
        if result.expected_users is not None:
            tables.print_forecast(console, result)
        if result.preview is None:
            return
        tables.print_card(console, result.preview, f"What {method} would release", with_limits=True)
        tables.print_alternatives(console, result.alternatives)
        console.print("\nNothing was written.")

    screen.result(result, draw)


@app.command(
    example="queryveil anonymize log.tsv --out release \\\n"
    "    --method semantic-microaggregation --k 5"
)
@with_options(optional_log_options, optional_method_options, screen_options)
def anonymize(
    log: LogArguments,
    method: MethodArguments,
    screen: Terminal,
    out: Out,
    output_format: Annotated[
        str,
        typer.Option(
            "--output-format",
            metavar="NAME",
            help="Format of the released log: parquet, tsv, csv or jsonl.",
        ),
    ] = "parquet",
    include_mapping: Annotated[
        bool,
        typer.Option(
            "--mapping/--no-mapping",
            rich_help_panel=RARE,
            help="Write the private table of users and their pseudonyms; the default.",
        ),
    ] = True,
    overwrite: Overwrite = False,
    seed: Seed = None,
    ledger: LedgerName = None,
    extend: Extend = None,
    add_budget: AddBudget = False,
    copy_of: CopyOf = None,
    identifiers: ExtensionIdentifiers = None,
    sensitive: ExtensionSensitive = None,
    detectors: Detectors = None,
    expected_users: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Approximate number of users, from a public source; for methods that release "
            "tables with noise.",
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            rich_help_panel=RARE,
            help="Spend the budget even if the release is expected to be almost empty.",
        ),
    ] = False,
    groups_of: GroupsOf = None,
    sign: SignWith = None,
) -> None:
    """Anonymize a log and write a verified release."""
    _check_extension(extend, add_budget, seed)
    check_groups_of(groups_of, extend, copy_of)
    if copy_of is not None:
        screening = identifiers or sensitive or detectors
        check_copy(bool(method.typed_options() or extend or screening), seed, sign)
        check_copied_format(copy_of, output_format)
        card = workflows.copy_release(
            copy_of,
            out,
            logs=log.paths,
            ledger=ledger,
            overwrite=overwrite,
            include_mapping=include_mapping,
        )
        folder = sanitize(str(out))
        screen.result(card, lambda console: _draw_written(console, card, card.method, folder))
        return
    if sign is not None:
        workflows.show_signing_key(sign)  # raises an error for a bad key before anything is charged
    log.check_named()
    chosen = method.make() if extend is None else method.make_if_typed()
    workflows.check_release_output(out, output_format, overwrite)
    arguments: dict[str, Any] = {"format": output_format, "overwrite": overwrite}
    arguments |= {"include_mapping": include_mapping, "ledger": ledger, "sign": sign}
    arguments["progress"] = screen
    if extend is None and chosen is not None and seed is None and not yes:
        _confirm_low_yield(screen, chosen, expected_users)  # before the log is opened
    # Whether a private release is written must not depend on the rows of one user, so too many
    # rejected rows stop only runs that are not private.
    may_stop = chosen is not None and (
        seed is not None or not workflows.is_differentially_private(chosen)
    )
    read = log.read(screen, seed, may_stop=may_stop)
    if extend is None and chosen is not None:
        arguments |= {"identifiers": identifiers or "drop", "groups_of": groups_of}
        arguments |= {"sensitive": sensitive or "keep", "detectors": detectors or ""}
        card = workflows.anonymize_to_folder(read, chosen, out, seed=seed, yes=True, **arguments)
    else:
        arguments |= {"method": chosen, "add_budget": add_budget}
        arguments |= {"identifiers": identifiers, "sensitive": sensitive, "detectors": detectors}
        card = workflows.extend_release(read, extend or out, out, **arguments)
    method_name = str(chosen or card.method)
    screen.result(
        card, lambda console: _draw_written(console, card, method_name, sanitize(str(out)))
    )


def _confirm_low_yield(screen: Terminal, method: Method, expected_users: int | None) -> None:
    """Ask whether to pay for an almost empty release; raise an error if nobody can answer."""
    problem = workflows.low_yield(method, expected_users)
    if problem is None:
        return
    if not screen.answers:
        raise problem
    screen.err.print(f"{problem.what[0].upper()}{problem.what[1:]}.", soft_wrap=True)
    typer.confirm("Pay and continue?", abort=True, err=True)


def _check_extension(extend: Path | None, add_budget: bool, seed: int | None) -> None:
    if add_budget and extend is None:
        raise UsageError(
            "--add-budget needs --extend",
            hint="name the release that is extended: --extend DIR",
        )
    if seed is not None and extend is not None:
        raise UsageError(
            "--seed cannot be combined with --extend: a reproducible release would be linked to a "
            "real one",
            hint="leave --seed out",
        )


def _draw_written(console: Console, card: PrivateCard, method: str, folder: str) -> None:
    if card.copied:
        text = f"A copy of {card.copied}: the same bytes, at no cost."
        console.print(sanitize(text), soft_wrap=True)
    tables.print_card(console, card, f"Released with {method}")
    tables.draw_emptiness(console, card.public)
    for warning in unrecorded(card):
        console.print(f"[yellow]Warning:[/] {warning}")
    # Only a release with a guarantee is led on to publication; the page has the other steps.
    pack = f"; queryveil pack {folder}" if card.public.standing is Level.FORMAL else ""
    console.print(
        f"\nWritten and verified: {folder}/public ({may_be_published(card.public)}), "
        f"{folder}/private (never publish).\n"
        f"Next: open {folder}/private/report.html for the risks{' and what to do' * (not pack)}; "
        f"queryveil verify {folder}{pack}",
        soft_wrap=True,
    )
