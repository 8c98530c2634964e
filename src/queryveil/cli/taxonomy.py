"""`queryveil taxonomy ...`: bring, look at and try out taxonomies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from .. import workflows
from ..core.bounded import MOST_LIST, BoundsError, read_within
from ..errors import InputError, UsageError, VerificationError
from ..log.readers.base import parse_columns
from .options import MapperArguments, mapper_options, screen_options, with_options
from .terminal import Terminal, sanitize

_HOW = {
    "label": "a label",
    "plural": "the plural of a label",
    "stem": "the stem of a label",
    "glued": "words typed without a blank, the last a label",
    "name": "a given name and a surname",
}


def print_import(console: Console, found: dict[str, Any]) -> None:
    """Show what was imported, left out and mended."""
    print_taxonomy(console, {"taxonomy": found["out"], **found})
    table = Table.grid(padding=(0, 3))
    for word in ("counted", "repaired"):
        for reason, number in found[word].items():
            table.add_row(f"  {word}", f"{number:,}", sanitize(reason))
    console.print(table)
    name = sanitize(found["out"])
    console.print(f'\nNext: queryveil taxonomy map "some query" --taxonomy {name}', soft_wrap=True)


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def print_list(console: Console, found: list[dict[str, Any]]) -> None:
    """Show the taxonomies that there are."""
    table = Table("taxonomy", "concepts", "labels", "", box=None)
    for one in found:
        table.add_row(
            sanitize(one["name"]),
            _number(one["concepts"]),
            _number(one["labels"]),
            sanitize(one["description"]),
        )
    console.print(table)


def print_taxonomy(console: Console, found: dict[str, Any]) -> None:
    """Show the figures of a taxonomy and its branches."""
    console.print(f"[bold]{sanitize(found['taxonomy'])}[/]")
    table = Table.grid(padding=(0, 3))
    for name in ("concepts", "labels", "edges", "concepts with several parents", "greatest depth",
                 "mean depth", "leaves", "ambiguous labels"):  # fmt: skip
        table.add_row(f"  {name}", f"{found[name]:,}")
    console.print(table)
    shown = found["branches"][:12]
    names = ", ".join(f"{sanitize(one['name'])} ({one['concepts']:,})" for one in shown)
    more = len(found["branches"]) - len(shown)
    console.print(f"  branches: {names}{f' and {more} more' if more > 0 else ''}")


def print_concept(console: Console, found: dict[str, Any]) -> None:
    """Show one concept: what stands above it and below it."""
    console.print(f"[bold]{sanitize(found['label'])}[/]  {sanitize(found['concept'])}")
    console.print(f"  also called: {sanitize(', '.join(found['labels'][1:]) or 'nothing else')}")
    way = " > ".join(sanitize(one["label"]) for one in found["ancestors"])
    console.print(f"  {way}")
    below = ", ".join(sanitize(one["label"]) for one in found["children"])
    more = found["number_of_children"] - len(found["children"])
    console.print(
        f"  {found['number_of_children']} children, {found['concepts_below']:,} concepts below"
        f"{': ' + below if below else ''}{f' and {more} more' if more else ''}"
    )
    for other in found["other_meanings"]:
        console.print(
            f"  [dim]also means {sanitize(other['label'])} {sanitize(other['concept'])}[/]"
        )


def print_search(console: Console, found: list[dict[str, Any]]) -> None:
    """Show the concepts that were found."""
    table = Table.grid(padding=(0, 3))
    for one in found:
        table.add_row(
            sanitize(one["label"]), sanitize(one["concept"]), f"[dim]{one['score']:.2f}[/]"
        )
    console.print(table if found else "Nothing was found.")


def print_check(console: Console, found: dict[str, Any]) -> None:
    """Show what each check found."""
    for finding in found["findings"]:
        sign = "[green]✓[/]" if finding["holds"] else "[bold red]✗[/]"
        console.print(f"{sign} {sanitize(finding['message'])}", soft_wrap=True)


def print_mapping(console: Console, told: dict[str, Any]) -> None:
    """Show how a query became concepts, step by step."""
    tree = Tree(f"[bold]{sanitize(told['query'])}[/]")
    words = tree.add("words")
    for about in told["words"]:
        words.add(f"{sanitize(about['word'])}  [dim]{about['kind']} ({sanitize(about['tag'])})[/]")
    for phrase in told["phrases"]:
        _add_phrase(tree, phrase)
    if not told["phrases"]:
        tree.add("[yellow]no phrase[/]")
    console.print(tree)


def _add_phrase(tree: Tree, phrase: dict[str, Any]) -> None:
    again = " [dim](second try)[/]" if phrase["second_try"] else ""
    branch = tree.add(f'phrase "{sanitize(phrase["text"])}"{again}')
    *failed, last = phrase["tried"] or [phrase["text"]]
    for text in failed:
        branch.add(f'[dim]"{sanitize(text)}" is no label[/]')
    if phrase["concept"] is None:
        branch.add(f'[yellow]"{sanitize(last)}" is no label: no concept[/]')
        return
    how = phrase["how"]
    reason = _HOW.get(how, f"one of the things that a label names ({how})")
    found = branch.add(f'"{sanitize(last)}" is {reason}')
    way = " > ".join(sanitize(label) for label in phrase["ancestors"])
    found.add(f"[green]{sanitize(phrase['label'])}[/]  {sanitize(phrase['concept'])}").add(
        f"[dim]{way}[/]"
    )


app = typer.Typer(
    help="Taxonomies: bring your own, look at them, try them out.", no_args_is_help=True
)

Name = Annotated[
    str, typer.Argument(metavar="TAXONOMY", help="wordnet, a file, or several with commas.")
]


@app.command("import")
@with_options(screen_options)
def import_(
    screen: Terminal,
    kind: Annotated[str, typer.Argument(help="odp, paths, csv or skos.")],
    files: Annotated[list[Path], typer.Argument(help="For odp: structure, then content.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write, as shop.qvt.")],
    repair: Annotated[bool, typer.Option(help="Mend what is wrong, and count it.")] = False,
    world: Annotated[bool, typer.Option(help="odp: other languages too.")] = False,
    adult: Annotated[bool, typer.Option(help="odp: categories for adults too.")] = False,
    label_language: Annotated[str, typer.Option(help="skos: language of the labels.")] = "en",
    columns: Annotated[
        str | None, typer.Option(help="csv: parent=...,child=... or id=...,parent=...,label=...")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Make a taxonomy's file of a knowledge base."""
    found = workflows.import_taxonomy(
        kind,
        files,
        out,
        repair=repair,
        world=world,
        adult=adult,
        language=label_language,
        columns=parse_columns(columns, ("parent", "child", "id", "label")) if columns else None,
        force=force,
        progress=screen,
    )
    screen.result(found, lambda console: print_import(console, found))


