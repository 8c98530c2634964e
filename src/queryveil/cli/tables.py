"""Print results as tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ..ledger.groups import OTHER_GROUPS_NOTE
from ..methods.forecast import Alternative, Forecast, ForecastFact, TableForecast
from ..release.cards import PrivateCard, PublicCard
from ..release.explanations import explain_guarantee
from ..release.guarantee import Guarantee, Level, Standing, summarize_standing
from ..release.risk_figures import RiskFigure, collect_figures
from ..release.signing import UNSIGNED
from ..release.source_checks import SOURCE_CHECKS
from ..release.verdict import Verdict, color_of, judge
from ..workflows.expected_yield import HANDFUL
from ..workflows.planning import Plan
from ..workflows.regrouping import GROUPS_KEPT_NOTE
from ..workflows.verification import VerificationReport
from .languages import describe_language
from .terminal import sanitize


def make_grid(title: str | None = None) -> Table:
    """Return an empty table without lines."""
    table = Table.grid(padding=(0, 3))
    table.title, table.title_justify, table.title_style = title, "left", "bold"
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    return table


def draw_bar(fraction: float, width: int = 20) -> str:
    """Return a bar of blocks, filled to a fraction."""
    filled = round(fraction * width)
    return "█" * filled + "░" * (width - filled)


def print_card(
    console: Console, card: PrivateCard, heading: str, *, with_limits: bool = False
) -> None:
    """Print the verdict on a release, its worst figures, and what became of every row.

    Args:
        with_limits: Whether to print the statement of the guarantee and what it does not cover;
            the pages of a written release have both.
    """
    console.print(f"[bold]{sanitize(heading)}[/]")
    _draw_verdict(console, card)
    console.print()
    console.print(_count_rows(card))
    language = describe_language(card.public)
    if language:
        console.print(f"Queries were mapped to concepts in {sanitize(language)}.", soft_wrap=True)
    console.print()
    _draw_remarks(console, card.public)
    if with_limits:
        _draw_limits(console, card.guarantee)


_STYLES = {"good": "green", "warn": "yellow", "bad": "bold red"}


def _draw_verdict(console: Console, card: PrivateCard) -> None:
    figures = collect_figures(card)
    print_verdict(console, judge(card, figures), figures)


def print_verdict(console: Console, verdict: Verdict, figures: Sequence[RiskFigure]) -> None:
    """Print a verdict, and the worst three figures."""
    style = _STYLES[verdict.color]
    text = f"[{style}]{sanitize(verdict.title)}.[/] {sanitize(verdict.sentence)}"
    console.print(text, soft_wrap=True)
    for figure in figures[:3]:
        if figure.sentence not in verdict.sentence:
            style = _STYLES[color_of(figure.severity)]
            risk = f"{figure.severity.name.lower()} risk"
            console.print(f"  [{style}]{risk}:[/] {sanitize(figure.sentence)}", soft_wrap=True)


def _count_rows(card: PrivateCard) -> Table:
    """Return a table of what became of every row."""
    rows, out = card.input.rows, card.output
    table = make_grid()
    table.add_row("rows in", f"{rows:,}", f"{card.input.users:,} users")
    fraction = out.rows / rows if rows else 0
    # Generated rows are no fraction of the input rows.
    fraction_text = "" if card.generated else f"{draw_bar(fraction)} {fraction:.1%}"
    if out.rows or not out.tables:
        table.add_row("released", f"{out.rows:,}", fraction_text)
    counts = {
        "generated": card.generated,
        "dropped": card.dropped,
        "rejected": card.input.rejected,
        "blanked cells": card.blanked,
    }
    for title, reasons in counts.items():
        for reason, number in reasons.items():
            table.add_row(title, f"{number:,}", sanitize(reason))
    for name, number in out.tables.items():
        table.add_row(sanitize(name), f"{number:,}", _describe_noise(card.public, name))
    input_queries = f"{card.input.queries:,}"
    of = f"{input_queries} in the log" if card.generated else f"of {input_queries}"
    table.add_row("distinct queries", f"{out.queries:,}", of)
    return table


def _describe_noise(card: PublicCard, name: str) -> str:
    """Return the scale of the noise in a table as text."""
    for table in card.noise.tables:
        if f"{table.noise.table}.tsv" == name:
            return f"rows; noise of up to {table.interval_95:,} in 95 of 100 counts"
    return "rows"


def _draw_remarks(console: Console, card: PublicCard) -> None:
    """Print the notes and warnings of a card."""
    for note in card.notes:
        console.print(f"[yellow]Note:[/] {sanitize(note)}")
        if note == OTHER_GROUPS_NOTE:
            hint = "keep the groups of the earlier release: --groups-of DIR"
            if GROUPS_KEPT_NOTE in card.notes:
                hint = "there is a third release with other groups, see `queryveil ledger show LOG`"
            console.print(f"[bold]Hint:[/] {hint}")
    for warning in card.warnings:
        console.print(f"[yellow]Warning:[/] {sanitize(warning)}")


def _draw_limits(console: Console, guarantee: Guarantee) -> None:
    console.print(f"[bold]Guarantee[/] (model: {guarantee.model})")
    console.print(f"  {sanitize(guarantee.statement)}")
    console.print("[bold]What is not covered[/]")
    for limit in guarantee.not_covered:
        console.print(f"  • {sanitize(limit)}")


def _draw_explanation(console: Console, guarantee: Guarantee) -> None:
    """Print what the numbers of a guarantee mean for a person."""
    if text := explain_guarantee(guarantee):
        console.print(f"  [bold]In other words:[/] {sanitize(text)}.")


def _draw_standing(
    console: Console, guarantee: Guarantee, standing: Standing, warnings: Sequence[str]
) -> None:
    """Print the standing, and the warnings."""
    for reason in standing.because:
        console.print(f"[yellow]Not for publication:[/] {sanitize(reason)}")
    if not standing.because:
        color = "green" if standing.level is Level.FORMAL else "yellow"
        summary = sanitize(summarize_standing(guarantee, standing.level))
        console.print(f"[{color}]Standing: {standing.level.value}[/] ({summary})")
    for warning in warnings:
        console.print(f"[yellow]Warning:[/] {sanitize(warning)}")


def draw_emptiness(console: Console, card: PublicCard) -> None:
    """Print which tables are empty and why, and what the noise means for the rows."""
    for name in [name for name, rows in card.figures.tables.items() if not rows]:
        console.print(
            f"[yellow]Empty:[/] {sanitize(name)}. {_explain_empty(card, name)} "
            "The empty table is published, and the budget is spent.",
            soft_wrap=True,
        )
    for text in card.noise.statements:
        console.print(f"[bold]Noise:[/] {sanitize(text)}", soft_wrap=True)


def _explain_empty(card: PublicCard, name: str) -> str:
    if name == "clicks.tsv" and card.parameters.get("public_results") == "":
        return "Only clicks on public results are counted, and none were named (--public-results)."
    return "No count reached the threshold."


def print_forecast(console: Console, plan: Plan) -> None:
    """Print the forecast of a private release, before anything is spent."""
    forecast = plan.forecast or Forecast()
    for table in forecast.tables:
        _print_table_forecast(console, table)
    if forecast.facts:
        grid = make_grid("What to expect of any log")
        for fact in forecast.facts:
            grid.add_row(sanitize(fact.description), _format_fact(fact), "")
        console.print(grid)
        console.print()
    if (expected := forecast.expected) is not None:
        console.print(
            f"With {plan.expected_users:,} users (--expected-users), expect {expected.queries:,} "
            f"queries (usually {expected.low:,} to {expected.high:,}; a shop may have fewer), "
            f"{expected.sent_fraction:.1%} of what users send. This uses public figures alone."
        )
        if expected.queries < HANDFUL:
            console.print("[yellow]That is almost nothing:[/] `anonymize` would need --yes.")
    console.print(f"[bold]Guarantee[/]\n  {sanitize(plan.guarantee.statement)}")
    if plan.preview is None:  # else print_card shows it
        _draw_explanation(console, plan.guarantee)
        standing = Standing(plan.standing, plan.not_release_grade_because)
        _draw_standing(console, plan.guarantee, standing, plan.warnings)
    console.print("Nothing was written or spent.")


def _print_table_forecast(console: Console, table: TableForecast) -> None:
    grid = make_grid(f"{table.table}.tsv")
    rows = {
        "noise": table.noise,
        "rounds of noise": table.rounds,
        "scale of the counts": table.scale,
        "keys on the public list": table.public_keys,
        "users that a key needs, about": table.median_release_count,
        "largest change of all counts by one user": table.contribution_bound,
        "probability that a key of only one user is released": table.single_user_probability,
        "probability that a key of no user at all is released": table.false_positive_rate,
    }
    for title, value in rows.items():
        if value is not None:
            grid.add_row(title, _format_number(value), "")
    console.print(grid)
    console.print()


def _format_fact(fact: ForecastFact) -> str:
    if fact.unit == "fraction":
        return f"{100 * float(fact.value):.3g}%"
    return sanitize(_format_number(fact.value))


def _format_number(value: float | str) -> str:
    """Return a figure as text, with the few digits that a forecast justifies."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else value


