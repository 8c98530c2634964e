"""Run `queryveil taxonomy`: import, describe, search and check taxonomies, and map queries."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from .. import workflows
from ..concepts.loaders.registry import TAXONOMY_LOADERS
from ..concepts.mapping.explanation import PhraseStep, QueryExplanation
from ..concepts.taxonomy.validation import TaxonomyStatistics
from ..core.bounded import MAX_LIST, BoundsError, read_within
from ..errors import InputError, UsageError, VerificationError
from ..workflows.taxonomy_records import (
    ConceptDescription,
    ConceptMatch,
    TaxonomyImport,
    TaxonomyList,
    TaxonomyReport,
)
from .help import Application
from .options import MapperArguments, loader_options, mapper_options, screen_options, with_options
from .terminal import Terminal, sanitize

_MATCH_KINDS = {
    "label": "a label",
    "plural": "the plural of a label",
    "stem": "the stem of a label",
    "glued": "words typed without a space, the last is a label",
    "name": "a given name and a surname",
    "brand": "the name of a brand or a web site",
    "address": "a web address",
    "town": "a town with its state or country",
    "misspelled": "a label with one wrong letter",
    "words": "a query with the main noun of a label",
}


def print_import(console: Console, imported: TaxonomyImport) -> None:
    """Print what was imported, left out and repaired."""
    print_taxonomy(console, imported.out, imported.statistics)
    table = Table.grid(padding=(0, 3))
    for section, counts in (("counted", imported.counted), ("repaired", imported.repaired)):
        for reason, number in counts.items():
            table.add_row(f"  {section}", f"{number:,}", sanitize(reason))
    console.print(table)
    name = sanitize(imported.out)
    console.print(f'\nNext: queryveil taxonomy map "some query" --taxonomy {name}', soft_wrap=True)


def _format_count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def print_list(console: Console, taxonomies: TaxonomyList) -> None:
    """Print a list of taxonomies."""
    table = Table("taxonomy", "concepts", "labels", "", box=None)
    for entry in taxonomies.taxonomies:
        table.add_row(
            sanitize(entry.name),
            _format_count(entry.concepts),
            _format_count(entry.labels),
            sanitize(entry.description),
        )
    console.print(table)


def print_taxonomy(console: Console, title: str, statistics: TaxonomyStatistics) -> None:
    """Print the figures of a taxonomy and its branches."""
    console.print(f"[bold]{sanitize(title)}[/]")
    table = Table.grid(padding=(0, 3))
    for name, value in (
        ("concepts", statistics.concepts),
        ("labels", statistics.labels),
        ("edges", statistics.edges),
        ("concepts with several parents", statistics.concepts_with_several_parents),
        ("maximal depth", statistics.max_depth),
        ("mean depth", statistics.mean_depth),
        ("leaves", statistics.leaves),
        ("ambiguous labels", statistics.ambiguous_labels),
    ):
        table.add_row(f"  {name}", f"{value:,}")
    console.print(table)
    shown = statistics.branches[:12]
    names = ", ".join(f"{sanitize(branch.concept)} ({branch.concepts:,})" for branch in shown)
    more = len(statistics.branches) - len(shown)
    console.print(f"  branches: {names}{f' and {more} more' if more > 0 else ''}")


def print_concept(console: Console, description: ConceptDescription) -> None:
    """Print a concept with its ancestors, its children and its other meanings."""
    console.print(f"[bold]{sanitize(description.label)}[/]  {sanitize(description.concept)}")
    console.print(f"  also called: {sanitize(', '.join(description.labels[1:]) or 'nothing else')}")
    path = " > ".join(sanitize(concept.label) for concept in description.ancestors)
    console.print(f"  {path}")
    below = ", ".join(sanitize(concept.label) for concept in description.children)
    count = description.number_of_children
    more = count - len(description.children)
    console.print(
        f"  {count} children, {description.concepts_below:,} concepts below"
        f"{': ' + below if below else ''}{f' and {more} more' if more else ''}"
    )
    for other in description.other_meanings:
        console.print(f"  [dim]also means {sanitize(other.label)} {sanitize(other.concept)}[/]")


def print_search(console: Console, matches: Sequence[ConceptMatch]) -> None:
    """Print the concepts that match a search."""
    table = Table.grid(padding=(0, 3))
    for match in matches:
        table.add_row(sanitize(match.label), sanitize(match.concept), f"[dim]{match.score:.2f}[/]")
    console.print(table if matches else "No concept matches.")


def print_check(console: Console, report: TaxonomyReport) -> None:
    """Print the outcome of each check."""
    for check in report.findings:
        sign = "[green]✓[/]" if check.holds else "[bold red]✗[/]"
        console.print(f"{sign} {check.check}: {sanitize(check.message)}", soft_wrap=True)


def print_mapping(console: Console, explanation: QueryExplanation) -> None:
    """Print step by step how a query is mapped to concepts."""
    tree = Tree(f"[bold]{sanitize(explanation.query)}[/]")
    words = tree.add("words")
    for step in explanation.words:
        words.add(f"{sanitize(step.word)}  [dim]{step.kind} ({sanitize(step.tag)})[/]")
    for phrase in explanation.phrases:
        _add_phrase(tree, phrase)
    if not explanation.phrases:
        tree.add("[yellow]no phrase[/]")
    console.print(tree)


def _add_phrase(tree: Tree, phrase: PhraseStep) -> None:
    attempt = " [dim](second try)[/]" if phrase.second_try else ""
    branch = tree.add(f'phrase "{sanitize(phrase.text)}"{attempt}')
    *failed, last = phrase.tried or (phrase.text,)
    for text in failed:
        branch.add(f'[dim]"{sanitize(text)}" is no label[/]')
    if phrase.concept is None:
        branch.add(f'[yellow]"{sanitize(last)}" is no label: no concept[/]')
        return
    kind = phrase.how or ""
    reason = _MATCH_KINDS.get(kind, f"one of the items that a label names ({kind})")
    match = branch.add(f'"{sanitize(last)}" is {reason}')
    path = " > ".join(sanitize(label) for label in phrase.ancestors)
    match.add(f"[green]{sanitize(phrase.label or '')}[/]  {sanitize(phrase.concept)}").add(
        f"[dim]{path}[/]"
    )


app = Application(
    help="Taxonomies: import your own, describe them, map queries to them.", no_args_is_help=True
)

Name = Annotated[
    str, typer.Argument(metavar="TAXONOMY", help="wordnet, shop, a file, or several with commas.")
]


@app.command("import", example="queryveil taxonomy import skos thesaurus.rdf --out thesaurus.qvt")
@with_options(loader_options, screen_options)
def import_(
    screen: Terminal,
    options: dict[str, str | bool | None],
    kind: Annotated[str, typer.Argument(help=f"{', '.join(TAXONOMY_LOADERS)}.")],
    files: Annotated[
        list[Path], typer.Argument(help="Files of that kind; for odp: structure, then content.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write, as shop.qvt.")],
    repair: Annotated[bool, typer.Option(help="Repair defects, and count them.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Convert a knowledge base into a taxonomy file."""
    summary = workflows.import_taxonomy(
        kind, files, out, repair=repair, overwrite=overwrite, progress=screen, **options
    )
    screen.result(summary, lambda console: print_import(console, summary))


