"""How results look to a person."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ..release.guarantee import Level, words_of
from ..workflows.expected_yield import HANDFUL
from ..workflows.repeated_releases import AGAIN
from .terminal import sanitize

_TOPICS = 8


def _grid(title: str | None = None) -> Table:
    table = Table.grid(padding=(0, 3))
    table.title, table.title_justify, table.title_style = title, "left", "bold"
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    return table


def _bar(share: float, width: int = 20) -> str:
    return "█" * round(share * width) + "░" * (width - round(share * width))


def print_profile(console: Console, found: dict[str, Any]) -> None:
    """Show what is in a log, and what is risky in it."""
    _draw_size(console, found)
    if "topics" in found:
        _draw_topics(console, found["topics"])
    _draw_risks(console, found["risks"])
    for note in found["notes"]:
        console.print(f"[yellow]Note:[/] {sanitize(note)}", soft_wrap=True)


def _draw_size(console: Console, found: dict[str, Any]) -> None:
    table = _grid("What is in this log")
    spread = found["lines_per_user"]
    table.add_row("rows read", f"{found['rows']:,}", ", ".join(found["formats"]))
    for columns in found["columns"].values():
        if columns:
            taken = ", ".join(f"{ours}={theirs}" for ours, theirs in columns.items())
            table.add_row("columns taken", "", sanitize(taken))
    for word in ("dropped", "rejected", "normalised"):
        for reason, number in found[word].items():
            table.add_row(f"  {word}", f"{number:,}", sanitize(reason))
    table.add_row("lines", f"{found['lines']:,}", "one row each")
    table.add_row("events", f"{found['events']:,}", "submissions of a query")
    table.add_row("clicks", f"{found['clicks']:,}", f"on {found['urls']:,} URLs")
    table.add_row(
        "users", f"{found['users']:,}",
        f"lines each: median {spread['median']:g}, mean {spread['mean']:g}, "
        f"most {spread['most']:,g}",
    )  # fmt: skip
    table.add_row(
        "distinct queries", f"{found['queries']:,}",
        f"{found['distinct_share']:.0%} of the lines; {found['several_words_share']:.0%} of them "
        "have several words",
    )  # fmt: skip
    if found["first"]:
        table.add_row("time", found["first"][:10], f"to {found['last'][:10]}")
    console.print(table)
    console.print()


def _draw_topics(console: Console, topics: dict[str, Any]) -> None:
    table = _grid(f"What it is about (by {sanitize(topics['taxonomy'])})")
    for name, of in (("queries", "of the distinct queries"), ("lines", "of the lines")):
        share = topics[f"{name}_with_a_concept_share"]
        table.add_row("with a concept", f"{share:.1%}", f"{_bar(share)} {of}")
    for name, share in list(topics["shares"].items())[:_TOPICS]:
        table.add_row(f"  {sanitize(name)}", f"{share:.1%}", f"{_bar(share)} of what has a concept")
    rest = list(topics["shares"].values())[_TOPICS:]
    if rest:
        table.add_row(f"  {len(rest)} more topics", f"{sum(rest):.1%}", "")
    often = ", ".join(sanitize(one["label"]) for one in topics["frequent_concepts"])
    table.add_row("frequent concepts", "", often)
    missed = "  ".join(
        sanitize(query[:40]) for query in topics["frequent_queries_without_a_concept"]
    )
    table.add_row("frequent without a concept", "", missed or "none")
    console.print(table)
    console.print()


def _draw_risks(console: Console, risks: dict[str, Any]) -> None:
    table = _grid("What is risky in it")
    rows = (
        ("queries that one user alone sent", "queries_of_one_user_share", "of the queries"),
        ("lines with such a query", "lines_of_such_queries_share", "of the lines"),
        ("users whom their rarest query singles out",
         "users_singled_out_by_rarest_query_share", "of the users"),
        ("users whose rarest query fewer than 5 sent",
         "users_whose_rarest_query_has_fewer_than_5_users_share", "of the users"),
    )  # fmt: skip
    for says, name, of in rows:
        table.add_row(says, f"{risks[name]:.1%}", f"{_bar(risks[name])} {of}")
    console.print(table)
    console.print()
    table = _grid("What looks like a personal identifier (patterns: names are not found)")
    for kind in risks["identifiers"].values():
        examples = "  ".join(sanitize(example[:40]) for example in kind["examples"][:2])
        count = f"{kind['queries']:,}"
        table.add_row(kind["title"], count, f"of {kind['users']:,} users  {examples}")
    console.print(table)


def print_card(console: Console, card: dict[str, Any], heading: str) -> None:
    """Show what a release holds and promises."""
    rows, out, made = card["input"]["rows"], card["output"], card["made"]
    table = _grid(heading)
    table.add_row("rows in", f"{rows:,}", f"{card['input']['users']:,} users")
    share = out["rows"] / rows if rows else 0
    # Rows that were made are no share of the rows that went in.
    table.add_row("released", f"{out['rows']:,}", "" if made else f"{_bar(share)} {share:.1%}")
    for reason, number in made.items():
        table.add_row("made", f"{number:,}", sanitize(reason))
    for reason, number in card["dropped"].items():
        table.add_row("dropped", f"{number:,}", sanitize(reason))
    for reason, number in card["input"]["rejected"].items():
        table.add_row("rejected", f"{number:,}", sanitize(reason))
    for reason, number in card["blanked"].items():
        table.add_row("left empty", f"{number:,}", sanitize(reason))
    asked = f"{card['input']['queries']:,}"
    of = f"{asked} in the log" if made else f"of {asked}"
    for name, number in out.items():
        if name.endswith(".tsv"):
            table.add_row(sanitize(name), f"{number:,}", _noise_in(card, name))
    table.add_row("distinct queries", f"{out['queries']:,}", of)
    console.print(table)
    console.print()
    _draw_promise(console, card)


def _noise_in(card: dict[str, Any], name: str) -> str:
    """Tell how large the noise in a table is."""
    told = card.get("noise", {})  # a copy of an older release has none
    noises = {f"{one['table']}.tsv": one["interval_95"] for one in told.get("tables", [])}
    if name not in noises:
        return "rows"
    return f"rows; noise of up to {noises[name]:,} in 95 of 100 counts"


def _draw_promise(console: Console, card: dict[str, Any]) -> None:
    guarantee = card["guarantee"]
    console.print(f"[bold]What is promised[/] (model: {guarantee['model']})")
    console.print(f"  {sanitize(guarantee['statement'])}")
    console.print("[bold]What is not covered[/]")
    for limit in guarantee["not_covered"]:
        console.print(f"  • {sanitize(limit)}")
    for note in card["notes"]:
        console.print(f"[yellow]Note:[/] {sanitize(note)}")
        if note == AGAIN:
            hint = "make it with the groups of the earlier one: --groups-of DIR"
            console.print(f"[bold]Hint:[/] {hint}")
    _draw_standing(console, card)


def _draw_standing(console: Console, card: dict[str, Any]) -> None:
    """Show what the release may claim, what to be warned of, and what the owner must know."""
    for reason in card["not_release_grade_because"]:
        console.print(f"[yellow]Not for publication:[/] {sanitize(reason)}")
    if not card["not_release_grade_because"]:
        colour = "green" if card["standing"] == Level.FORMAL else "yellow"
        words = sanitize(words_of(card["guarantee"], card["standing"]))
        console.print(f"[{colour}]Standing: {card['standing']}[/] ({words})")
    for warning in card["warnings"]:
        console.print(f"[yellow]Warning:[/] {sanitize(warning)}")
    for told in card.get("measured", {}).values():
        console.print(f"[bold]For the owner alone:[/] {sanitize(told['words'])}")


def draw_emptiness(console: Console, card: dict[str, Any]) -> None:
    """Say plainly which tables are empty, and what noise does to rows."""
    empty = [name for name, rows in card["output"].items() if name.endswith(".tsv") and not rows]
    for name in empty:
        console.print(
            f"[yellow]Empty:[/] {sanitize(name)}. {_why_empty(card, name)} That is published, and the "
            "budget is spent all the same.",
            soft_wrap=True,
        )
    for text in card.get("noise", {}).get("statements", []):
        console.print(f"[bold]Noise:[/] {sanitize(text)}", soft_wrap=True)


def _why_empty(card: dict[str, Any], name: str) -> str:
    if name == "clicks.tsv" and card["parameters"].get("results") == "":
        return "No public results were named (--results), and only clicks on these are counted."
    return "Nothing reached the threshold."


def print_forecast(console: Console, card: dict[str, Any]) -> None:
    """Show what a private release would hold, before anything is spent."""
    told = card["forecast"]
    for table in told.get("tables", []):
        grid = _grid(f"{table['table']}.tsv")
        for name, value in table.items():
            if name != "table":
                grid.add_row(sanitize(name), _figure(value), "")
        console.print(grid)
        console.print()
    if "facts" in told:
        grid = _grid("What to expect, whatever the log holds")
        for name, value in told["facts"].items():
            grid.add_row(sanitize(name), sanitize(value), "")
        console.print(grid)
        console.print()
    if "expected" in told:
        expected, people = told["expected"], card["population"]
        console.print(
            f"With {people:,} people (--population), about {expected['queries']:,} queries would "
            f"show, {expected['share_of_what_users_send']:.1%} of what users send. This follows "
            "from public figures; the log was not looked at."
        )
        if expected["queries"] < HANDFUL:
            console.print("[yellow]That is next to nothing:[/] `anonymize` would need --yes.")
    console.print(
        f"[bold]What one person can change[/]\n  {sanitize(card['guarantee']['statement'])}"
    )
    if "input" not in card:  # else it is shown with the card
        _draw_standing(console, card)
    console.print("Nothing was written or spent.")


def _figure(value: Any) -> str:
    """Return a figure with no more digits than a forecast has."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"


