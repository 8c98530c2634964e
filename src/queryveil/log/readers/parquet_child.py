"""The child process in which a Parquet file is decoded.

The native reader can crash its process on a damaged file, or allocate all memory of a machine. So
it runs in a process of its own, which returns rows as Arrow data and has a limit on its memory.
This file is run as a script and imports only Polars.

First a line of JSON is written: the number of rows, and the kind of each column. Then a line with
the wanted columns is read, and each slice of rows is written: its length in 8 bytes, its bytes.
"""

from __future__ import annotations

import io
import json
import sys
from datetime import datetime
from typing import BinaryIO

import polars as pl


def kind_of(kind: pl.DataType) -> str:
    """Return how values of a type are converted to text, or "no text" and the type."""
    if isinstance(kind, (pl.Datetime, pl.Date)):
        return "time"
    if kind.is_float():
        return "float"
    if kind.is_nested() or isinstance(kind, (pl.Duration, pl.Object)):
        return f"no text: {kind}"
    return "binary" if kind == pl.Binary else "text"


def as_text(column: str, kind: str) -> pl.Expr:
    """Return the values of a column as texts."""
    value = pl.col(column)
    if kind == "time":
        return _time_text(value)
    if kind == "float":
        # Integers with missing values are often stored as 142.0 and NaN.
        return value.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    return (
        value.map_batches(_decode_bytes, pl.String) if kind == "binary" else value.cast(pl.String)
    )


def _time_text(value: pl.Expr) -> pl.Expr:
    """Return times as texts; NUL, so that the row is rejected, if a time is out of all bounds.

    Polars would end the process at such a time, and the row of one user would stop the run.
    """
    moment = value.cast(pl.Datetime("us"), strict=False)
    fits = moment.is_between(datetime.min, datetime.max)
    text = pl.when(fits).then(moment).dt.strftime("%Y-%m-%d %H:%M:%S%.6f")
    return pl.when(value.is_not_null()).then(text.fill_null("\0"))


def _decode_bytes(column: pl.Series) -> pl.Series:
    return pl.Series([_text(data) for data in column], dtype=pl.String)


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return "\0"


def _limit_memory(max_bytes: int) -> None:
    try:
        import resource  # noqa: PLC0415  (Windows has none)

        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    except (ImportError, ValueError, OSError):
        pass


def decode(path: str, rows_per_slice: int, requests: BinaryIO, out: BinaryIO) -> None:
    """Write the content of a file by the protocol above."""
    scan = pl.scan_parquet(path, glob=False)
    kinds = {name: kind_of(kind) for name, kind in scan.collect_schema().items()}
    rows = int(scan.select(pl.len()).collect().item())
    out.write(json.dumps({"rows": rows, "kinds": kinds}).encode() + b"\n")
    out.flush()
    wanted = json.loads(requests.readline() or b"{}")
    texts = [as_text(theirs, kinds[theirs]).alias(ours) for ours, theirs in wanted.items()]
    for start in range(0, rows if wanted else 0, rows_per_slice):
        block = io.BytesIO()
        scan.slice(start, rows_per_slice).select(texts).collect().write_ipc(block)
        out.write(block.tell().to_bytes(8, "little"))
        out.write(block.getbuffer())
        out.flush()


def main() -> None:
    """Decode a file; the arguments are its path, the rows per slice and the memory limit."""
    path, rows, max_bytes = sys.argv[1:]
    _limit_memory(int(max_bytes))
    decode(path, int(rows), sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
