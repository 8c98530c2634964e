"""The child process in which an Excel file is decoded.

A hostile file can take all memory of a process, so this one has a limit. Each cell is converted to
text on its own: the type of a column is not inferred from its rows.

First a line of JSON is written: the names of all sheets, whether the wanted one exists, and its
width. Then the cells follow as Arrow data: the columns "0", "1" and so on, all of them texts.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from typing import BinaryIO

import polars as pl


def to_texts(cells: pl.DataFrame, places: Sequence[int]) -> pl.DataFrame:
    """Return the cells as texts in columns "0", "1" and so on; a time of day without a date.

    Excel counts days from 1899-12-31, and a time of day is the fraction of a day. The decoder skips
    columns on the left that are blank in all rows. They are restored, since otherwise one cell of
    one row would shift the columns of all others.

    Args:
        places: The place of each column in the sheet, from 0.
    """
    cells.columns = [str(place) for place in places]
    texts = pl.all().cast(pl.String).str.replace(r"^1899-12-3[01] ", "")
    filled = cells.select(texts).select(pl.when(pl.all() != "").then(pl.all()))
    blank = [str(place) for place in range(max(places, default=-1)) if place not in places]
    every = filled.with_columns(pl.lit(None, pl.String).alias(name) for name in blank)
    return every.select(str(place) for place in range(every.width))


def decode(path: str, sheet: str, out: BinaryIO) -> None:
    """Write a sheet, by default the first, by the protocol above."""
    import fastexcel  # noqa: PLC0415  (an extra; the registry imports this module in any case)

    book = fastexcel.read_excel(path)
    names = list(book.sheet_names)
    wanted = sheet or (names[0] if names else "")
    if wanted not in names:
        out.write(json.dumps({"sheets": names, "width": None}).encode() + b"\n")
        return
    loaded = book.load_sheet(wanted, header_row=None, skip_rows=0, dtypes="string")
    places = [column.absolute_index for column in loaded.selected_columns]
    table = to_texts(pl.DataFrame(loaded), places)
    out.write(json.dumps({"sheets": names, "width": table.width}).encode() + b"\n")
    block = io.BytesIO()
    table.write_ipc(block)
    out.write(block.getbuffer())
    out.flush()


def _limit_memory(max_bytes: int) -> None:
    try:
        import resource  # noqa: PLC0415  (Windows has none)

        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    except (ImportError, ValueError, OSError):
        pass


def main() -> None:
    """Decode a file; the arguments are its path, the name of the sheet and the memory limit."""
    path, sheet, max_bytes = sys.argv[1:]
    _limit_memory(int(max_bytes))
    decode(path, sheet, sys.stdout.buffer)


if __name__ == "__main__":
    main()