def print_alternatives(console: Console, steps: list[dict[str, Any]]) -> None:
    """Show what other values of a parameter would give."""
    if not steps:
        return
    names = [name for name in steps[0] if name != "share"]
    table = Table("", *names, title="What other values would keep", title_justify="left", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for step in steps:
        table.add_row(_bar(step["share"]), *(f"{step[name]:,}" for name in names))
    console.print()
    console.print(table)


_SIGNS = {True: "[green]✓[/]", False: "[bold red]✗[/]", None: "[yellow]?[/]"}


def print_verification(console: Console, found: dict[str, Any]) -> None:
    """Show what each check found."""
    for finding in found["findings"]:
        console.print(f"{_SIGNS[finding['holds']]} {sanitize(finding['message'])}", soft_wrap=True)
    if found["claims"]:
        console.print("[bold]Said by its maker, and not to be seen from the files[/]")
    for claim in found["claims"]:
        console.print(f"  • {sanitize(claim)}", soft_wrap=True)
    for warning in found["warnings"]:
        console.print(f"[yellow]Warning:[/] {sanitize(warning)}", soft_wrap=True)
    if found["holds"]:
        held = "The rule holds" if found["model"] == "none" else "The promise holds"
        console.print(
            f"[green]{held}[/] (method {sanitize(found['method'])}, model {sanitize(found['model'])}). "
            f"Standing: {sanitize(found['standing'])} ({sanitize(found['words'])}).",
            soft_wrap=True,
        )


def print_methods(console: Console, methods: list[dict[str, Any]]) -> None:
    """Show the methods with their parameters."""
    for method in methods:
        console.print(f"[bold]{method['name']}[/]  {sanitize(method['title'])}")
        console.print(f"  [dim]paper:[/] {sanitize(method['paper'])}")
        console.print(f"  [dim]guarantee:[/] {sanitize(method['promise'])}")
        console.print(f"  [dim]runs on:[/] {', '.join(method['engines'])}")
        table = Table.grid(padding=(0, 2))
        for declared in method["parameters"]:
            table.add_row(
                f"  {declared['option']}", str(declared["default"]),
                f"{sanitize(declared['help'])} [dim]({sanitize(declared['range'])})[/]",
            )  # fmt: skip
        console.print(table)
