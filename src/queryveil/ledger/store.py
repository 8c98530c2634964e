"""An append-only file of events, each chained to the one before by its hash.

The file is an SQLite database. Its journal is a rollback journal, truncated after each change
(TRUNCATE) and removed when the ledger is closed. WAL would be faster, but it keeps the newest rows
in a second file, which a copy of `ledger.db` alone would lose, and it needs shared memory, which
network file systems do not have. `synchronous` is EXTRA: a change is complete when journal, file
and the truncation of the journal are on the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from ..core.records import Json
from ..errors import FormatError, InputError, OutputError, QueryveilError, VerificationError

KEEP = "keep the file and bring back a copy from before; a new ledger would forget what was spent"


class ChainHead(NamedTuple):
    """The last row: its number and its hash."""

    number: int
    hash: str


START = ChainHead(0, "0" * 64)


def canonical_json(event: Json) -> str:
    """Return the canonical JSON of an event, of which the hash is computed."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), allow_nan=False)


def chain_hash(before: ChainHead, text: str) -> str:
    """Return the hash of a row, given the row before it."""
    return sha256(f"{before.hash}\n{text}".encode()).hexdigest()


def parse_event(path: Path, number: int, text: str) -> Json:
    """Parse the event of a row."""
    try:
        event: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise chain_error(path, number, "is no JSON") from error
    if not isinstance(event, dict):
        raise chain_error(path, number, "is no event")
    return event


def chain_error(path: Path, number: int, problem: str) -> VerificationError:
    """Return the error for a row that breaks the chain."""
    return VerificationError(f"row {number} {problem}", where=path, hint=KEEP)


_APPLICATION = 0x51564C47  # "QVLG"
_FORMAT = 1
_SYNC = "EXTRA"
_WAIT = 30.0  # seconds for another process to finish its change
_TABLES = (
    "CREATE TABLE events"
    " (number INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TRIGGER never_changed BEFORE UPDATE ON events"
    " BEGIN SELECT RAISE(ABORT, 'a ledger is only added to'); END",
    "CREATE TRIGGER never_removed BEFORE DELETE ON events"
    " BEGIN SELECT RAISE(ABORT, 'a ledger is only added to'); END",
)
_SMALLEST = -(2**63)


