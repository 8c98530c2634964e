"""How much of a release are queries that point to one person: rare ones, and identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ..log.identifiers import flag_identifiers
from ..release.release import Release
from ._shared.queries import QueryTextMeasure, UserQueryCounts
from .context import MeasureContext


@dataclass(frozen=True)
class RareQueryExposure(QueryTextMeasure):
    """The share of released rows whose query only one person sent, or that looks like a name tag.

    Rows of published tables count as rows too.
    """

    name: ClassVar[str] = "rare-query-exposure"
    title: ClassVar[str] = "released queries that point to one person"
    description: ClassVar[str] = (
        "the share of released rows whose query exactly one user of the log had sent, or that "
        "looks like a personal identifier (e-mail address, phone number, ...)"
    )
    paper: ClassVar[str] = "none; methods that publish real queries can publish rare ones"
    unit: ClassVar[str] = "share of released rows, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the share of such rows, and how many distinct queries there are of each sort."""
        texts = _judged(_released(after), self.original_counts(before, after))
        rows = int(texts["rows"].sum())
        exposed = int(texts.filter(pl.col("rare") | pl.col("identifier"))["rows"].sum())
        rare, personal = int(texts["rare"].sum()), int(texts["identifier"].sum())
        named = self.unit_of(after)
        return {
            "value": round(exposed / max(rows, 1), 6),
            "rows": rows,
            "queries": texts.height,
            "rare": rare,
            "rare_share": round(rare / max(texts.height, 1), 6),
            "identifiers": personal,
            "identifiers_share": round(personal / max(texts.height, 1), 6),
            "new": int((texts["senders"] == 0).sum()),
            "words": (
                f"{rare:,} of {texts.height:,} released {named} had been sent by one person alone, "
                f"and {personal:,} look like personal identifiers; they fill {exposed:,} of "
                f"{rows:,} rows"
            ),
            "ruler": f"{self.basis(after)}; identifiers by patterns, which miss names",
        }


def _released(release: Release) -> pl.DataFrame:
    """Give every query that stands in a log or a table of a release, and in how many rows."""
    found = [] if release.log is None else [release.log.select("query")]
    for table in release.tables.values():
        names = [name for name in ("query", "next") if name in table.columns]
        found += [table.lazy().select(query=name) for name in names]
    empty = pl.DataFrame(schema={"query": pl.String, "rows": pl.UInt32})
    counted = [
        rows.group_by("query").agg(rows=pl.len()).with_columns(pl.col("query").cast(pl.String))
        for rows in found
    ]
    every = pl.concat([empty.lazy(), *counted], how="vertical_relaxed")
    return every.group_by("query").agg(pl.col("rows").sum()).sort("query").collect()


def _judged(texts: pl.DataFrame, sent: UserQueryCounts) -> pl.DataFrame:
    """Tell for each released text how many users had sent it, and whether it names somebody."""
    senders = sent.rows.group_by("text").agg(senders=pl.len())
    known = senders.select(query=pl.lit(sent.queries).gather("text"), senders="senders")
    joined = texts.join(known, on="query", how="left", maintain_order="left")
    personal = pl.any_horizontal(flag_identifiers(pl.col("query")))
    return joined.with_columns(pl.col("senders").fill_null(0), identifier=personal).with_columns(
        rare=pl.col("senders") == 1
    )
