"""The journal of a comparison: its rows so far, so that it can be resumed or extended.

The file has one line per row, appended as soon as the row is computed. The key of a row has all
that the row depends on: the log and how it is screened, the method and the measure with their
files, the turn, the seed and the version. Rows are exact figures of private data, so only the data
owner can read the file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .._version import __version__
from ..core.bounded import parse_json, read_within
from ..core.parameters import Parametrized
from ..core.records import Record, json_field
from ..engine.operations import unique_users
from ..errors import InputError, OutputError, VerificationError
from ..log.detectors import describe_uses
from ..log.query_log import QueryLog
from ..measures.base import Measure
from ..workflows.screened_runs import Screening
from .grid import MethodRun
from .result import ComparisonRow

FILE = "runs.jsonl"
_MAX_BYTES, _MAX_LINE = 256 << 20, 1 << 20  # a row has a few hundred bytes


def open_journal(folder: Path, *, resume: bool = True) -> Journal:
    """Open the journal of a comparison that is, or will be, written to a folder."""
    whole = folder.absolute()
    path = whole.with_name(f".{whole.name}.{FILE}")
    if not resume:
        path.unlink(missing_ok=True)
    return Journal(path, (whole / FILE,) if resume else ())


@dataclass(frozen=True, repr=False)
class JournalEntry(Record):
    """A line of the journal: a row, and the key of all that it depends on."""

    schema_number = 2  # 2: measures and their parameters got other names

    key: str
    row: ComparisonRow = json_field(flat=True)


class Journal:
    """The known rows; new rows are appended to `path` at once, if there is one.

    >>> journal = Journal()
    >>> journal.known("a") is None
    True
    """

    def __init__(self, path: Path | None = None, more: Iterable[Path] = ()) -> None:
        self.path = path
        self._rows: dict[str, ComparisonRow] = {}
        for file in (*more, *((path,) if path else ())):
            self._rows |= _read_rows(file)

    def known(self, key: str) -> ComparisonRow | None:
        """Return the row of a key, or None."""
        return self._rows.get(key)

    def add(self, rows: Mapping[str, ComparisonRow]) -> None:
        """Add rows; failed rows are not kept, since the next run may succeed."""
        good = {key: row for key, row in rows.items() if row.error is None}
        self._rows |= good
        if self.path is not None:
            _append(self.path, _format_lines(good))

    def text(self) -> str:
        """Return all rows, one line each."""
        return _format_lines(self._rows)

    def close(self) -> None:
        """Remove the file, after its rows have been written elsewhere."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def row_key(
    log: str,
    run: MethodRun,
    line: str,
    measure: Measure,
    turn: int,
    seed: int | None,
    screening: Screening,
) -> str:
    """Return the key of a row from all that it depends on; `log` is its `log_cache_key`."""
    files = [
        _file_stamp(path)
        for path in (
            *_parameter_files(run.method),
            *run.method.input_files(),
            *_parameter_files(measure),
        )
    ]
    screened = [screening.identifiers, screening.sensitive]
    screened += [str(use.to_dict()) for use in describe_uses(screening.detectors)]
    parts = [__version__, log, str(run.method), line, str(measure), turn, seed, screened, files]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def log_cache_key(log: QueryLog) -> str:
    """Return the key of a log by its files, reading options and users, or an empty text."""
    if not log.sources or (log.sampled and not log.seeded):
        return ""  # an unseeded sample differs each time
    users = hashlib.sha256("\n".join(unique_users(log.local_frame)).encode()).hexdigest()
    parts = [
        sorted(source.sha256 for source in log.sources),
        log.options_fingerprint,
        log.accounting.kept,
        users,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _parameter_files(declared: Parametrized) -> list[Path]:
    """Return the files that parameters refer to."""
    texts = [value for value in declared.params().values() if isinstance(value, str) and value]
    return [path for path in map(Path, texts) if path.is_file()]


def _file_stamp(path: Path) -> str:
    """Return path, size and time of a file, which detect a change without reading the file."""
    if not path.is_file():
        return ""
    about = path.stat()
    return f"{path.absolute()} {about.st_size} {about.st_mtime_ns}"


def _format_lines(rows: Mapping[str, ComparisonRow]) -> str:
    return "".join(JournalEntry(key, row).to_json(indent=None) + "\n" for key, row in rows.items())


def _read_rows(path: Path) -> dict[str, ComparisonRow]:
    """Read the complete lines; the last line of a killed run may be incomplete."""
    try:
        text = read_within(path, _MAX_BYTES, plain=True).decode("utf-8")
    except (OSError, ValueError):
        return {}
    entries = [_parse_entry(line, path) for line in text.splitlines() if len(line) <= _MAX_LINE]
    return {entry.key: entry.row for entry in entries if entry is not None}


def _parse_entry(line: str, path: Path) -> JournalEntry | None:
    """Parse a line, or return None for a damaged one; raise for one of another version."""
    try:
        document = parse_json(line)
    except ValueError:
        return None
    if isinstance(document, dict) and document.get("schema") != JournalEntry.schema_number:
        raise InputError(
            "another version of queryveil wrote this journal of a comparison",
            where=path,
            hint="`resume=False` runs everything again, or remove the file",
        )
    try:
        return JournalEntry.from_dict(document)
    except VerificationError:
        return None


def _append(path: Path, line: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror})", where=path) from error
