"""The private report of a release: the verdict, the worst figures, and what became of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ..core.parameters import Parameter
from ..ledger.reservation import LedgerReference
from ..render.html import format_sentence, render_page
from .cards import PrivateCard
from .page import card_view
from .parameter_texts import describe_value
from .risk_figures import RiskFigure, collect_figures
from .verdict import Verdict, color_of, judge

Mapped = pl.DataFrame | pl.LazyFrame  # user, pseudonym, and group where there are groups
_PART_COLORS = 7  # of colors.css
_SHOWN_FIGURES = 3


@dataclass(frozen=True)
class FigureView:
    """A risk figure as the page shows it."""

    count: str
    meaning: str
    color: str
    severity: str
    bounds: str
    source: str


@dataclass(frozen=True)
class BarPart:
    """A part of all rows, with its number in the palette."""

    name: str
    color: int
    rows: int
    fraction: float


@dataclass(frozen=True)
class AccountingView:
    """What became of every row that went in; generated rows are not rows of the log."""

    rows: int
    parts: tuple[BarPart, ...]
    generated: Mapping[str, int]
    blanked: Mapping[str, int]


@dataclass(frozen=True)
class OwnerView:
    """What only the data owner sees of a release.

    Attributes:
        figures: The worst figures, at most three.
        other_figures: The others, as sentences.
        is_measured: Whether any figure was measured.
        budget: Statements on the ledger.
        groups: Statements on the sizes of groups.
    """

    verdict: Verdict
    figures: tuple[FigureView, ...]
    other_figures: tuple[FigureView, ...]
    is_measured: bool
    budget: tuple[str, ...]
    groups: tuple[str, ...]
    accounting: AccountingView
    sizes: Mapping[str, int]
    files: tuple[str, ...]
    run: Mapping[str, float]


def render_private_card(
    card: PrivateCard, declared: Sequence[Parameter] = (), mapping: Mapped | None = None
) -> str:
    """Return the private report of a release on which `measure` was not run yet."""
    return render_page(
        "private_report.html.j2",
        card=card_view(card.public, declared),
        owner=owner_view(card, mapping=mapping),
        report=None,
    )


def owner_view(
    card: PrivateCard, measured: Sequence[RiskFigure] = (), mapping: Mapped | None = None
) -> OwnerView:
    """Return what only the data owner sees.

    Args:
        measured: Figures that were measured after the release was made.
        mapping: User, pseudonym and group, where there are groups.
    """
    figures = collect_figures(card, measured)
    views = tuple(map(_figure_view, figures))
    seconds = {f"{stage}, seconds": of for stage, of in card.seconds.items()}
    return OwnerView(
        verdict=judge(card, figures, attacked=bool(measured)),
        figures=views[:_SHOWN_FIGURES],
        other_figures=views[_SHOWN_FIGURES:],
        is_measured=any(figure.is_measured for figure in figures),
        budget=_describe_budget(card),
        groups=() if mapping is None else _describe_groups(mapping),
        accounting=_row_accounting(card),
        sizes={"users in the log": card.input.users, "queries in the log": card.input.queries},
        files=tuple(f"{path} (SHA-256 {sha})" for path, sha in card.input.sha256.items()),
        run=seconds | {"peak memory, MB": card.peak_mb},
    )


def _figure_view(figure: RiskFigure) -> FigureView:
    return FigureView(
        figure.count,
        figure.meaning,
        color_of(figure.severity),
        figure.severity.name.lower(),
        figure.bounds,
        format_sentence(figure.source),
    )


def _describe_budget(card: PrivateCard) -> tuple[str, ...]:
    """Return what a differentially private release spent, and where that is recorded."""
    guarantee, reference = card.guarantee, card.ledger
    if guarantee.epsilon is None:
        return ()
    spent = f"This release spent epsilon {describe_value(guarantee.epsilon)}"
    spent += f" and delta {describe_value(guarantee.delta)}" if guarantee.delta else ""
    where = "no ledger was named" if reference is None else _describe_entry(reference)
    notes = () if reference is None else reference.notes
    return (f"{spent}; {where}.", *map(format_sentence, notes))


def _describe_entry(reference: LedgerReference) -> str:
    if reference.not_recorded_because is not None:
        return f"it is in no ledger: {reference.not_recorded_because}"
    extended = "" if reference.extends is None else f", which extends entry {reference.extends:,}"
    entry = "an entry" if reference.entry is None else f"entry {reference.entry:,}"
    return f"it is {entry} of {reference.file}{extended}"


def _describe_groups(mapping: Mapped) -> tuple[str, ...]:
    """Return the sizes of the groups of a k-anonymous release."""
    rows = mapping.lazy()
    if "group" not in rows.collect_schema().names():
        return ()
    users = rows.drop_nulls("group").group_by("group").agg(size=pl.col("user").n_unique())
    sizes: list[int] = users.sort("size").collect()["size"].to_list()
    if not sizes:
        return ()
    return (
        f"{sum(sizes):,} users are in {len(sizes):,} groups: the smallest has {sizes[0]:,} users, "
        f"the median {sizes[len(sizes) // 2]:,} and the largest {sizes[-1]:,}.",
    )


def _row_accounting(card: PrivateCard) -> AccountingView:
    generated, released = dict(card.generated), card.output.rows
    name = "released as a row of the log" if generated else "released"
    counts = {name: released - sum(generated.values()), **card.dropped}
    counts |= {f"rejected: {reason}": n for reason, n in card.input.rejected.items()}
    total = max(card.input.rows, 1)
    return AccountingView(
        rows=card.input.rows,
        parts=tuple(
            BarPart(name, i % _PART_COLORS, n, n / total)
            for i, (name, n) in enumerate(counts.items())
        ),
        generated=generated | {"released in all": released} if generated else {},
        blanked=card.blanked,
    )
