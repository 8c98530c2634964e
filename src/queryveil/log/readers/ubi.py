"""OpenSearch User Behavior Insights: queries and events as JSON lines, joined on query_id.

A query gives user (client_id), query (user_query) and time. An event whose action is a
click gives rank (position.ordinal) and url (object_id, the document that was clicked). The
free-form fields (`query_attributes`, other `event_attributes`, `message`) are not read at
all: nobody knows what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from ...errors import FormatError
from .jsonl import keys_of, parse_objects
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import TextFile

__all__ = ["UBI"]

_QUERY = {"query_id": "id", "client_id": "user", "user_query": "query", "timestamp": "time"}
_OBJECT, _POSITION = "event_attributes.object.object_id", "event_attributes.position.ordinal"
_EVENT = {"query_id": "id", "action_name": "action", _POSITION: "rank", _OBJECT: "url"}
_CLICKS = ("click", "click_through", "item_click", "product_click", "result_click")


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and '"query_id"' in lines[0] and lines[0].lstrip().startswith("{")


def _is_events(file: TextFile) -> bool:
    return "action_name" in keys_of(file)


def _rows(file: TextFile, names: dict[str, str]) -> Iterator[pl.DataFrame]:
    for block in file.blocks():
        yield with_faults(parse_objects(block, list(names)).rename(names), block)


def _clicks(files: Sequence[TextFile]) -> tuple[pl.DataFrame, list[RawRows]]:
    """Collect the clicks, and the lines of the event files that cannot be read."""
    tables, bad = [], []
    for file in files:
        for rows in _rows(file, _EVENT):
            broken = pl.col("fault").is_not_null() | pl.col("id").is_null()
            is_click = pl.col("action").is_in(_CLICKS).fill_null(False)
            tables.append(rows.filter(~broken & is_click).select("id", "rank", "url"))
            bad.append(RawRows(str(file.path), _as_bad(rows.filter(broken))))
    empty = pl.DataFrame(schema=dict.fromkeys(("id", "rank", "url"), pl.String))
    return pl.concat([empty, *tables]), bad


def _as_bad(rows: pl.DataFrame) -> pl.DataFrame:
    nothing = [pl.lit(None, dtype=pl.String).alias(name) for name in ("user", "query", "time")]
    reason = pl.col("fault").fill_null("event without query_id")
    return rows.select(*nothing, "rank", "url", "line", reason)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    events = [file for file in files if _is_events(file)]
    queries = [file for file in files if file not in events]
    if not queries:
        raise FormatError(
            "these are events without their queries",
            where=files[0].path,
            hint="name the file of queries too: ubi_queries.jsonl ubi_events.jsonl",
        )
    clicks, bad = _clicks(events)
    yield from (rows for rows in bad if rows.table.height)
    for file in queries:
        for rows in _rows(file, _QUERY):
            joined = rows.join(clicks, on="id", how="left", maintain_order="left")
            table = joined.select("user", "query", "time", "rank", "url", "line", "fault")
            yield RawRows(str(file.path), table)


UBI = Reader("ubi", "OpenSearch UBI: ubi_queries and ubi_events, JSON lines", _sniff, _read)
