"""The ledger: the privacy budget that was spent on a population.

It is written before noise is drawn. So it may count a release that was never finished, but it
never misses one that was. Costs are added up in exact numbers: plainly, and at a Renyi order.

The chain of hashes detects rows that were edited, removed, moved or inserted by somebody who did
not recompute the chain. SQLite's own count of rows detects rows that were cut off at the end.
Neither is a signature. Not detected are: the whole file deleted or replaced by an older copy of
itself, rows cut off by somebody who also resets that count, and a recomputed chain. Whoever can
write the file can do that; `head` may be stored elsewhere and compared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ..dp.budget import check_delta, check_epsilon
from ..dp.losses import RELATIONS, Loss, Relation
from ..errors import InputError, QueryveilError, UsageError, did_you_mean
from .entries import EntryKind, LedgerEntry, charge_in, entry_of
from .events import entry_cost, require_text, reservation_event, timestamp
from .limits import COMPOSITIONS, Budget, Composition, Limit
from .state import Book, warnings_of
from .store import START, ChainHead, EventStore, chain_error
from .streams import ReleaseStream, build_stream, check_latest, find_stream


class Ledger:
    """The budget of one population, in one file.

    Use it in the process and thread that opened it. Each call sees what other processes added
    meanwhile. Rows that this object has checked are not read again until `check` or the next
    `open`: it compares the hash of the last row it knows, and reads the rows added since.
    """

    def __init__(self, file: EventStore) -> None:
        self._file = file
        self._head = START
        self._book = Book()

    @classmethod
    def open(cls, path: Path | str, *, create: bool = True) -> Self:
        """Open the ledger of a population and check its chain; create it if there is none."""
        first = {"event": "opened", "format": 1, "time": timestamp()}
        ledger = cls(EventStore.open(Path(path), create=create, first=first))
        try:
            with ledger._transaction("read"):
                pass
        except BaseException:
            ledger.close()
            raise
        return ledger

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._file.path

    # --- write -----------------------------------------------------------------------------------

    def reserve(
        self,
        *,
        kind: EntryKind,
        method: str,
        log_digest: str,
        epsilon: Fraction | None = None,
        delta: Fraction | None = None,
        recipe: str | None = None,
        notes: Sequence[str] = (),
        extra: Mapping[str, Any] | None = None,
        extends: int | None = None,
        lost: Sequence[int] = (),
        relation: Relation | None = None,
        losses: Sequence[Loss] = (),
    ) -> int:
        """Record the cost of a release before any noise is drawn; return the entry's number.

        When this returns, the cost is on the disk, and spent for ever.

        Args:
            epsilon: For a release that extends another, what it adds, which may be 0.
            relation: The neighboring relation of epsilon and delta; without it the entry is
                counted at the highest cost that it can have.
            losses: The privacy losses that are proved for its mechanisms.
            extends: The entry of the release that this one extends.
            lost: The unconfirmed attempts before it that it counts as made.

        Raises:
            BudgetError: The release does not fit into the limit; nothing is written.
        """
        cost = entry_cost(kind, epsilon, delta, extends=extends is not None)
        event = reservation_event(
            kind,
            method,
            method if recipe is None else recipe,
            log_digest,
            cost,
            notes,
            extra or {},
            extends,
            relation,
            losses,
        )
        with self._transaction("add"):
            if extends is not None:
                event["extends"] = self._check_extension(extends, event, lost)
            if cost is not None:
                self._check_limit(event)
            return self._add_entry(event)

    def confirm(self, number: int, release_digest: str, place: Path | str) -> None:
        """Record that the release was written; its cost was recorded before."""
        event = {
            "event": "confirmed",
            "entry": number,
            "time": timestamp(),
            "release": require_text(release_digest, "release digest"),
            "place": require_text(str(place), "place"),
        }
        with self._transaction("add"):
            entry = self._entry(number)
            if entry.state != "reserved":
                raise UsageError(f"entry {number} is {entry.state} already", where=self.path)
            check_latest(self._book.entries, entry)
            self._file.append(self._head, event)

    def record_copy(self, number: int, place: Path | str) -> int:
        """Record a byte-identical copy of an earlier release, which costs nothing."""
        with self._transaction("add"):
            earlier = self._entry(number)
            if earlier.state == "reserved":
                raise UsageError(
                    f"entry {number} was never confirmed, so there is nothing to copy",
                    where=self.path,
                )
            first = earlier.copy_of or earlier.number
            event = {"event": "copied", "of": first, "place": require_text(str(place), "place")}
            if earlier.release_digest != self._entry(first).release_digest:
                event |= {"event": "rewritten", "release": earlier.release_digest}
            return self._add_entry(event)

    def rewritten(self, number: int, release_digest: str, place: Path | str) -> int:
        """Record that a release was written once more, from the same noise: it costs nothing.

        Its files may have another format, so it has a digest of its own.
        """
        event = {
            "event": "rewritten",
            "release": require_text(release_digest, "release digest"),
            "place": require_text(str(place), "place"),
        }
        with self._transaction("add"):
            earlier = self._entry(number)
            if earlier.state == "reserved":
                raise UsageError(f"entry {number} was never confirmed", where=self.path)
            return self._add_entry(event | {"of": earlier.copy_of or earlier.number})

    def set_limit(
        self,
        epsilon: Fraction,
        delta: Fraction,
        *,
        relation: Relation = "replace-one",
        composition: Composition = "either",
    ) -> None:
        """Set the limit of the total budget; a delta of 0 allows pure epsilon only.

        A limit below what is spent is allowed: then nothing more can be spent. By default it is
        in the relation `replace-one`, in which every release can be counted; a limit in
        `add-remove` is refused if the ledger has releases without a guarantee in that relation.
        """
        budget = Budget(check_epsilon(epsilon), check_delta(delta))
        _check_word(relation, RELATIONS, "neighboring relation")
        _check_word(composition, COMPOSITIONS, "composition")
        limit = Limit.of(budget, relation, composition)
        if composition == "renyi" and limit.order is None:
            raise UsageError(
                "no noise fits into this limit with composition at a Renyi order",
                hint="a larger epsilon or delta, or plain sums: --composition sum",
            )
        with self._transaction("add"):
            if self._book.sums(relation) is None:
                raise UsageError(
                    f"this ledger has releases that promise nothing for {relation}",
                    where=self.path,
                    hint="set the limit for replace-one, in which all of them count",
                )
            event = {"event": "bounded", "time": timestamp(), **limit.to_dict()}
            self._file.append(self._head, event)

    # --- read ------------------------------------------------------------------------------------

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, the oldest first."""
        with self._transaction("read"):
            return list(self._book.entries)

    def stream(self, release_digest: str) -> ReleaseStream | None:
        """Return the stream of a release by the digest of its public card; None if unknown."""
        return find_stream(self.entries(), release_digest)

    def spent(self) -> Budget:
        """Return the sums of epsilon and delta of all releases, reserved or confirmed.

        They are counted in the relation of the limit, or in `replace-one` if there is no limit.
        """
        with self._transaction("read"):
            return self._book.spent

    def spent_in(self, relation: Relation) -> Budget | None:
        """Return the sums in a relation; None if a release has no guarantee there."""
        with self._transaction("read"):
            return self._book.sums(relation)

    def composed_in(self, relation: Relation) -> Budget | None:
        """Return the smallest epsilon that is proved for all releases together, with its delta.

        The delta is that of the limit, if it is in this relation, else the sum of all. None if
        a release has no guarantee in this relation, or nothing is proved at this delta.
        """
        with self._transaction("read"):
            return self._book.composed(relation)

    def limit(self) -> Limit | None:
        """Return the limit, if one was set."""
        with self._transaction("read"):
            return self._book.limit

    def remaining(self) -> Budget | None:
        """Return the budget left for a release with epsilon and delta alone; None without a limit.

        A release with recorded privacy losses may fit even if its epsilon is larger.
        """
        with self._transaction("read"):
            return self._book.left()

    def warnings(self) -> list[str]:
        """Return warnings: what the totals do not cover, and whether budget is left."""
        with self._transaction("read"):
            book = self._book
            limit = None if book.limit is None else book.limit.budget
            return warnings_of(book.entries, book.spent, limit, book.left())

    def head(self) -> ChainHead:
        """Return number and hash of the last row, to be stored elsewhere."""
        with self._transaction("read"):
            return self._head

    def check(self) -> ChainHead:
        """Check the whole chain again; raise VerificationError at the first broken row."""
        with self._file.transaction("read"):
            self._head, self._book = START, Book()
            self._catch_up()
            self._file.check_pages()
            return self._head

    # --- inside a transaction --------------------------------------------------------------------

    @contextmanager
    def _transaction(self, kind: Literal["read", "add"]) -> Iterator[None]:
        with self._file.transaction(kind):
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        for head, event in self._file.read_after(self._head):
            try:
                self._book.apply(event)
            except (LookupError, TypeError, ValueError, ArithmeticError, QueryveilError) as error:
                raise chain_error(
                    self.path, head.number, "is no event that this ledger knows"
                ) from error
            self._head = head

    def _entry(self, number: int) -> LedgerEntry:
        try:
            return self._book.entry(number)
        except LookupError as error:
            known = len(self._book.entries)
            raise UsageError(
                f"there is no entry {number}", where=self.path, hint=f"there are {known}"
            ) from error

    def _add_entry(self, event: dict[str, Any]) -> int:
        number = len(self._book.entries) + 1
        self._file.append(self._head, {**event, "entry": number, "time": timestamp()})
        return number

    def _check_extension(self, number: int, event: dict[str, Any], lost: Sequence[int]) -> int:
        """Return the number of the extended entry; of a copy, that of the original.

        Raises UsageError or OutputError if it cannot be extended.
        """
        earlier = build_stream(self._book.entries, self._entry(number))
        earlier.check(event["kind"], event["log"], event["recipe"], lost)
        return earlier.entry.number

    def _check_limit(self, event: dict[str, Any]) -> None:
        limit = self._book.limit
        if limit is not None:
            entry = entry_of({**event, "entry": 0, "time": timestamp()})
            charge = charge_in(entry, limit.relation)
            limit.check(entry.relation, charge, self._book.rooms(), self.path)


