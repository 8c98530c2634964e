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
from .raw import Head, RawRows, Reader, ReaderOptions, complete, with_faults
from .source import TextFile

__all__ = ["UBI"]

_QUERY = {"id": "query_id", "user": "client_id", "query": "user_query", "time": "timestamp"}
_OBJECT, _POSITION = "event_attributes.object.object_id", "event_attributes.position.ordinal"
_EVENT = {"id": "query_id", "action": "action_name", "rank": _POSITION, "url": _OBJECT}
_CLICK = {**dict.fromkeys(("id", "rank", "url", "file"), pl.String), "line": pl.Int64}
_CLICKS = ("click", "click_through", "item_click", "product_click", "result_click")


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and '"query_id"' in lines[0] and lines[0].lstrip().startswith("{")


def _is_events(file: TextFile) -> bool:
    return "action_name" in keys_of(file)


def _rows(file: TextFile, names: dict[str, str]) -> Iterator[pl.DataFrame]:
    for block in file.blocks():
        yield with_faults(parse_objects(block, names), block)


def _clicks(files: Sequence[TextFile]) -> tuple[pl.DataFrame, list[RawRows]]:
    """Collect the clicks, and the lines of the event files that cannot be read."""
    tables, bad = [pl.DataFrame(schema=_CLICK)], []
    for file in files:
        for rows in _rows(file, _EVENT):
            broken = pl.col("fault").is_not_null() | pl.col("id").is_null()
            is_click = pl.col("action").is_in(_CLICKS).fill_null(False)
            clicks = rows.filter(~broken & is_click).with_columns(file=pl.lit(str(file.path)))
            tables.append(clicks.select(list(_CLICK)))
            bad.append(_rejected(str(file.path), rows.filter(broken), "event without query_id"))
    return pl.concat(tables), bad


def _rejected(file: str, events: pl.DataFrame, reason: str) -> RawRows:
    fault = pl.col("fault").fill_null(reason) if "fault" in events.columns else pl.lit(reason)
    return RawRows(file, complete(events.with_columns(fault=fault)))


def _without_query(clicks: pl.DataFrame, known: pl.Series) -> Iterator[RawRows]:
    orphans = clicks.filter(~pl.col("id").is_in(known.implode()))
    for (file,), rows in orphans.group_by(["file"], maintain_order=True):
        yield _rejected(str(file), rows, "click without its query")


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
    wanted, known = clicks.select("id", "rank", "url"), [pl.Series("id", [], pl.String)]
    for file in queries:
        for rows in _rows(file, _QUERY):
            known.append(rows["id"].drop_nulls())
            joined = rows.join(wanted, on="id", how="left", maintain_order="left")
            yield RawRows(str(file.path), complete(joined))
    yield from _without_query(clicks, pl.concat(known))


UBI = Reader("ubi", "OpenSearch UBI: ubi_queries and ubi_events, JSON lines", _sniff, _read)
