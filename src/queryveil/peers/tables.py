"""Terminal output of simulated peers."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..cli.terminal import sanitize
from .report import format_setting
from .simulation.results import (
    DegreeExtremes,
    DishonestSummary,
    MessageCounts,
    PeerSweep,
    SimulationSummary,
    SpreadSummary,
    UserMeans,
)


def print_simulation(console: Console, summary: SimulationSummary) -> None:
    """Print who learned what in one simulation."""
    graph, traffic = summary.graph, summary.traffic
    console.print(
        f"{summary.users:,} users, {summary.queries:,} queries; {sanitize(graph.name)}: "
        f"{graph.links:,} pairs of friends, {graph.friends.mean:.1f} each"
    )
    for reason, count in graph.rejected.items():
        console.print(f"[yellow]Note:[/] {count:,} lines of the graph left out: {sanitize(reason)}")
    _print_degrees(console, summary)
    submissions = summary.load.submissions
    rows = {
        "uncertainty above 70%, above 80%": f"{_format_percent(summary.above_70)}, "
        f"{_format_percent(summary.above_80)}",
        "PEL of honest and of selfish users": _format_pair(summary.pel),
        "the engine guesses the user": f"{summary.guess_rate:.1%} (by the account alone "
        f"{summary.guess.attacks['account']:.1%})",
        "dishonest users": _format_dishonest(summary.dishonest),
        "hops": f"{traffic.hops:.2f} on average",
        "requests": _format_messages(traffic.messages),
        "duplicates, failures": f"{traffic.duplicates:,}, {traffic.failures:,}",
        "busiest user": f"{submissions.max:,} submissions, mean {submissions.mean:,.0f}",
        "profile lost (words)": _format_pair(summary.service.words, ".2f"),
    }
    if summary.t1 is not None:
        rows |= _format_spread(summary.t1)
    table = Table.grid(padding=(0, 3))
    for name, value in rows.items():
        table.add_row(f"[dim]{name}[/]", value)
    console.print(table)
    console.print("These are figures of private data: for the owner of the log only.")


def _print_degrees(console: Console, summary: SimulationSummary) -> None:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    for name in ("friends", "honest users", "PEL", "> 70%", "> 80%", "engine is right"):
        table.add_column(name, justify="left" if name == "friends" else "right")
    for degree, counts in summary.degrees.items():
        rate = summary.guess.rates.by_degree.get(degree)
        table.add_row(
            degree,
            f"{counts.users:,}",
            _format_number(summary.pel.by_degree[degree]),
            f"{counts.above_70:,}",
            f"{counts.above_80:,}",
            "" if rate is None else f"{rate:.1%}",
        )
    console.print(table)


def _format_number(value: float | None, form: str = ".1f") -> str:
    return "none" if value is None else f"{value:{form}}"


def _format_percent(value: float | None) -> str:
    return _format_number(value, ".0%")


def _format_pair(means: UserMeans, form: str = ".1f") -> str:
    return f"{_format_number(means.honest, form)}, {_format_number(means.selfish, form)}"


def _format_dishonest(summary: DishonestSummary) -> str:
    if summary.sender_is_origin is None:
        return f"{summary.users:,}"
    return (
        f"{summary.users:,} recorded {summary.recorded:,} queries; in "
        f"{summary.sender_is_origin:.0%} the sender is the user who searched"
    )


def _format_messages(counts: MessageCounts) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.to_dict().items())


def _format_spread(spread: SpreadSummary) -> dict[str, str]:
    own, top = spread.own_fraction.honest, spread.top_relay.honest
    rank, evenness = spread.rank.honest, spread.evenness.honest
    return {
        "T1: own fraction, top relay's": f"{_format_number(own, '.3f')}, "
        f"{_format_number(top, '.3f')}",
        "T1: rank, evenness": f"{_format_number(rank)}, {_format_number(evenness, '.2f')}",
        "T1: stands out beyond noise": _format_number(spread.stands_out.honest, ".1%"),
    }


def print_sweep(console: Console, sweep: PeerSweep, folder: Path | None = None) -> None:
    """Print all settings, and the best one."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("setting", no_wrap=True)
    for name in ("PEL", "fewest", "most", "selfish", "guessed", "hops", ""):
        table.add_column(name, justify="right")
    for setting in sweep.settings:
        row = setting.figures
        figures = (row.pel, row.pel_fewest, row.pel_most, row.pel_selfish, row.guess_rate,
                   row.mean_hops)  # fmt: skip
        values = ("" if value is None else f"{value:.3g}" for value in figures)
        mark = "[green]best[/]" if setting.best else "[dim]front[/]" if setting.front else ""
        table.add_row(sanitize(format_setting(setting.params)), *values, mark)
    console.print(table)
    _explain_columns(console, sweep.classes)
    console.print(f"Best by this rule: {sweep.rule}.", soft_wrap=True)
    if folder is not None:
        console.print(f"{sanitize(str(folder))}/report.html has the charts.", soft_wrap=True)


def _explain_columns(console: Console, classes: DegreeExtremes | None) -> None:
    degrees = f" ({classes.fewest}, {classes.most})" if classes else ""
    console.print(
        f"PEL: mean of honest users; of those with the fewest and the most friends{degrees}; of "
        "selfish ones. Guessed: how often the engine guesses the user behind a submission.",
        soft_wrap=True,
    )
