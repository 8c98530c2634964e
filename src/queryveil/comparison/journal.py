"""What a comparison has found so far, so that one that was interrupted, or grows, goes on.

A line a row and run, appended as soon as it is known. A row is known by all that it depends on:
the log, the method and the measure with their files, the turn, the seed and the version. It
is an exact figure of private data, so the file is its owner's alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .._version import __version__
from ..core.bounded import parse_json, read_within
from ..core.parameters import Parametrized
from ..engine.operations import unique_users
from ..errors import OutputError
from ..log.query_log import QueryLog
from ..measures.base import Measure
from .grid import MethodRun
from .runner import ComparisonRow

FILE = "runs.jsonl"
_MOST_BYTES, _MOST_LINE = 256 << 20, 1 << 20  # a row has some hundred bytes


def open_journal(folder: Path, *, fresh: bool = False) -> Journal:
    """Give the journal of a comparison that shall stand in a folder, or does already."""
    whole = folder.absolute()
    path = whole.with_name(f".{whole.name}.{FILE}")
    if fresh:
        path.unlink(missing_ok=True)
    return Journal(path, () if fresh else (whole / FILE,))


class Journal:
    """The rows that are known; new ones are written to `path` at once, if there is one.

    >>> journal = Journal()
    >>> journal.known("a") is None
    True
    """

    def __init__(self, path: Path | None = None, more: Iterable[Path] = ()) -> None:
        self.path = path
        self._rows: dict[str, ComparisonRow] = {}
        for file in (*more, *((path,) if path else ())):
            self._rows |= _read(file)

    def known(self, key: str) -> ComparisonRow | None:
        """Give what was found under that key."""
        return self._rows.get(key)

    def add(self, rows: Mapping[str, ComparisonRow]) -> None:
        """Keep rows; an error may be gone the next time, so it is not kept."""
        good = {key: row for key, row in rows.items() if row["error"] is None}
        self._rows |= good
        if self.path is not None:
            _append(self.path, _lines(good))

    def text(self) -> str:
        """Give all rows, a line each."""
        return _lines(self._rows)

    def close(self) -> None:
        """Remove the file: what it held stands elsewhere now."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def row_key(
    log: str,
    run: MethodRun,
    line: str,
    measure: Measure,
    turn: int,
    seed: int | None,
    identifiers: str,
) -> str:
    """Name a row by all that it depends on; `log` is what `log_key` gave."""
    files = [
        _digest(path) for path in (*_named(run.method), *run.method.input_files(), *_named(measure))
    ]
    parts = [__version__, log, str(run.method), line, turn, seed, identifiers, files]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def log_cache_key(log: QueryLog) -> str:
    """Name a log by its files, how they were read, and who is left; else there is no name."""
    if not log.sources or (log.sampled and not log.seeded):
        return ""  # a sample drawn anew is another log each time
    users = hashlib.sha256("\n".join(unique_users(log.local_frame)).encode()).hexdigest()
    parts = [
        sorted(source.sha256 for source in log.sources),
        log.options_fingerprint,
        log.accounting.kept,
        users,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _named(declared: Parametrized) -> list[Path]:
    """Give the files that parameters name."""
    texts = [value for value in declared.params().values() if isinstance(value, str) and value]
    return [path for path in map(Path, texts) if path.is_file()]


def _digest(path: Path) -> str:
    """Tell a file from another one under its name, without reading it for every cell."""
    if not path.is_file():
        return ""
    about = path.stat()
    return f"{path.absolute()} {about.st_size} {about.st_mtime_ns}"


def _lines(rows: Mapping[str, ComparisonRow]) -> str:
    return "".join(json.dumps({"key": key, **row}) + "\n" for key, row in rows.items())


def _read(path: Path) -> dict[str, ComparisonRow]:
    """Read what is whole; the last line of a run that was killed may not be."""
    try:
        text = read_within(path, _MOST_BYTES, plain=True).decode("utf-8")
    except (OSError, ValueError):
        return {}
    found = [_row(line) for line in text.splitlines() if len(line) <= _MOST_LINE]
    return {str(row.pop("key")): row for row in found if row is not None}


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = parse_json(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and {"key", "value", "error", "told"} <= set(row) else None


def _append(path: Path, line: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror})", where=path) from error
