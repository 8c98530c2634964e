"""The exposure of rare queries and identifiers: released queries that point to one user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..concepts.mapping.occurrences import TextRuns
from ..log.identifiers import kinds_of
from ..release.formats import has_kinds
from ..release.release import Release
from ._shared.queries import QueryTextMeasure, UserQueryCounts
from .context import MeasureContext
from .result import MeasureResult


@dataclass(frozen=True)
class RareQueryExposure(QueryTextMeasure):
    """The fraction of released rows with a query of one user, or with an identifier pattern.

    Rows of released tables count as rows too.
    """

    name: ClassVar[str] = "rare-query-exposure"
    title: ClassVar[str] = "released queries that point to one user"
    description: ClassVar[str] = (
        "the fraction of released rows whose query exactly one user of the log had sent, or that "
        "looks like a personal identifier (e-mail address, phone number, name, ...)"
    )
    paper: ClassVar[str] = "none; methods that release real queries can release rare ones"
    unit: ClassVar[str] = "fraction of released rows, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the fraction of such rows, and the number of distinct queries of each type."""
        texts = _flag_texts(_count_released(release), self.original_counts(context, release))
        if release.log is not None and has_kinds(release.log):
            texts = _recount_parts(texts, context.log.local_frame)
        rows = int(texts["rows"].sum())
        exposed = int(texts.filter(pl.col("rare") | pl.col("identifier"))["rows"].sum())
        rare, personal = int(texts["rare"].sum()), int(texts["identifier"].sum())
        unit = self.unit_of(release)
        return self.result(
            round(exposed / max(rows, 1), 6),
            counts={
                "rows": rows,
                "queries": texts.height,
                "rare": rare,
                "identifiers": personal,
                "new": int((texts["senders"] == 0).sum()),
            },
            details={
                "rare_fraction": round(rare / max(texts.height, 1), 6),
                "identifiers_fraction": round(personal / max(texts.height, 1), 6),
            },
            summary=(
                f"{rare:,} of {texts.height:,} released {unit} had been sent by one user only, "
                f"and {personal:,} look like personal identifiers; they make up {exposed:,} of "
                f"{rows:,} rows"
            ),
            basis=f"{self.basis(release)}; identifiers by rules that miss rare names",
        )


def _count_released(release: Release) -> pl.DataFrame:
    """Count the rows of every query in the log and the tables of a release."""
    frames = [] if release.log is None else [release.log.select("query")]
    for table in release.tables.values():
        names = [name for name in ("query", "next") if name in table.columns]
        frames += [table.lazy().select(query=name) for name in names]
    empty = pl.DataFrame(schema={"query": pl.String, "rows": pl.UInt32})
    counted = [
        rows.group_by("query").agg(rows=pl.len()).with_columns(pl.col("query").cast(pl.String))
        for rows in frames
    ]
    all_counts = pl.concat([empty.lazy(), *counted], how="vertical_relaxed")
    return all_counts.group_by("query").agg(pl.col("rows").sum()).sort("query").collect()


def _flag_texts(texts: pl.DataFrame, sent: UserQueryCounts) -> pl.DataFrame:
    """Add the number of original senders of each text, and whether it is rare or an identifier."""
    senders = sent.rows.group_by("text").agg(senders=pl.len())
    known = senders.select(query=pl.lit(sent.queries).gather("text"), senders="senders")
    joined = texts.join(known, on="query", how="left", maintain_order="left")
    personal = kinds_of(joined["query"]).is_not_null()
    return joined.with_columns(pl.col("senders").fill_null(0), identifier=personal).with_columns(
        rare=pl.col("senders") == 1
    )


def _recount_parts(texts: pl.DataFrame, frame: pl.LazyFrame) -> pl.DataFrame:
    """Count the senders of rare texts again: a part was sent by all whose queries hold it."""
    rare = texts.filter("rare")["query"]
    sent = frame.select("user", pl.col("query").cast(pl.String)).unique().collect()
    queries = sent.select(pl.col("query").unique()).with_row_index("index")
    held = TextRuns(rare).find(queries["query"]).join(queries, left_on="query", right_on="index")
    pairs = held.select("text", query="query_right").join(sent, on="query")
    senders = pairs.group_by("text").agg(holders=pl.col("user").n_unique())
    known = senders.select("holders", query=pl.lit(rare).gather("text"))
    joined = texts.join(known, on="query", how="left", maintain_order="left")
    holders = pl.max_horizontal("senders", pl.col("holders").fill_null(0)).cast(pl.UInt32)
    counted = joined.with_columns(senders=holders).drop("holders")
    return counted.with_columns(rare=pl.col("senders") == 1)
