"""OpenSearch User Behavior Insights: queries and events as JSON lines, joined on query_id.

A query gives user (client_id), query (user_query) and time. An event whose action is a
click gives rank (position.ordinal) and url (object_id, the document that was clicked); it
belongs to the query of the same query_id and the same client_id. Other events are counted. The
free-form fields (`query_attributes`, other `event_attributes`, `message`) are not read at
all: nobody knows what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from .base import RawRows, Reader, ReaderOptions, align_columns, attach_faults
from .jsonl import parse_objects
from .source import TextFile


_NAMES = {
    "id": "query_id",
    "user": "client_id",
    "query": "user_query",
    "time": "timestamp",
    "action": "action_name",
    "rank": "event_attributes.position.ordinal",
    "url": "event_attributes.object.object_id",
}
_CLICKS = ("click", "click_through", "item_click", "product_click", "result_click")


def _lines(files: Sequence[TextFile]) -> pl.DataFrame:
    """Read all lines of some files, with `file`, `line` and `fault`."""
    kinds = {**dict.fromkeys((*_NAMES, "fault", "file"), pl.String), "line": pl.Int64}
    tables = [pl.DataFrame(schema=kinds)]
    for file in files:
        for block in file.blocks():
            rows = attach_faults(parse_objects(block, _NAMES), block)
            tables.append(rows.with_columns(file=pl.lit(str(file.path))).select(list(kinds)))
    return pl.concat(tables)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    # Each object says itself what it is, whatever file it stands in.
    lines = _lines(files)
    asked = lines.filter(pl.col("action").is_null()).drop("rank", "url").with_row_index("row")
    done = lines.filter(pl.col("action").is_not_null())
    is_click = pl.col("action").str.to_lowercase().is_in(_CLICKS).fill_null(False)
    clicks = _with_query(done.filter(pl.col("fault").is_null() & is_click), asked)
    found = clicks.filter(pl.col("fault").is_null()).select("row", "rank", "url")
    asked = asked.join(found, on="row", how="left", maintain_order="left")
    yield from _by_file(asked)
    yield from _by_file(clicks.filter(pl.col("fault").is_not_null()))
    yield from _by_file(done.filter(pl.col("fault").is_not_null()))
    others = done.filter(pl.col("fault").is_null() & ~is_click)
    yield RawRows(str(files[0].path), align_columns(asked.head(0)), dropped={_OTHER: others.height})


_OTHER = "event that is no click"


def _with_query(clicks: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """Find the line of the query that each click is of: the first with its id and its user.

    A click is its own user's alone, and one that names no user is nobody's: whose query has its
    query_id may not decide, as others can have the same.
    """
    good = asked.filter(pl.col("fault").is_null()).drop_nulls(["id", "user"])
    first = good.unique(["id", "user"], keep="first", maintain_order=True)
    found = clicks.join(
        first.select("id", "user", "row"), on=["id", "user"], how="left", maintain_order="left"
    )
    reason = (
        pl.when(pl.col("user").is_null())
        .then(pl.lit("click without a user"))
        .otherwise(pl.lit("click without its query"))
    )
    return found.with_columns(fault=pl.when(pl.col("row").is_null()).then(reason))


def _by_file(rows: pl.DataFrame) -> Iterator[RawRows]:
    for (file,), table in rows.group_by(["file"], maintain_order=True):
        yield RawRows(str(file), align_columns(table))


UBI = Reader(
    "ubi",
    "OpenSearch UBI: ubi_queries and ubi_events, JSON lines",
    r".*ubi[_-](queries|events).*\.(jsonl|ndjson|json)",
    _read,
)