def _check_word(word: str, known: Sequence[str], what: str) -> None:
    if word not in known:
        raise UsageError(f'"{word}" is no {what}', hint=did_you_mean(word, known))


_FILE = "ledger.db"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def locate_ledger(ledger: str | None, log_paths: Sequence[Path]) -> Path:
    """Return the path of the ledger; the budget belongs to the population, not to one log.

    Without a name it is `ledger.db` in the folder of the log. A ledger is either a plain name,
    whose ledger is in the data folder of the account that runs this, or a folder. A folder has a
    slash, as in `./aol`, so that a name means the same ledger in every working directory.

    >>> locate_ledger(None, [Path("/data/aol/log.tsv"), Path("/data/aol/more.tsv")]).as_posix()
    '/data/aol/ledger.db'
    """
    if ledger is None:
        return _locate_beside(log_paths)
    if "/" in ledger or os.sep in ledger:
        return _locate_in_folder(ledger)
    if not _NAME.fullmatch(ledger):
        raise UsageError(
            f'"{ledger}" is not a name of a ledger',
            hint="letters, digits and -_. after a letter or digit, or a folder with its slash",
        )
    return _locate_by_name(ledger)


def open_ledger(name: str) -> Ledger:
    """Open the ledger that exists for a population, by its name or folder."""
    return Ledger.open(locate_ledger(name, []), create=False)


def _locate_beside(log_paths: Sequence[Path]) -> Path:
    if not log_paths:
        raise UsageError("no log and no ledger was named", hint="name a log, or --ledger NAME")
    # A link to a log elsewhere must not start a new budget.
    real = [path.resolve() for path in log_paths]
    folders = {path if path.is_dir() else path.parent for path in real}
    if len(folders) > 1:
        names = ", ".join(sorted(map(str, folders)))
        raise UsageError(
            f"the files of this log are in several folders ({names}), so its ledger has no place",
            hint="name the population: --ledger NAME",
        )
    return folders.pop() / _FILE


def _locate_in_folder(ledger: str) -> Path:
    folder = Path(ledger)
    if not folder.is_dir():
        # A misspelled folder must not start a new budget either.
        what = "this is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(what, where=ledger, hint="--ledger takes a folder that exists or a name")
    return folder.resolve() / _FILE


def _locate_by_name(name: str) -> Path:
    configured = Path(os.environ.get("XDG_DATA_HOME", ""))
    # The XDG specification says that a relative path is to be ignored.
    base = configured if configured.is_absolute() else Path.home() / ".local" / "share"
    return base / "queryveil" / f"{name}.db"
