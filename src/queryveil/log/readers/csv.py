"""CSV and TSV files with a header, or with `--columns user=1,query=2` without one."""

from __future__ import annotations

import csv as standard_csv
from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from ...errors import FormatError
from .columns import match_columns
from .delimited import after_header, parse_cells
from .quoted import Form, quoted_rows
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import TextFile

__all__ = ["CSV", "TSV"]


_MOST_COLUMNS = 1000
_WIDE = "is this the right --format and delimiter?"


def _separator(line: str, choices: str) -> str:
    return max(choices, key=line.count)


def _sniff_tsv(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and "\t" in lines[0]


def _sniff_csv(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and any(sign in lines[0] for sign in ",;|")


def _header(file: TextFile, separator: str, quote: str | None) -> tuple[list[str], int]:
    """Read the first line that is not blank: its cells, and where it ends."""
    head = Head(file.path.name, file.head())
    if not head.lines:
        raise FormatError("the file is empty", where=file.path, hint="is this the right file?")
    if quote is None:
        return head.lines[0].split(separator), head.start
    lines = (line + "\n" for line in head.lines)
    reader = standard_csv.reader(lines, delimiter=separator, quotechar=quote)
    try:
        return next(reader), head.start + reader.line_num - 1
    except standard_csv.Error as error:
        raise FormatError(f"the header cannot be read ({error})", where=file.path) from error


def _names(cells: list[str], file: TextFile) -> list[str]:
    names = [cell.strip() or f"(column {place})" for place, cell in enumerate(cells, 1)]
    doubled = sorted(name for name, times in Counter(names).items() if times > 1)
    if doubled:
        raise FormatError(
            f"the header names {', '.join(doubled[:5])} twice",
            where=file.path,
            hint="give each column a name of its own",
        )
    return names


def _read_file(
    file: TextFile, options: ReaderOptions, separators: str, quote: str | None
) -> Iterator[RawRows]:
    first = Head(file.path.name, file.head()).first_lines[:1] or [""]
    separator = _separator(first[0], separators)
    cells, header_end = _header(file, separator, quote)
    if len(cells) > _MOST_COLUMNS:
        raise FormatError(f"the first line has {len(cells):,} columns", where=file.path, hint=_WIDE)
    if options.columns and all(c.isdecimal() for c in options.columns.values()):
        names, header_end = [str(place) for place in range(1, len(cells) + 1)], 0
    else:
        names = _names(cells, file)
    mapping = match_columns(names, options.columns, file.path)
    for rows in _rows(file, names, mapping, separator, quote):
        yield RawRows(
            str(file.path),
            after_header(rows, header_end),
            has_time="time" in mapping,
            columns=mapping,
        )


def _rows(
    file: TextFile, names: list[str], mapping: dict[str, str], separator: str, quote: str | None
) -> Iterator[pl.DataFrame]:
    if quote is not None:
        yield from quoted_rows(file, Form(names, mapping, separator, quote))
        return
    for block in file.blocks():
        yield with_faults(parse_cells(block, names, mapping, separator), block)


def _quote(options: ReaderOptions, usual: str | None) -> str | None:
    if options.quote is None:
        return usual
    return None if options.quote == "none" else options.quote


def _read_csv(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from _read_file(file, options, ",;|", _quote(options, '"'))


def _read_tsv(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    # People search for "exact phrases": in a TSV file a quotation mark is a mark, not a quote.
    for file in files:
        yield from _read_file(file, options, "\t", _quote(options, None))


CSV = Reader(
    "csv", "CSV with a header (comma, semicolon or bar)", _sniff_csv, _read_csv, takes_columns=True
)
TSV = Reader("tsv", "TSV with a header", _sniff_tsv, _read_tsv, takes_columns=True)
