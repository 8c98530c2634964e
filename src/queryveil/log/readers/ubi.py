"""OpenSearch User Behavior Insights: queries and events as JSON lines, joined on query_id.

A query has user (client_id), query (user_query) and time. An event whose action is a click has
rank (position.ordinal) and url (object_id, the document that was clicked); it belongs to the query
of the same query_id and the same client_id. Other events are counted. The free-form fields
(`query_attributes`, other `event_attributes`, `message`) are not read, because they may contain
anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from .base import RawRows, Reader, ReaderOptions, align_columns, attach_faults, is_named
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


def _read_lines(files: Sequence[TextFile]) -> pl.DataFrame:
    """Return the objects of all files, with `file`, `line` and `fault`."""
    schema = {**dict.fromkeys((*_NAMES, "fault", "file"), pl.String), "line": pl.Int64}
    tables = [pl.DataFrame(schema=schema)]
    for file in files:
        for block in file.blocks():
            rows = attach_faults(parse_objects(block, _NAMES), block)
            tables.append(rows.with_columns(file=pl.lit(str(file.path))).select(list(schema)))
    return pl.concat(tables)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    # An object with an action is an event, any other a query, whichever file it is in.
    lines = _read_lines(files)
    queries = lines.filter(pl.col("action").is_null()).drop("rank", "url").with_row_index("row")
    events = lines.filter(pl.col("action").is_not_null())
    is_click = pl.col("action").str.to_lowercase().is_in(_CLICKS).fill_null(False)
    clicks = _find_queries(events.filter(pl.col("fault").is_null() & is_click), queries)
    matched = clicks.filter(pl.col("fault").is_null()).select("row", "rank", "url")
    queries = queries.join(matched, on="row", how="left", maintain_order="left")
    yield from _split_by_file(queries)
    yield from _split_by_file(clicks.filter(pl.col("fault").is_not_null()))
    yield from _split_by_file(events.filter(pl.col("fault").is_not_null()))
    others = events.filter(pl.col("fault").is_null() & ~is_click)
    yield RawRows(
        str(files[0].path), align_columns(queries.head(0)), dropped={_OTHER: others.height}
    )


_OTHER = "event that is no click"


def _find_queries(clicks: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Add the row of the query that each click belongs to: the first with its id and user.

    A click without a user is rejected. The query_id alone must not decide whose click it is,
    because queries of other users can have the same id.
    """
    valid = queries.filter(pl.col("fault").is_null()).drop_nulls(["id", "user"])
    first = valid.unique(["id", "user"], keep="first", maintain_order=True)
    joined = clicks.join(
        first.select("id", "user", "row"), on=["id", "user"], how="left", maintain_order="left"
    )
    reason = (
        pl.when(pl.col("user").is_null())
        .then(pl.lit("click without a user"))
        .otherwise(pl.lit("click without its query"))
    )
    return joined.with_columns(fault=pl.when(pl.col("row").is_null()).then(reason))


def _split_by_file(rows: pl.DataFrame) -> Iterator[RawRows]:
    for (file,), table in rows.group_by(["file"], maintain_order=True):
        yield RawRows(str(file), align_columns(table))


UBI = Reader(
    "ubi",
    "OpenSearch UBI: ubi_queries and ubi_events, JSON lines",
    is_named(r".*ubi[_-](queries|events).*\.(jsonl|ndjson|json)"),
    _read,
    names="ubi_queries*.json, ubi_events*.json",
)
