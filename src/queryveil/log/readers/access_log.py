"""Access logs of nginx and Apache (common or combined): the query is a parameter of the URL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_to_bytes

import polars as pl

from .base import RawRows, Reader, ReaderOptions, align_columns, attach_faults, is_named
from .source import LineBlock, TextFile

_LINE = r'^(?P<user>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)"'
_IP_WARNING = (
    "the user is an IP address: several users can have one address, and one user can have several; "
    "the guarantee for a user is a guarantee for an address"
)


def _parse_block(block: LineBlock, parameter: str) -> pl.DataFrame:
    lines = pl.Series("raw", block.data.decode().removesuffix("\n").split("\n"), dtype=pl.String)
    numbers = pl.int_range(block.first_line, block.first_line + len(lines), eager=True)
    fields = pl.col("raw").str.extract_groups(_LINE).struct.unnest()
    value = rf"[?&]{re.escape(parameter)}=([^&\s]*)"
    rows = lines.to_frame().select(fields, "raw").with_columns(numbers.alias("line"))
    rows = rows.with_columns(pl.col("request").str.extract(value).alias("coded"))
    is_unread = pl.col("user").is_null() & (pl.col("raw").str.strip_chars() != "")
    rows = rows.join(_decode_distinct(rows["coded"]), on="coded", how="left", maintain_order="left")
    no_line = pl.when(is_unread).then(pl.lit("not a line of an access log"))
    return align_columns(rows.with_columns(fault=pl.coalesce(no_line, "fault")))


def _decode_distinct(coded: pl.Series) -> pl.DataFrame:
    """Decode each distinct value once."""
    texts = coded.drop_nulls().unique()
    rows = [_decode(text) for text in texts]
    schema = {"query": pl.String, "fault": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(texts.alias("coded"))


def _decode(coded: str) -> tuple[str | None, str | None]:
    r"""Undo the escapes of the server (\x22, \") and the encoding of the browser (%22).

    >>> _decode(r"caf%C3%A9+\x22noir\x22")
    ('café "noir"', None)
    """
    plain = _ESCAPED.sub(lambda match: f"%{match[1]}" if match[1] else match[2], coded)
    try:
        text = unquote_to_bytes(plain.replace("+", " ")).decode()
    except UnicodeDecodeError:
        return None, "query is not UTF-8"
    return (None, "NUL byte") if "\0" in text else (text, None)


_ESCAPED = re.compile(r"""\\(?:x([0-9A-Fa-f]{2})|(["\\]))""")


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        for block in file.blocks():
            rows = attach_faults(_parse_block(block, options.query_parameter), block)
            yield RawRows(str(file.path), rows, "%d/%b/%Y:%H:%M:%S %z")


# Rotated logs are numbered or dated: access.log.1, access.log-20060301.
ACCESS = Reader(
    "access",
    "nginx or Apache access log (--query-parameter)",
    is_named(r".*\.log([.-][0-9-]+)?|.*access[_-]log([.-][0-9-]+)?"),
    _read,
    warning=_IP_WARNING,
    names=".log, access_log",
)
