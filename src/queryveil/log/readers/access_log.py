"""Access logs of nginx and Apache (common or combined): the query is a parameter of the URL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_to_bytes

import polars as pl

from .base import RawRows, Reader, ReaderOptions, align_columns, attach_faults
from .source import LineBlock, TextFile

_LINE = r'^(?P<user>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)"'
_NOT_A_PERSON = (
    "the user is an IP address: one address can be many people, and one person can have many; "
    "what is promised for a user is promised for an address"
)


def _table(block: LineBlock, parameter: str) -> pl.DataFrame:
    lines = pl.Series("raw", block.data.decode().removesuffix("\n").split("\n"), dtype=pl.String)
    numbers = pl.int_range(block.first_line, block.first_line + len(lines), eager=True)
    fields = pl.col("raw").str.extract_groups(_LINE).struct.unnest()
    value = rf"[?&]{re.escape(parameter)}=([^&\s]*)"
    rows = lines.to_frame().select(fields, "raw").with_columns(numbers.alias("line"))
    rows = rows.with_columns(pl.col("request").str.extract(value).alias("coded"))
    unread = pl.col("user").is_null() & (pl.col("raw").str.strip_chars() != "")
    rows = rows.join(_decoded(rows["coded"]), on="coded", how="left", maintain_order="left")
    no_line = pl.when(unread).then(pl.lit("not a line of an access log"))
    return align_columns(rows.with_columns(fault=pl.coalesce(no_line, "fault")))


def _decoded(coded: pl.Series) -> pl.DataFrame:
    """Decode each distinct value once."""
    texts = coded.drop_nulls().unique()
    found = [_decode(text) for text in texts]
    kinds = {"query": pl.String, "fault": pl.String}
    return pl.DataFrame(found, schema=kinds, orient="row").with_columns(texts.alias("coded"))


def _decode(coded: str) -> tuple[str | None, str | None]:
    """Undo what the server did to the request (\\x22, \\") and the browser to the query (%22).

    >>> _decode(r"caf%C3%A9+\\x22noir\\x22")
    ('café "noir"', None)
    """
    plain = _ESCAPED.sub(lambda found: f"%{found[1]}" if found[1] else found[2], coded)
    try:
        text = unquote_to_bytes(plain.replace("+", " ")).decode()
    except UnicodeDecodeError:
        return None, "query is not UTF-8"
    return (None, "NUL byte") if "\0" in text else (text, None)


_ESCAPED = re.compile(r"""\\(?:x([0-9A-Fa-f]{2})|(["\\]))""")


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        for block in file.blocks():
            rows = attach_faults(_table(block, options.query_parameter), block)
            yield RawRows(str(file.path), rows, "%d/%b/%Y:%H:%M:%S %z")


# Rotated logs are numbered or dated: access.log.1, access.log-20060301.
ACCESS = Reader(
    "access",
    "nginx or Apache access log (--query-parameter)",
    r".*\.log([.-][0-9-]+)?|.*access[_-]log([.-][0-9-]+)?",
    _read,
    _NOT_A_PERSON,
)
