"""Access logs of nginx and Apache (common or combined): the query is a parameter of the URL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_plus

import polars as pl

from .raw import RAW_COLUMNS, Head, RawRows, Reader, ReaderOptions, with_faults
from .source import Block, TextFile

__all__ = ["ACCESS"]

_LINE = r'^(?P<user>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<request>[^"]*)"'
_NOT_A_PERSON = (
    "the user is an IP address: one address can be many people, and one person can have many; "
    "what is promised for a user is promised for an address"
)


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and re.match(_LINE, lines[0]) is not None


def _table(block: Block, parameter: str) -> pl.DataFrame:
    lines = pl.Series("raw", block.data.decode().removesuffix("\n").split("\n"), dtype=pl.String)
    numbers = pl.int_range(block.first_line, block.first_line + len(lines), eager=True)
    fields = pl.col("raw").str.extract_groups(_LINE).struct.unnest()
    value = rf"[?&]{re.escape(parameter)}=([^&\s]*)"
    rows = lines.to_frame().select(fields, "raw").with_columns(numbers.alias("line"))
    rows = rows.with_columns(pl.col("request").str.extract(value).alias("coded"))
    unread = pl.col("user").is_null() & (pl.col("raw") != "")
    rows = rows.with_columns(fault=pl.when(unread).then(pl.lit("not a line of an access log")))
    nothing = [pl.lit(None, dtype=pl.String).alias(name) for name in ("rank", "url")]
    return rows.join(_decoded(rows["coded"]), on="coded", how="left", maintain_order="left").select(
        *(c for c in RAW_COLUMNS if c not in ("rank", "url")), *nothing, "line", "fault"
    )


def _decoded(coded: pl.Series) -> pl.DataFrame:
    """Decode each distinct value once."""
    texts = coded.drop_nulls().unique()
    query = pl.Series([unquote_plus(text) for text in texts], dtype=pl.String)
    return pl.DataFrame({"coded": texts, "query": query})


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        for block in file.blocks():
            rows = with_faults(_table(block, options.query_parameter), block)
            yield RawRows(str(file.path), rows, "%d/%b/%Y:%H:%M:%S %z")


ACCESS = Reader(
    "access", "nginx or Apache access log (--query-parameter)", _sniff, _read, _NOT_A_PERSON
)
