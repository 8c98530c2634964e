"""What simulated peers look like on a screen."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ..cli.terminal import sanitize
from .report import format_setting


def print_simulation(console: Console, found: dict[str, Any]) -> None:
    """Show who learned what in one simulation."""
    graph, guess = found["graph"], found["guess"]
    console.print(
        f"{found['users']:,} users, {found['queries']:,} queries; {sanitize(graph['name'])}: "
        f"{graph['links']:,} pairs of friends, {graph['friends']['mean']:.1f} each"
    )
    for why, many in graph["rejected"].items():
        console.print(f"[yellow]Note:[/] {many:,} lines of the graph left out: {sanitize(why)}")
    _draw_degrees(console, found)
    rows = {
        "uncertainty above 70%, above 80%": f"{found['above_70']:.0%}, {found['above_80']:.0%}",
        "PEL of honest and of selfish users": _two(found["pel"]),
        "the engine finds the user": f"{found['guess_rate']:.1%} (by the account alone "
        f"{guess['ways']['account']:.1%})",
        "dishonest users": _dishonest(found["dishonest"]),
        "hops": f"{found['hops']:.2f} on average",
        "requests": _messages(found["messages"]),
        "duplicates, failures": f"{found['duplicates']:,}, {found['failures']:,}",
        "busiest user": f"{found['load']['submissions']['max']:,} submissions, mean "
        f"{found['load']['submissions']['mean']:,.0f}",
        "profile lost (words)": _two(found["service"]["words"], "{:.2f}"),
    }
    if "t1" in found:
        rows |= _t1(found["t1"])
    table = Table.grid(padding=(0, 3))
    for name, value in rows.items():
        table.add_row(f"[dim]{name}[/]", value)
    console.print(table)
    console.print("These are figures of private data: for the owner of the log only.")


def _draw_degrees(console: Console, found: dict[str, Any]) -> None:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    for name in ("friends", "honest users", "PEL", "> 70%", "> 80%", "engine is right"):
        table.add_column(name, justify="left" if name == "friends" else "right")
    for degree, row in found["degrees"].items():
        right = found["guess"]["by_degree"].get(degree)
        table.add_row(
            degree,
            f"{row['users']:,}",
            f"{found['pel']['by_degree'][degree]:.1f}",
            f"{row['above_70']:,}",
            f"{row['above_80']:,}",
            "" if right is None else f"{right:.1%}",
        )
    console.print(table)


def _two(found: dict[str, Any], form: str = "{:.1f}") -> str:
    told = (found["honest"], found["selfish"])
    return ", ".join("none" if one is None else form.format(one) for one in told)


def _dishonest(found: dict[str, Any]) -> str:
    if not found["recorded"]:
        return f"{found['users']:,}"
    return (
        f"{found['users']:,} wrote down {found['recorded']:,} queries; in "
        f"{found['sender_is_origin']:.0%} the sender is who asks"
    )


def _messages(found: dict[str, Any]) -> str:
    return ", ".join(f"{many:,} {name}" for name, many in found.items())


def _t1(found: dict[str, Any]) -> dict[str, str]:
    return {
        "T1: own share, top relay's": f"{found['share']['honest']:.3f}, "
        f"{found['top_relay']['honest']:.3f}",
        "T1: rank, evenness": f"{found['rank']['honest']:.1f}, {found['evenness']['honest']:.2f}",
        "T1: shown beyond noise": f"{found['shown']['honest']:.1%}",
    }


def print_sweep(console: Console, found: dict[str, Any]) -> None:
    """Show all settings, and the best one."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    names = ("pel", "pel_fewest", "pel_most", "pel_selfish", "guess_rate", "mean_hops")
    table.add_column("setting", no_wrap=True)
    for name in ("PEL", "fewest", "most", "selfish", "guessed", "hops", ""):
        table.add_column(name, justify="right")
    for row in found["settings"]:
        values = ("" if row[name] is None else f"{row[name]:.3g}" for name in names)
        mark = "[green]best[/]" if row["best"] else "[dim]front[/]" if row["front"] else ""
        table.add_row(sanitize(format_setting(row["swept"])), *values, mark)
    console.print(table)
    _draw_ends(console, found["classes"])
    console.print(f"Best by this rule: {found['rule']}.", soft_wrap=True)
    if "folder" in found:
        console.print(f"{sanitize(found['folder'])}/report.html has the charts.", soft_wrap=True)


def _draw_ends(console: Console, classes: dict[str, str] | None) -> None:
    named = f" ({classes['fewest']}, {classes['most']})" if classes else ""
    console.print(
        f"PEL: mean of honest users; of those with the fewest and the most friends{named}; of "
        "selfish ones. Guessed: how often the engine finds who is behind a submission.",
        soft_wrap=True,
    )
