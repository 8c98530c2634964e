"""CSV and TSV files with a header, or with `columns="user=1,query=2"` without one."""

from __future__ import annotations

import csv as standard_csv
import re
from collections.abc import Iterator, Sequence

import polars as pl

from ...errors import FormatError
from .base import (
    FileHead,
    RawRows,
    Reader,
    ReaderOptions,
    attach_faults,
    is_named,
    spark_opener,
)
from .columns import column_numbers, match_columns
from .delimited import DelimitedFormat, parse_cells, read_quoted, skip_header
from .source import TextFile

_MAX_COLUMNS = 1000
_SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?', re.IGNORECASE)
_FORMAT_HINT = "is this the right `format` and `delimiter`?"


def _read_head(file: TextFile) -> tuple[FileHead, str | None]:
    """Return the beginning of a file, and the delimiter if its first line names it for Excel."""
    head = FileHead(file.head())
    named = _SEPARATOR_LINE.fullmatch(head.first.strip())
    if named is None:
        return head, None
    # The line is emptied and not removed, so that the numbers of the others stay.
    return FileHead(head.data.replace(head.first.encode(), b"", 1)), named[1]


def _read_header(
    head: FileHead, file: TextFile, separator: str, quote: str | None
) -> tuple[list[str], int]:
    """Return the cells of the first line that is not blank, and the number of its last line."""
    if quote is None:
        return head.first.split(separator), head.first_line_number
    lines = (line + "\n" for line in head.lines)
    reader = standard_csv.reader(lines, delimiter=separator, quotechar=quote)
    try:
        return next(reader), head.first_line_number + reader.line_num - 1
    except standard_csv.Error as error:
        raise FormatError(
            "the header cannot be read", where=file.path, hint=_FORMAT_HINT
        ) from error


def _check_header(first: str, file: TextFile) -> None:
    if not first:
        raise FormatError("the file is empty", where=file.path, hint="is this the right file?")
    if "\0" in first:
        raise FormatError(
            "this is a binary file or UTF-16 without a byte-order mark, not a log",
            where=file.path,
            hint='if it is UTF-16: `encoding="utf-16-le"`',
        )


def name_columns(cells: list[str], file: TextFile) -> list[str]:
    """Return the names in a header; raise an error if two are equal."""
    names = [cell.strip() or f"(column {number})" for number, cell in enumerate(cells, 1)]
    duplicates = [number for number, name in enumerate(names, 1) if names.index(name) < number - 1]
    if duplicates:
        raise FormatError(
            f"column {duplicates[0]:,} of the first line has the name of another",
            where=file.path,
            hint='give each column a name of its own; without a header, `columns="user=1,query=2"`',
        )
    return names


def _detect_format(
    file: TextFile, options: ReaderOptions, separators: str, quote: str | None
) -> DelimitedFormat:
    """Return the format of a file: by its header, or by the options if it has none."""
    if options.numbered:
        file.marked = False
        numbers = column_numbers(options.columns)
        columns = match_columns(numbers, options.columns, file.path)
        return DelimitedFormat(
            numbers, columns, options.delimiter or separators[0], quote, more=True
        )
    file.lone_cr = True
    head, named = _read_head(file)
    _check_header(head.first, file)
    separator = options.delimiter or named or max(separators, key=head.first.count)
    cells, end = _read_header(head, file, separator, quote)
    if len(cells) > _MAX_COLUMNS:
        raise FormatError(
            f"the first line has {len(cells):,} columns", where=file.path, hint=_FORMAT_HINT
        )
    names = name_columns(cells, file)
    other = None if separator == separators[0] else separator  # to name, if there is no header
    columns = match_columns(names, options.columns, file.path, delimiter=other)
    return DelimitedFormat(names, columns, separator, quote, end)


def _read_file(
    file: TextFile, options: ReaderOptions, separators: str, quote: str | None
) -> Iterator[RawRows]:
    form = _detect_format(file, options, separators, quote)
    for rows in _iter_rows(file, form):
        yield RawRows(
            str(file.path),
            skip_header(rows, form.header_end),
            has_time="time" in form.names,
            columns=form.names,
        )


def _iter_rows(file: TextFile, form: DelimitedFormat) -> Iterator[pl.DataFrame]:
    if form.quote is not None:
        yield from read_quoted(file, form)
        return
    for block in file.blocks():
        rows = parse_cells(block, form.header, form.names, form.separator, more=form.more)
        yield attach_faults(rows, block)


def _get_quote(options: ReaderOptions, default: str | None) -> str | None:
    if options.quote is None:
        return default
    return None if options.quote == "none" else options.quote


def _read_csv(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from _read_file(file, options, ",;|", _get_quote(options, '"'))


def _read_tsv(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    # Users search for "exact phrases": in TSV a quotation mark is an ordinary character.
    for file in files:
        yield from _read_file(file, options, "\t", _get_quote(options, None))


CSV = Reader(
    "csv",
    "CSV with a header (comma, semicolon or bar)",
    is_named(r".*\.csv"),
    _read_csv,
    spark_opener("open_csv"),
    accepts_columns=True,
    names=".csv",
)
TSV = Reader(
    "tsv",
    "TSV with a header",
    is_named(r".*\.(tsv|tab)"),
    _read_tsv,
    spark_opener("open_lines"),
    accepts_columns=True,
    names=".tsv, .tab",
)
