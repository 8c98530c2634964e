"""Logs with one file per user: the name of a file is the name of its user.

A file that cannot be read costs only its own user: it counts as one rejected row. If it stopped the
run, one user could decide whether a private release is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from ..errors import QueryveilError
from .readers.base import RawRows, Reader, ReaderOptions, align_columns
from .readers.columns import FILE_NAME
from .readers.registry import strip_compressed_suffix
from .readers.source import TextFile

_BATCH = 100_000  # rows that are cleaned together: each block has a fixed cost
_MAX_FILES = 1_000
_OWN_NAME = {"user": FILE_NAME}


def user_of(path: Path) -> str:
    """Return the user whose log a file is: its name without the endings.

    >>> user_of(Path("logs/ann.smith.csv.gz"))
    'ann.smith'
    """
    return Path(strip_compressed_suffix(path.name)).stem


@dataclass(frozen=True)
class UserFiles:
    """Files of one user each.

    Attributes:
        choose: Returns the reader of a file, or raises an error.
        formats: Receives the name of the format of each file.
    """

    files: Sequence[TextFile]
    choose: Callable[[TextFile], Reader]
    formats: dict[str, str] = field(default_factory=dict)

    def read(self, options: ReaderOptions) -> Iterator[RawRows]:
        """Yield the rows of all files, many small files in one block."""
        batch: list[RawRows] = []
        for file in self.files:
            for raw in self._read_file(file, options):
                if batch and (_is_full(batch) or _kind(batch[0]) != _kind(raw)):
                    yield _merge(batch)
                    batch = []
                batch.append(raw)
        if batch:
            yield _merge(batch)

    def _read_file(self, file: TextFile, options: ReaderOptions) -> list[RawRows]:
        name, user = str(file.path), pl.lit(user_of(file.path)).alias("user")
        try:
            reader = self.choose(file)
            self.formats[name] = reader.name
            # Not row by row: of a file that turns out to be damaged, nothing is used.
            blocks = list(reader.read([file], options)) if reader.read else []
        except QueryveilError as error:
            return [_unreadable(name, error)]
        return [
            replace(raw, table=raw.table.with_columns(user), columns=_OWN_NAME | raw.columns)
            for raw in blocks
        ]


def _unreadable(file: str, error: QueryveilError) -> RawRows:
    row = pl.DataFrame({"line": [1], "fault": [error.what]})
    return RawRows(file, align_columns(row), needs_time=False)


def _is_full(batch: Sequence[RawRows]) -> bool:
    return len(batch) >= _MAX_FILES or sum(raw.table.height for raw in batch) >= _BATCH


def _kind(raw: RawRows) -> tuple[object, ...]:
    """Return what rows of one block must have in common."""
    return raw.time_format, raw.has_time, raw.needs_time, raw.zero_rank, raw.columns


def _merge(batch: Sequence[RawRows]) -> RawRows:
    tables = [raw.table.with_columns(file=pl.lit(raw.file)) for raw in batch]
    dropped: dict[str, int] = {}
    for raw in batch:
        for reason, number in raw.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + number
    files = tuple(raw.file for raw in batch)
    return replace(batch[0], table=pl.concat(tables), dropped=dropped, files=files)