class EventStore:
    """The open file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._process = os.getpid()

    @classmethod
    def open(cls, path: Path, *, create: bool, first: Json) -> EventStore:
        """Open a file, or create it with a first event; refuse what is no ledger."""
        with _translate_errors(path):
            if not os.path.lexists(path):
                if not create:
                    raise InputError(
                        "there is no ledger", where=path, hint="the first release writes one"
                    )
                _create(path, first)
            if path.is_dir():
                raise FormatError("this is a folder, not a ledger", where=path)
            name = f"{path.resolve().as_uri()}?mode=rw"
            connection = sqlite3.connect(name, uri=True, timeout=_WAIT, isolation_level=None)
            try:
                _check_tables(path, connection)
                _make_durable(path, connection)
            except BaseException:
                connection.close()
                raise
            return cls(path, connection)

    def close(self) -> None:
        """Close the file, and leave nothing beside it."""
        if os.getpid() == self._process:
            with suppress(sqlite3.Error):  # another process may still need the journal
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    @contextmanager
    def transaction(self, kind: Literal["read", "add"]) -> Iterator[None]:
        """Read a consistent snapshot, or add rows while no other process can.

        A transaction that adds takes the write lock at its start, so that no other process can
        spend between the check of the limit and the reservation. Nothing is added if an error
        leaves the block.
        """
        if os.getpid() != self._process:
            raise OutputError(
                "this ledger was opened by another process", where=self.path, hint="open it again"
            )
        with _translate_errors(self.path):
            try:
                self._connection.execute("BEGIN IMMEDIATE" if kind == "add" else "BEGIN")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def read_after(self, head: ChainHead) -> Iterator[tuple[ChainHead, Json]]:
        """Yield the rows after a known one; raise VerificationError where the chain is broken."""
        if head.number:
            query = "SELECT hash FROM events WHERE number = ?"
            if self._connection.execute(query, (head.number,)).fetchone() != (head.hash,):
                raise chain_error(self.path, head.number, "is no longer what it was")
        query = "SELECT number, event, hash FROM events WHERE number >= ? ORDER BY number"
        start = head.number + 1 if head.number else _SMALLEST
        for number, text, stored_hash in self._connection.execute(query, (start,)):
            if number != head.number + 1:
                raise chain_error(
                    self.path, head.number + 1, f"is missing: the next one is {number}"
                )
            if not isinstance(text, str) or stored_hash != chain_hash(head, text):
                raise chain_error(
                    self.path, number, "is not chained to the one before: edited, moved or put in"
                )
            head = ChainHead(number, stored_hash)
            yield head, parse_event(self.path, number, text)
        self._check_end(head)

    def append(self, head: ChainHead, event: Json) -> None:
        """Append a row."""
        text = canonical_json(event)
        query = "INSERT INTO events (event, hash) VALUES (?, ?)"
        number = self._connection.execute(query, (text, chain_hash(head, text))).lastrowid
        if number != head.number + 1:  # the sequence was changed by hand
            raise chain_error(self.path, head.number + 1, f"would have become {number}")

    def check_pages(self) -> None:
        """Raise VerificationError if SQLite finds damage in its own structures."""
        (report,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if report != "ok":
            raise VerificationError(f"is damaged ({report})", where=self.path, hint=KEEP)

    def _check_end(self, head: ChainHead) -> None:
        """Compare the last row with the highest number that SQLite has ever assigned."""
        query = "SELECT seq FROM sqlite_sequence WHERE name = 'events'"
        sequence = self._connection.execute(query).fetchall()
        if sequence != [(head.number,)]:
            last = sequence[0][0] if sequence else "unknown"
            raise chain_error(
                self.path, head.number + 1, f"is cut off: {last} was the last number given"
            )


def _create(path: Path, first: Json) -> None:
    """Create the file atomically, without ever replacing one that another process created."""
    _check_no_journal(path)
    _make_folder(path.parent)
    handle, name = tempfile.mkstemp(".part", f".{path.name}.", path.parent)
    part = Path(name)
    try:
        _fill(part, first)
        os.fsync(handle)
        # Close before the file has its name: closing it later would release SQLite's locks on it.
        os.close(handle)
        with suppress(FileExistsError):  # another process was faster
            os.link(part, path)
    finally:
        part.unlink()
    _sync_folder(path.parent)


def _check_no_journal(path: Path) -> None:
    """Raise for a journal without its ledger: SQLite would apply its old pages to a new file."""
    journal = path.with_name(f"{path.name}-journal")
    with suppress(FileNotFoundError):
        if journal.stat().st_size and not path.exists():
            raise VerificationError(
                f"this ledger was removed, but {journal.name} is there", where=path, hint=KEEP
            )


def _fill(part: Path, first: Json) -> None:
    connection = sqlite3.connect(part, isolation_level=None)
    try:
        # No other process sees this file before it is complete and on the disk.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        for statement in _TABLES:
            connection.execute(statement)
        text = canonical_json(first)
        query = "INSERT INTO events (event, hash) VALUES (?, ?)"
        connection.execute(query, (text, chain_hash(START, text)))
        connection.execute("COMMIT")
    finally:
        connection.close()


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents so that they survive a power failure."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot sync a folder, and does not need it
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise FormatError(
            "this is no ledger", where=path, hint="move it away, or name another `ledger`"
        )
    if version > _FORMAT:
        raise FormatError(
            f"this ledger has format {version}, from a newer queryveil; this one knows {_FORMAT}",
            where=path,
            hint="update queryveil",
        )
    query = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    statements = {sql for (sql,) in connection.execute(query)}
    if version != _FORMAT or statements != set(_TABLES):
        raise VerificationError("the tables of this ledger were altered", where=path, hint=KEEP)


def _make_durable(path: Path, connection: sqlite3.Connection) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = TRUNCATE").fetchone()
    if mode != "truncate":
        raise OutputError(f"the journal of this ledger stays in mode {mode}", where=path)
    connection.execute(f"PRAGMA synchronous = {_SYNC}")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: the disk itself, not only its cache


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and of the system into errors with a hint."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a defect of queryveil, not of the file
        raise
    except sqlite3.Error as error:
        raise _translate_error(path, error) from error
    except UnicodeDecodeError as error:  # SQLite does not check the encoding of texts
        raise VerificationError("this ledger is damaged", where=path, hint=KEEP) from error
    except OSError as error:
        raise OutputError(
            f"the ledger cannot be opened or created ({error.strerror or error})",
            where=path,
            hint="`ledger=NAME` keeps it in your home folder",
        ) from error


def _translate_error(path: Path, error: sqlite3.Error) -> QueryveilError:
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_NOTADB":
        return FormatError(
            "this is no ledger", where=path, hint="move it away, or name another `ledger`"
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return OutputError(
            f"another process kept the ledger for {_WAIT:g} seconds", where=path, hint="try again"
        )
    if name == "SQLITE_READONLY_DBMOVED":
        return OutputError(
            "this ledger was moved or replaced meanwhile", where=path, hint="try again"
        )
    if name.startswith(
        ("SQLITE_READONLY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM")
    ):
        return OutputError(f"the ledger cannot be used ({error})", where=path)
    return VerificationError(f"this ledger is damaged ({error})", where=path, hint=KEEP)
