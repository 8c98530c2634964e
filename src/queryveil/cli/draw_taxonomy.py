"""How taxonomies and mappings look to a person."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from .screen import plain

__all__ = [
    "draw_check",
    "draw_concept",
    "draw_import",
    "draw_list",
    "draw_map",
    "draw_search",
    "draw_taxonomy",
]

_HOW = {
    "label": "a label",
    "plural": "the plural of a label",
    "stem": "the stem of a label",
    "glued": "words typed without a blank, the last a label",
    "name": "a given name and a surname",
}


def draw_import(console: Console, found: dict[str, Any]) -> None:
    """Show what was imported, left out and mended."""
    draw_taxonomy(console, {"taxonomy": found["out"], **found})
    table = Table.grid(padding=(0, 3))
    for word in ("counted", "repaired"):
        for reason, number in found[word].items():
            table.add_row(f"  {word}", f"{number:,}", plain(reason))
    console.print(table)
    name = plain(found["out"])
    console.print(f'\nNext: queryveil taxonomy map "some query" --taxonomy {name}', soft_wrap=True)


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def draw_list(console: Console, found: list[dict[str, Any]]) -> None:
    """Show the taxonomies that there are."""
    table = Table("taxonomy", "concepts", "labels", "", box=None)
    for one in found:
        table.add_row(
            plain(one["name"]), _number(one["concepts"]), _number(one["labels"]), plain(one["says"])
        )
    console.print(table)


def draw_taxonomy(console: Console, found: dict[str, Any]) -> None:
    """Show the figures of a taxonomy and its branches."""
    console.print(f"[bold]{plain(found['taxonomy'])}[/]")
    table = Table.grid(padding=(0, 3))
    for name in ("concepts", "labels", "edges", "concepts with several parents", "greatest depth",
                 "mean depth", "leaves", "ambiguous labels"):  # fmt: skip
        table.add_row(f"  {name}", f"{found[name]:,}")
    console.print(table)
    shown = found["branches"][:12]
    names = ", ".join(f"{plain(one['name'])} ({one['concepts']:,})" for one in shown)
    more = len(found["branches"]) - len(shown)
    console.print(f"  branches: {names}{f' and {more} more' if more > 0 else ''}")


def draw_concept(console: Console, found: dict[str, Any]) -> None:
    """Show one concept: what stands above it and below it."""
    console.print(f"[bold]{plain(found['label'])}[/]  {plain(found['concept'])}")
    console.print(f"  also called: {plain(', '.join(found['labels'][1:]) or 'nothing else')}")
    way = " > ".join(plain(one["label"]) for one in found["ancestors"])
    console.print(f"  {way}")
    below = ", ".join(plain(one["label"]) for one in found["children"])
    more = found["number_of_children"] - len(found["children"])
    console.print(
        f"  {found['number_of_children']} children, {found['concepts_below']:,} concepts below"
        f"{': ' + below if below else ''}{f' and {more} more' if more else ''}"
    )
    for other in found["other_meanings"]:
        console.print(f"  [dim]also means {plain(other['label'])} {plain(other['concept'])}[/]")


def draw_search(console: Console, found: list[dict[str, Any]]) -> None:
    """Show the concepts that were found."""
    table = Table.grid(padding=(0, 3))
    for one in found:
        table.add_row(plain(one["label"]), plain(one["concept"]), f"[dim]{one['score']:.2f}[/]")
    console.print(table if found else "Nothing was found.")


def draw_check(console: Console, found: dict[str, Any]) -> None:
    """Show what each check found."""
    for finding in found["findings"]:
        sign = "[green]✓[/]" if finding["holds"] else "[bold red]✗[/]"
        console.print(f"{sign} {plain(finding['says'])}", soft_wrap=True)


def draw_map(console: Console, told: dict[str, Any]) -> None:
    """Show how a query became concepts, step by step."""
    tree = Tree(f"[bold]{plain(told['query'])}[/]")
    words = tree.add("words")
    for about in told["words"]:
        words.add(f"{plain(about['word'])}  [dim]{about['kind']} ({plain(about['tag'])})[/]")
    for phrase in told["phrases"]:
        _add_phrase(tree, phrase)
    if not told["phrases"]:
        tree.add("[yellow]no phrase[/]")
    console.print(tree)


def _add_phrase(tree: Tree, phrase: dict[str, Any]) -> None:
    again = " [dim](second try)[/]" if phrase["second_try"] else ""
    branch = tree.add(f'phrase "{plain(phrase["text"])}"{again}')
    *failed, last = phrase["tried"] or [phrase["text"]]
    for text in failed:
        branch.add(f'[dim]"{plain(text)}" is no label[/]')
    if phrase["concept"] is None:
        branch.add(f'[yellow]"{plain(last)}" is no label: no concept[/]')
        return
    how = phrase["how"]
    reason = _HOW.get(how, f"one of the things that a label names ({how})")
    found = branch.add(f'"{plain(last)}" is {reason}')
    way = " > ".join(plain(label) for label in phrase["ancestors"])
    found.add(f"[green]{plain(phrase['label'])}[/]  {plain(phrase['concept'])}").add(
        f"[dim]{way}[/]"
    )
