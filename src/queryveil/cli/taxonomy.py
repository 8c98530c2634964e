"""`queryveil taxonomy ...`: bring, look at and try out taxonomies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from .. import jobs
from ..core.bounded import MOST_LIST, BoundsError, read_within
from ..errors import InputError, UsageError, VerificationError
from ..log.readers.base import parse_columns
from . import draw_taxonomy as draw
from .options import MapperArguments, mapper_options, screen_options, with_options
from .terminal import Terminal, sanitize

__all__ = ["app", "check", "import_", "list_", "map_", "search", "show"]

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
    found = jobs.import_taxonomy(
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
    screen.result(found, lambda console: draw.print_import(console, found))


@app.command("list")
@with_options(screen_options)
def list_(
    screen: Terminal,
    folder: Annotated[Path, typer.Argument(help="Where to look for files.")] = Path(),
) -> None:
    """List the taxonomies inside, and those in a folder."""
    found = jobs.list_taxonomies(folder)
    screen.result({"taxonomies": found}, lambda console: draw.print_list(console, found))


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
    found = jobs.describe_taxonomy_file(taxonomy, concept)
    drawn = draw.print_taxonomy if concept is None else draw.print_concept
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
    found = jobs.search_taxonomy(taxonomy, " ".join(words), most)
    screen.result({"found": found}, lambda console: draw.print_search(console, found))


@app.command()
@with_options(screen_options)
def check(screen: Terminal, taxonomy: Name = "wordnet") -> None:
    """Check that a taxonomy is whole and sound."""
    found = jobs.check_taxonomy_file(taxonomy)
    screen.result(found, lambda console: draw.print_check(console, found))
    if not found["holds"]:
        broken = "; ".join(f["says"] for f in found["findings"] if not f["holds"])
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
        (told,) = jobs.explain_queries(mapper.make(), [" ".join(text or [])])
        screen.result(told, lambda console: draw.print_mapping(console, told))
        return
    if out is None:
        raise UsageError("--from needs --out, a table to write")
    found = jobs.map_to_file(mapper.make(), _queries(source), out, force=force, progress=screen)
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