def print_alternatives(console: Console, alternatives: Sequence[Alternative]) -> None:
    """Print the effect of other values of a parameter."""
    if not alternatives:
        return
    names = (alternatives[0].parameter, "queries", "rows")
    table = Table("", *names, title="What other values would keep", title_justify="left", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for step in alternatives:
        numbers = (step.value, step.queries, step.rows)
        table.add_row(draw_bar(step.fraction), *(f"{number:,}" for number in numbers))
    console.print()
    console.print(table)


_SIGNS = {True: "[green]✓[/]", False: "[bold red]✗[/]", None: "[yellow]?[/]"}
_ALWAYS_SHOWN = ("signature",)  # who signed a release decides whether to trust its claims


def print_verification(
    console: Console, report: VerificationReport, *, with_all: bool = False
) -> None:
    """Print the outcome in one line, and the checks that fail.

    Args:
        with_all: Whether to print also the checks that hold, and each claim.
    """
    console.print(_summarize_verification(report), soft_wrap=True)
    for finding in report.findings:
        if with_all or not finding.holds or finding.check in (*_ALWAYS_SHOWN, *SOURCE_CHECKS):
            sign = "•" if finding.message == UNSIGNED else _SIGNS[finding.holds]
            console.print(f"{sign} {sanitize(finding.message)}", soft_wrap=True)
    passed = len(report.messages(True))
    more = "" if with_all else " (--all lists them)"
    console.print(f"{passed:,} of {len(report.findings):,} checks passed{more}.")
    if with_all and report.claims:
        console.print("[bold]Claims of the data owner that cannot be checked on the files[/]")
        for claim in report.claims:
            console.print(f"  • {sanitize(claim)}", soft_wrap=True)
    elif report.claims:
        number = len(report.claims)
        claims = "One claim" if number == 1 else f"{number:,} claims"
        console.print(f"{claims} of the data owner cannot be checked on the files.")
    for warning in report.warnings:
        console.print(f"[yellow]Warning:[/] {sanitize(warning)}", soft_wrap=True)


def _summarize_verification(report: VerificationReport) -> str:
    """Return the outcome of all checks in one line."""
    if report.holds is False:
        failed = len(report.messages(False))
        number = "one check fails" if failed == 1 else f"{failed:,} checks fail"
        return f"[bold red]Do not trust this release:[/] {number}."
    if report.holds is None:
        return "[yellow]Not decided:[/] some checks need another version of queryveil."
    summary = f"Standing: {report.standing.value} ({sanitize(report.summary)})."
    if report.because:
        reasons = sanitize("; ".join(report.because))
        return f"[yellow]The checks hold, and this is not for publication:[/] {reasons}."
    if report.model == "none":
        return f"[yellow]The rule holds.[/] {summary}"
    return f"[green]The guarantee holds.[/] {summary}"
