"""CSV and TSV files with a header, or with `--columns user=1,query=2` without one."""

from __future__ import annotations

import csv as standard_csv
from collections.abc import Iterator, Sequence

from ...errors import FormatError
from .columns import match_columns
from .delimited import parse_cells, quoted_blocks, to_raw, without_header
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import TextFile

__all__ = ["CSV", "TSV"]


def _separator(line: str, choices: str) -> str:
    return max(choices, key=line.count)


def _sniff_tsv(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and "\t" in lines[0]


def _sniff_csv(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and any(sign in lines[0] for sign in ",;|")


def _header(file: TextFile, separator: str, quote: str | None) -> list[str]:
    lines = Head(file.path.name, file.head()).first_lines
    if not lines:
        raise FormatError("the file is empty", where=file.path)
    if quote is None:
        cells = lines[0].split(separator)
    else:
        cells = next(standard_csv.reader(lines[:1], delimiter=separator, quotechar=quote))
    doubled = {name for name in cells if cells.count(name) > 1}
    if doubled:
        raise FormatError(f"the header names {', '.join(sorted(doubled))} twice", where=file.path)
    return cells


def _read_file(
    file: TextFile, options: ReaderOptions, separators: str, quote: str | None
) -> Iterator[RawRows]:
    first = Head(file.path.name, file.head()).first_lines[:1] or [""]
    separator = _separator(first[0], separators)
    header = _header(file, separator, quote)
    by_number = bool(options.columns) and all(c.isdigit() for c in options.columns.values())
    names = [str(n) for n in range(1, len(header) + 1)] if by_number else header
    mapping = match_columns(names, options.columns, file.path)
    for block in quoted_blocks(file) if quote else file.blocks():
        cells = parse_cells(block, names, separator, quote)
        if block.first_line == 1 and not by_number:
            cells = without_header(cells)
        rows = with_faults(to_raw(cells, mapping), block)
        yield RawRows(str(file.path), rows, has_time="time" in mapping)


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


CSV = Reader("csv", "CSV with a header (comma, semicolon or bar)", _sniff_csv, _read_csv)
TSV = Reader("tsv", "TSV with a header", _sniff_tsv, _read_tsv)
