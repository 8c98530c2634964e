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

from ...errors import FormatError
from .jsonl import keys_of, parse_objects
from .raw import Head, RawRows, Reader, ReaderOptions, complete, with_faults
from .source import TextFile

__all__ = ["UBI"]

_QUERY = {"id": "query_id", "user": "client_id", "query": "user_query", "time": "timestamp"}
_OBJECT, _POSITION = "event_attributes.object.object_id", "event_attributes.position.ordinal"
_EVENT = {
    "id": "query_id",
    "user": "client_id",
    "action": "action_name",
    "rank": _POSITION,
    "url": _OBJECT,
}
_CLICKS = ("click", "click_through", "item_click", "product_click", "result_click")


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and '"query_id"' in lines[0] and lines[0].lstrip().startswith("{")


def _is_events(file: TextFile) -> bool:
    return "action_name" in keys_of(file)


def _lines(files: Sequence[TextFile], names: dict[str, str]) -> pl.DataFrame:
    """Read all lines of some files, with `file`, `line` and `fault`."""
    kinds = {**dict.fromkeys((*names, "fault", "file"), pl.String), "line": pl.Int64}
    tables = [pl.DataFrame(schema=kinds)]
    for file in files:
        for block in file.blocks():
            rows = with_faults(parse_objects(block, names), block)
            tables.append(rows.with_columns(file=pl.lit(str(file.path))).select(list(kinds)))
    return pl.concat(tables)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    events = [file for file in files if _is_events(file)]
    queries = [file for file in files if file not in events]
    if not queries:
        raise FormatError(
            "these are events without their queries",
            where=files[0].path,
            hint="name the file of queries too: ubi_queries.jsonl ubi_events.jsonl",
        )
    asked, done = _lines(queries, _QUERY).with_row_index("row"), _lines(events, _EVENT)
    is_click = pl.col("action").str.to_lowercase().is_in(_CLICKS).fill_null(False)
    clicks = _with_query(done.filter(pl.col("fault").is_null() & is_click), asked)
    found = clicks.filter(pl.col("fault").is_null()).select("row", "rank", "url")
    yield from _by_file(asked.join(found, on="row", how="left", maintain_order="left"))
    yield from _by_file(clicks.filter(pl.col("fault").is_not_null()))
    yield from _by_file(done.filter(pl.col("fault").is_not_null()))
    others = done.filter(pl.col("fault").is_null() & ~is_click)
    yield RawRows(str(queries[0].path), complete(asked.head(0)), dropped={_OTHER: others.height})


_OTHER = "event that is no click"


def _with_query(clicks: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """Find the line of the query that each click is of: the first with its id and its user.

    A click is its own user's alone. An event that names no user is of the one user who has its
    query_id, and of nobody where several have it.
    """
    good = asked.filter(pl.col("fault").is_null()).drop_nulls(["id", "user"])
    first = good.unique(["id", "user"], keep="first", maintain_order=True)
    owner = first.group_by("id").agg(
        owner=pl.when(pl.len() == 1).then(pl.col("user").first()), owners=pl.len()
    )
    named = clicks.join(owner, on="id", how="left", maintain_order="left").with_columns(
        user=pl.coalesce("user", "owner")
    )
    found = named.join(
        first.select("id", "user", "row"), on=["id", "user"], how="left", maintain_order="left"
    )
    several = pl.col("user").is_null() & (pl.col("owners") > 1)
    reason = (
        pl.when(several)
        .then(pl.lit("click of several users"))
        .otherwise(pl.lit("click without its query"))
    )
    return found.with_columns(fault=pl.when(pl.col("row").is_null()).then(reason))


def _by_file(rows: pl.DataFrame) -> Iterator[RawRows]:
    for (file,), table in rows.group_by(["file"], maintain_order=True):
        yield RawRows(str(file), complete(table))


UBI = Reader("ubi", "OpenSearch UBI: ubi_queries and ubi_events, JSON lines", _sniff, _read)