@app.command("list", example="queryveil taxonomy list")
@with_options(screen_options)
def list_(
    screen: Terminal,
    folder: Annotated[Path, typer.Argument(help="Folder of taxonomy files.")] = Path(),
) -> None:
    """List the built-in taxonomies, and those in a folder."""
    taxonomies = workflows.list_taxonomies(folder)
    screen.result(taxonomies, lambda console: print_list(console, taxonomies))


@app.command(example="queryveil taxonomy show wordnet disease")
@with_options(screen_options)
def show(
    screen: Terminal,
    taxonomy: Name = "wordnet",
    concept: Annotated[
        str | None, typer.Argument(help="A name, a path or a label: n#14070360, disease.")
    ] = None,
) -> None:
    """Describe a taxonomy, or one concept of it."""
    if concept is None:
        figures = workflows.describe_taxonomy_file(taxonomy)
        screen.result(
            figures, lambda console: print_taxonomy(console, figures.taxonomy, figures.statistics)
        )
        return
    description = workflows.describe_concept(taxonomy, concept)
    screen.result(description, lambda console: print_concept(console, description))


@app.command(example="queryveil taxonomy search heart disease")
@with_options(screen_options)
def search(
    screen: Terminal,
    words: Annotated[list[str], typer.Argument(help="Words to look for.")],
    taxonomy: Annotated[str, typer.Option(help="wordnet, shop, or a file.")] = "wordnet",
    number: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many to show.")] = 10,
) -> None:
    """Search concepts by words, best match first."""
    result = workflows.search_taxonomy(taxonomy, " ".join(words), number)
    screen.result(result, lambda console: print_search(console, result.matches))


@app.command(example="queryveil taxonomy check thesaurus.qvt")
@with_options(screen_options)
def check(screen: Terminal, taxonomy: Name = "wordnet") -> None:
    """Check that a taxonomy is complete and consistent."""
    result = workflows.check_taxonomy_file(taxonomy)
    screen.result(result, lambda console: print_check(console, result))
    if not result:
        failures = "; ".join(
            f"{check.check}: {check.message}" for check in result.findings if not check.holds
        )
        raise VerificationError(f"this taxonomy is not sound: {failures}", where=taxonomy)


@app.command("map", example='queryveil taxonomy map "cheap flights to rome"')
@with_options(mapper_options, screen_options)
def map_(
    mapper: MapperArguments,
    screen: Terminal,
    text: Annotated[list[str] | None, typer.Argument(help="A query.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--input", help="File of queries, one per line; - is standard input."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Table to write: .tsv, .csv, .parquet.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the table.")] = False,
) -> None:
    """Show the concepts of a query, and how they are determined."""
    if bool(text) == bool(source):
        raise UsageError("give a query, or a file of queries with --input")
    if source is None:
        (explanation,) = workflows.explain_queries(mapper.make(), [" ".join(text or [])])
        screen.result(explanation, lambda console: print_mapping(console, explanation))
        return
    if out is None:
        raise UsageError("--input needs --out, a table to write")
    summary = workflows.map_to_file(
        mapper.make(), _read_queries(source), out, overwrite=overwrite, progress=screen
    )
    message = f"{summary.queries:,} queries, {summary.coverage:.1%} with a concept: "
    screen.result(summary, lambda console: console.print(message + sanitize(summary.out)))


def _read_queries(source: Path) -> pl.Series:
    try:
        if str(source) == "-":
            text = sys.stdin.read(MAX_LIST)
        else:
            text = read_within(source, MAX_LIST).decode("utf-8-sig")
    except BoundsError as error:
        raise InputError(f"this list is {error}", where=source) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise InputError(f"cannot be read ({reason})", where=source) from error
    lines = [line.strip() for line in text.splitlines()]
    return pl.Series("query", [line for line in lines if line], dtype=pl.String)
