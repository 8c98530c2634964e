"""Excel files (.xlsx). The number of a row of the sheet serves as the number of a line.

A child process decodes them (see `excel_child`), since a hostile file can take all memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ...core.extras import import_extra
from ...errors import FormatError, InputError, UsageError, did_you_mean
from .base import RawRows, Reader, ReaderOptions, is_named
from .columns import column_numbers, match_columns
from .csv import name_columns
from .delimited import name_cells
from .parquet import hash_file
from .source import TextFile

_MAX_MEMORY = 4 << 30  # of the child: a sheet has at most 1,048,576 rows
_SCRIPT = Path(__file__).with_name("excel_child.py")
_NUL = pl.any_horizontal(pl.all().str.contains("\0", literal=True))


def _damaged_error(path: Path) -> FormatError:
    return FormatError(
        "this is not an Excel file (.xlsx), or it is damaged, or its cells take too much memory",
        where=path,
        hint="save it again as .xlsx, or as CSV UTF-8; nothing of it was used",
    )


def _check_archive(file: TextFile) -> None:
    """Raise an error unless the file is an archive that expands within the limit."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            file.check_expansion(sum(entry.file_size for entry in archive.infolist()))
        file.sha256 = hash_file(file)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=file.path) from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _damaged_error(file.path) from error


def _decode(path: Path, sheet: str | None) -> pl.DataFrame:
    """Return the cells of a sheet as texts, in columns "0", "1" and so on."""
    arguments = [str(path.absolute()), sheet or "", str(_MAX_MEMORY)]
    child = subprocess.run(  # noqa: S603  (our own script)
        [sys.executable, "-P", str(_SCRIPT), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    head, _, cells = child.stdout.partition(b"\n")
    try:
        description = json.loads(head)
        if description["width"] is None and sheet is not None:
            names = description["sheets"]
            raise UsageError(
                f'there is no sheet "{sheet}"', where=path, hint=did_you_mean(sheet, names)
            )
        if child.returncode or description["width"] is None:
            raise _damaged_error(path)
        return pl.read_ipc(cells)
    except (ValueError, KeyError, TypeError, OSError, pl.exceptions.PolarsError) as error:
        raise _damaged_error(path) from error


def _read_file(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    _check_archive(file)
    numbers = column_numbers(options.columns)
    cells = _decode(file.path, options.sheet)
    fault = pl.when(_NUL).then(pl.lit("NUL byte"))
    rows = cells.with_columns(fault=fault).with_row_index("line", 1)
    rows = rows.with_columns(pl.col("line").cast(pl.Int64))
    if numbers:
        header = numbers
        missing = [pl.lit(None, pl.String).alias(str(at)) for at in range(len(numbers))]
        rows = rows.with_columns(
            column for column in missing if column.meta.output_name() not in rows
        )
    else:
        header, end = _read_header(cells, file)
        rows = rows.filter(pl.col("line") > end)
    columns = match_columns(header, options.columns, file.path)
    table = name_cells(rows, header, columns)
    yield RawRows(str(file.path), table, has_time="time" in columns, columns=columns)


def _read_header(cells: pl.DataFrame, file: TextFile) -> tuple[list[str], int]:
    """Return the cells of the first row that is not blank, up to its last one, and its number.

    Cells of other rows further to the right do not make the header wider.
    """
    is_blank = cells.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not cells.width or is_blank.all():
        raise FormatError("the sheet is empty", where=file.path, hint="name another with `sheet`")
    at = is_blank.arg_min() or 0
    names = [cell or "" for cell in cells.row(at)]
    while names and not names[-1].strip():
        names.pop()
    return name_columns(names, file), at + 1


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    import_extra("fastexcel", "reading Excel files", of="excel")
    for file in files:
        yield from _read_file(file, options)


EXCEL = Reader(
    "excel",
    "Excel (.xlsx), the first sheet or --sheet",
    is_named(r".*\.xls[xm]"),
    _read,
    accepts_columns=True,
    names=".xlsx, .xlsm",
    is_archive=True,
)
