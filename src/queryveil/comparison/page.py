"""The page of a comparison: its view model, which a template draws as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..render.charts.bars import Bar, BarChart, bar_chart
from ..render.charts.line import LineChart, line_chart
from ..render.charts.scales import Range, format_number, summarize
from ..render.html import render_page
from ..render.tables import Cell, Column, SortableTable, number_cell
from .frontier import FRONTIER_SCRIPTS, FRONTIER_STYLES, FrontierView, frontier_view
from .means import MeanValue, RunMeans
from .result import UTILITY, ClaimResult, Comparison, ComparisonRow, Figure, MeasureInfo
from .series import (
    ChartSeries,
    RunSummary,
    chart_lines,
    figure_series,
    format_param,
    reference_lines,
    split_figure,
    summarize_references,
    summarize_runs,
)

# A sign and words, so that the meaning does not depend on the color.
_VERDICTS = {
    True: ("good", "\N{CHECK MARK} holds"),
    False: ("warn", "\N{MULTIPLICATION X} does not hold"),
    None: ("soft", "? undecided"),
}


@dataclass(frozen=True)
class FigurePart:
    """Lines over one swept parameter, or bars; and their table, if there is a value."""

    chart: LineChart | BarChart | None
    table: SortableTable | None


@dataclass(frozen=True)
class FigureView:
    """A measure of all methods: a part for each swept parameter."""

    title: str
    measure: str
    description: str
    better: str
    parts: tuple[FigurePart, ...]
    bases: tuple[str, ...]


@dataclass(frozen=True)
class ComparisonView:
    """A comparison, as the template draws it."""

    title: str
    version: str
    synthetic: bool
    rows: int
    users: int
    queries: int
    repeat: int
    notes: tuple[str, ...]
    verdict: str
    claims: SortableTable | None
    deviations: tuple[str, ...]
    frontier: FrontierView | None
    figures: tuple[FigureView, ...]
    all_runs: SortableTable
    has_utility: bool
    has_best: bool
    errors: tuple[str, ...]
    measures: tuple[str, ...]
    command: str
    files: tuple[str, ...]
    specs: tuple[str, ...]


def render_comparison(
    comparison: Comparison, claims: Sequence[ClaimResult] = (), deviations: Sequence[str] = ()
) -> str:
    """Render the page of a comparison, or of a replication: with claims, and known deviations."""
    return render_page(
        "comparison.html.j2",
        styles=FRONTIER_STYLES,
        scripts=FRONTIER_SCRIPTS,
        view=comparison_view(comparison, claims, deviations),
    )


def comparison_view(
    comparison: Comparison, claims: Sequence[ClaimResult] = (), deviations: Sequence[str] = ()
) -> ComparisonView:
    """Return what the page of a comparison shows."""
    log, rows = comparison.log, comparison.rows
    return ComparisonView(
        title=_title(claims),
        version=comparison.queryveil,
        synthetic=comparison.options.synthetic,
        rows=log.rows,
        users=log.users,
        queries=log.queries,
        repeat=comparison.options.repeats,
        notes=comparison.notes,
        verdict=_count_claims(claims) if claims else "",
        claims=_claims_table(claims) if claims else None,
        deviations=tuple(deviations),
        frontier=frontier_view(comparison),
        figures=tuple(_figure(figure, comparison) for figure in comparison.figures),
        all_runs=_all_runs(comparison),
        has_utility=_has_utility(comparison),
        has_best=comparison.has_limits,
        errors=_errors(rows),
        measures=tuple(
            f"{name}: {about.title}, {about.unit}; {about.better} is better. {about.paper}."
            for name, about in comparison.measures.items()
        ),
        command=comparison.command,
        files=tuple(f"{path} (SHA-256 {digest})" for path, digest in log.files.items()),
        specs=tuple(dict.fromkeys(_format_spec(row) for row in rows)),
    )


def _title(claims: Sequence[ClaimResult]) -> str:
    papers = list(dict.fromkeys(claim.paper for claim in claims))
    return f"{', '.join(papers)}, replicated" if papers else "Methods compared"


def _count_claims(claims: Sequence[ClaimResult]) -> str:
    """Return how many published claims hold, as a sentence."""
    holding, failing, total = (
        sum(claim.holds is True for claim in claims),
        sum(claim.holds is False for claim in claims),
        len(claims),
    )
    undecided = total - holding - failing
    more = f", and {undecided} {'is' if undecided == 1 else 'are'} undecided" if undecided else ""
    verb = "does" if failing == 1 else "do"
    return f"{holding} of {total} published claims hold, {failing} {verb} not{more}."


def _claims_table(claims: Sequence[ClaimResult]) -> SortableTable:
    """Return claim, verdict, published value, our value and reason of each claim.

    The paper is a column only where there are several: the title names it.
    """
    named = len({claim.paper for claim in claims}) > 1
    columns = (
        Column("claim", "text"),
        Column("holds?"),
        Column("published"),
        Column("ours"),
        Column("why", "text"),
        *((Column("paper"),) * named),
    )
    return SortableTable(columns, tuple(_claim_row(claim, named) for claim in claims))


def _claim_row(claim: ClaimResult, named: bool) -> tuple[Cell, ...]:
    kind, verdict = _VERDICTS[claim.holds]
    return (
        Cell(claim.claim, "text"),
        Cell(verdict, kind, strong=True),
        Cell(claim.published),
        Cell(claim.ours),
        Cell(claim.why, "text"),
        *((Cell(claim.paper),) * named),
    )


def _figure(figure: Figure, comparison: Comparison) -> FigureView:
    about = comparison.measures[figure.measure]
    return FigureView(
        title=figure.title,
        measure=figure.measure,
        description=about.description,
        better=about.better,
        parts=tuple(draw_figure(figure, comparison)),
        bases=_bases(figure, comparison.rows),
    )


def draw_figure(figure: Figure, comparison: Comparison) -> list[FigurePart]:
    """Return the charts of a figure, one for each swept parameter, with their tables."""
    rows, about = comparison.rows, comparison.measures[figure.measure]
    parts = split_figure(figure, rows)
    series = [figure_series(part, rows) for part in parts]
    labels = dict.fromkeys(line.label for lines in series for line in lines)
    numbers = {label: number for number, label in enumerate(labels)}
    return [
        _draw_part(part, lines, about, rows, numbers)
        for part, lines in zip(parts, series, strict=True)
    ]


def _draw_part(
    figure: Figure,
    series: Sequence[ChartSeries],
    measure: MeasureInfo,
    rows: Sequence[ComparisonRow],
    numbers: Mapping[str, int],
) -> FigurePart:
    if not series:
        return FigurePart(None, None)
    if figure.x is None or all(line.level for line in series):
        return FigurePart(_bars(series, measure), _table("", series))
    references = reference_lines(figure, rows)
    lines, scale, names = chart_lines(series, figure.scale, references, numbers)
    chart = line_chart(
        lines,
        title=f"{figure.title} over {figure.x.replace('_', '-')}",
        x_title=figure.x.replace("_", "-") + " (log scale)" * (scale == "log"),
        y_title=f"{measure.unit}; {measure.better} is better",
        scale=scale,
        names=names,
    )
    return FigurePart(chart, _table(figure.x, [*series, *references]))


def _bars(series: Sequence[ChartSeries], measure: MeasureInfo) -> BarChart | None:
    """Return a bar for each method, if no parameter is swept."""
    ranges = {line.label: summarize(line.values[None]) for line in series}
    bars = [
        Bar(label, value.mean, str(value), (value.low, value.high) if value.spread else None)
        for label, value in ranges.items()
    ]
    title = f"{measure.unit}; {measure.better} is better"
    return bar_chart(bars, title=measure.title, x_title=title)


def _table(x: str, series: Sequence[ChartSeries]) -> SortableTable:
    values = list(dict.fromkeys(value for line in series for value in line.values))
    titles = ["value" if value is None else format_param(x, value) for value in values]
    rows = [
        (
            Cell(line.label),
            *(
                _range_cell(summarize(line.values[value]))
                if value in line.values
                else number_cell("", None)
                for value in values
            ),
        )
        for line in series
    ]
    columns = (Column("method"), *(Column(title, "number") for title in titles))
    return SortableTable(columns, tuple(rows))


def _range_cell(values: Range) -> Cell:
    return number_cell(format_number(values.mean), values.mean, note=values.spread)


def _all_runs(comparison: Comparison) -> SortableTable:
    """Return every run with all its measures, and its figure of utility if any run has one."""
    measures, has_utility = list(comparison.measures), _has_utility(comparison)
    columns = (
        Column("method"),
        Column("at"),
        *((Column(UTILITY, "number"),) * has_utility),
        *(Column(name, "number") for name in measures),
    )
    means = {(run.label, run.method): run for run in comparison.means}
    rows = []
    for run in (*summarize_runs(comparison), *summarize_references(comparison)):
        own = means.get((run.label, run.method))
        utility = (_utility_cell(own),) * has_utility
        cells = (_measured_cell(run, name, own) for name in measures)
        rows.append((Cell(run.short), Cell(run.at), *utility, *cells))
    return SortableTable(columns, tuple(rows))


def _has_utility(comparison: Comparison) -> bool:
    return any(run.utility is not None for run in comparison.means)


def _utility_cell(run: RunMeans | None) -> Cell:
    if run is None:  # a reference
        return Cell("", "number", "")
    if run.utility is None:
        return _missing_cell(run.no_utility_because or "")
    value = run.utility
    return number_cell(format_number(value.mean), value.mean, note=format_interval(value))


def _measured_cell(run: RunSummary, measure: str, means: RunMeans | None) -> Cell:
    spread = run.spread(measure)
    if spread is None:
        return _missing_cell(run.errors.get(measure, ""))
    value = None if means is None else means.measures.get(measure)
    if value is None:
        return _range_cell(spread)
    best = value.best_with_threshold
    notes = [format_interval(value), "" if best is None else f"at best {format_number(best)}"]
    note = "; ".join(filter(None, notes))
    return number_cell(format_number(value.mean), value.mean, note=f"({note})" if note else "")


def format_interval(value: MeanValue) -> str:
    """Return the confidence interval of a mean as text; empty if it is a point, or there is none.

    >>> from queryveil.measures.result import Interval
    >>> format_interval(MeanValue(3, 2.0, Interval(1.5, 2.5)))
    '95%: 1.5 to 2.5'
    """
    if value.interval is None:
        return ""
    low, high = format_number(value.interval.low), format_number(value.interval.high)
    return "" if low == high else f"95%: {low} to {high}"


def _missing_cell(error: str) -> Cell:
    return Cell("", "number", "", "none" if error else "", "warn", tooltip=error)


def _bases(figure: Figure, rows: Sequence[ComparisonRow]) -> tuple[str, ...]:
    """Return the bases of the values; methods may differ in how their releases are read."""
    shown = {label for label, _ in figure.runs}
    bases: dict[str, dict[str, None]] = {}
    for row in rows:
        here = row.measure == figure.measure and row.label in shown
        if here and row.basis is not None:
            bases.setdefault(_format_basis(row), {})[row.label.partition(":")[0]] = None
    if len(bases) == 1:
        return tuple(f"Basis: {basis}." for basis in bases)
    return tuple(f"Basis of {', '.join(names)}: {basis}." for basis, names in bases.items())


def _format_basis(row: ComparisonRow) -> str:
    if "users" not in row.counts:
        return str(row.basis)
    users, left_out = row.counts["users"], row.counts.get("left_out", 0)
    return f"{row.basis}; {users:,} users measured, {left_out:,} left out"


def _errors(rows: Sequence[ComparisonRow]) -> tuple[str, ...]:
    errors = (
        f"{_format_spec(row)} ({row.measure}): {row.error}" for row in rows if row.error is not None
    )
    return tuple(dict.fromkeys(errors))


def _format_spec(row: ComparisonRow) -> str:
    """Return the spec of a run with all swept values, also if these are defaults."""
    return ":".join([row.label, *(f"{name}={value}" for name, value in row.params.items())])
