"""The private report of a release: its card, measured values, and other methods beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UsageError
from ..measures.result import MeasureResult, baseline_title, sort_baselines
from ..methods.base import declared_parameters
from ..release.cards import PrivateCard
from ..release.page import card_view
from ..release.private_page import Mapped, owner_view
from ..render.charts.scales import is_drawable
from ..render.html import format_sentence, render_page
from ..render.tables import Cell, Column, SortableTable, number_cell
from .frontier import FRONTIER_SCRIPTS, FRONTIER_STYLES, FrontierView, frontier_view
from .measured_risks import measured_figures
from .result import Comparison


@dataclass(frozen=True)
class ReportView:
    """What the private report shows besides the card."""

    measures: SortableTable | None
    frontier: FrontierView | None


def render_private_report(
    card: PrivateCard,
    measures: Mapping[str, MeasureResult] | None = None,
    comparison: Comparison | None = None,
    *,
    mapping: Mapped | None = None,
) -> str:
    """Render a private card with measured values, and with a comparison to other methods.

    In the comparison, the run with the label "this release" is highlighted. A `mapping` with groups
    adds the sizes of the groups.
    """
    if not isinstance(card, PrivateCard):
        raise UsageError(
            "measures are figures of private data, and the public card cannot show them",
            hint="use the card of private/card.json",
        )
    return render_page(
        "private_report.html.j2",
        styles=FRONTIER_STYLES,
        scripts=FRONTIER_SCRIPTS,
        card=card_view(card.public, declared_parameters(card.method) or ()),
        owner=owner_view(card, measured_figures(measures or {}), mapping),
        report=ReportView(
            _measures_table(measures) if measures else None,
            frontier_view(comparison) if comparison else None,
        ),
    )


def _measures_table(measures: Mapping[str, MeasureResult]) -> SortableTable:
    """Return the measured values, the risks first."""
    columns = (
        Column("of"),
        Column("measure", "text"),
        Column("value", "number"),
        Column("better"),
        Column("summary", "text"),
    )
    order = sorted(measures.items(), key=lambda item: item[1].kind != "risk")
    rows = tuple(_measure_row(line, result) for line, result in order)
    return SortableTable(columns, rows, folds=True)


def _measure_row(line: str, result: MeasureResult) -> tuple[Cell, ...]:
    value = result.value
    basis = f"Basis: {result.basis}." if value is not None and result.basis else ""
    return (
        Cell(result.kind),
        Cell(result.title, "text", note=f"{line}; {result.unit}"),
        number_cell("" if value is None else f"{value:.4g}", value),
        Cell(result.better),
        Cell(_summarize(result), "text", note=basis),
    )


def _summarize(result: MeasureResult) -> str:
    if result.value is None:
        return f"Not measured: {result.skipped_because or ''}"
    statements = [result.summary] if result.summary else []
    statements += [
        f"{baseline_title(name)}: {result.baselines[name]:.4g}"
        for name in sort_baselines(result.baselines)
        if is_drawable(result.baselines[name])
    ]
    return " ".join(map(format_sentence, statements))
