"""How taxonomies and mappings look to a person."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from .terminal import sanitize

__all__ = [
    "print_check",
    "print_concept",
    "print_import",
    "print_list",
    "print_mapping",
    "print_search",
    "print_taxonomy",
]

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
            sanitize(one["says"]),
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
        console.print(f"{sign} {sanitize(finding['says'])}", soft_wrap=True)


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