@app.command("list")
@with_options(screen_options)
def list_(
    screen: Terminal,
    folder: Annotated[Path, typer.Argument(help="Where to look for files.")] = Path(),
) -> None:
    """List the taxonomies inside, and those in a folder."""
    found = workflows.list_taxonomies(folder)
    screen.result({"taxonomies": found}, lambda console: print_list(console, found))


@app.command()
@with_options(screen_options)
def show(
    screen: Terminal,
    taxonomy: Name = "wordnet",
    concept: Annotated[
        str | None, typer.Argument(help="A name, a path or a label: n#14070360, disease.")
    ] = None,
) -> None:
    """Describe a taxonomy, or one concept of it."""
    found = workflows.describe_taxonomy_file(taxonomy, concept)
    drawn = print_taxonomy if concept is None else print_concept
    screen.result(found, lambda console: drawn(console, found))


@app.command()
@with_options(screen_options)
def search(
    screen: Terminal,
    words: Annotated[list[str], typer.Argument(help="Words to look for.")],
    taxonomy: Annotated[str, typer.Option(help="wordnet, or a file.")] = "wordnet",
    most: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many to show.")] = 10,
) -> None:
    """Find concepts by words, the best first."""
    found = workflows.search_taxonomy(taxonomy, " ".join(words), most)
    screen.result({"found": found}, lambda console: print_search(console, found))


@app.command()
@with_options(screen_options)
def check(screen: Terminal, taxonomy: Name = "wordnet") -> None:
    """Check that a taxonomy is whole and sound."""
    found = workflows.check_taxonomy_file(taxonomy)
    screen.result(found, lambda console: print_check(console, found))
    if not found["holds"]:
        broken = "; ".join(f["message"] for f in found["findings"] if not f["holds"])
        raise VerificationError(f"this taxonomy is not sound: {broken}", where=taxonomy)


@app.command("map")
@with_options(mapper_options, screen_options)
def map_(
    mapper: MapperArguments,
    screen: Terminal,
    text: Annotated[list[str] | None, typer.Argument(help="A query.")] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="File of queries, one a line; - is the input.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table to write: .tsv, .csv, .parquet.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the table.")] = False,
) -> None:
    """Tell what a query means, and how that was found."""
    if bool(text) == bool(source):
        raise UsageError("give a query, or a file of queries with --from")
    if source is None:
        (told,) = workflows.explain_queries(mapper.make(), [" ".join(text or [])])
        screen.result(told, lambda console: print_mapping(console, told))
        return
    if out is None:
        raise UsageError("--from needs --out, a table to write")
    found = workflows.map_to_file(
        mapper.make(), _queries(source), out, force=force, progress=screen
    )
    says = f"{found['queries']:,} queries, {found['coverage']:.1%} with a concept: "
    screen.result(found, lambda console: console.print(says + sanitize(found["out"])))


def _queries(source: Path) -> pl.Series:
    try:
        if str(source) == "-":
            text = sys.stdin.read(MOST_LIST)
        else:
            text = read_within(source, MOST_LIST).decode("utf-8-sig")
    except BoundsError as error:
        raise InputError(f"this list is {error}", where=source) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise InputError(f"cannot be read ({reason})", where=source) from error
    lines = [line.strip() for line in text.splitlines()]
    return pl.Series("query", [line for line in lines if line], dtype=pl.String)
