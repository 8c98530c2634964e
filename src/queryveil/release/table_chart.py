"""A released table of counts as bars, each with the interval of its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from ..render.charts.bars import Bar, bar_chart
from ..render.charts.picture import Chart

if TYPE_CHECKING:
    from .release import Release

_MAX_ROWS = 50


def table_chart(release: Release, table: str | None, top: int) -> Chart:
    """Return a chart of the highest counts of a released table.

    Raises:
        UsageError: The release has no such table, or `top` is out of range.
    """
    if not release.tables:
        raise UsageError(
            "this release has no table of counts to draw",
            hint="`to_polars()` returns its log; `measure()` results and comparisons have charts",
        )
    if not 1 <= top <= _MAX_ROWS:
        raise UsageError(f"top must be an integer from 1 to {_MAX_ROWS}, got {top}")
    name = table if table is not None else next(iter(release.tables))
    rows = release.table(name).sort("count", descending=True, maintain_order=True).head(top)
    keys = [column for column in rows.columns if column != "count"]
    noise = next((known.interval for known in release.noise if known.table == name), None)
    bars = [
        Bar(
            " / ".join(str(row[key]) for key in keys),
            float(row["count"]),
            f"{row['count']:,}"
            if noise is None
            else f"{row['count']:,} \N{PLUS-MINUS SIGN} {noise:,}",
            None if noise is None else (row["count"] - noise, row["count"] + noise),
        )
        for row in rows.to_dicts()
    ]
    title = f"Highest counts of the table {name}"
    note = "count" if noise is None else "count; strokes: where 95% of the noise is"
    panel = bar_chart(bars, title=title, x_title=note)
    if panel is None:
        raise UsageError(f"the table {name} has no row")
    return Chart(title, (panel,), private=False)
