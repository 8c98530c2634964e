"""The ledger: which privacy budget was spent on a population.

It is written before noise is drawn, so that it can count a release that never came to be, and
never misses one that did. Costs are added up in exact numbers: plainly, and at a Renyi order.

The chain of hashes shows rows that were edited, removed, moved or put in by somebody who did
not compute the chain anew. SQLite's own count of rows shows rows that were cut off at the end.
Neither is a signature. What cannot be seen: the whole file deleted or replaced by an older copy
of itself, rows cut off by somebody who also sets that count back, and a chain that was computed
anew. Whoever can write the file can do that; `head` may be noted down elsewhere and compared.
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
from ..errors import InputError, UsageError, did_you_mean
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
    `open`: it compares the hash of the last row it knows, and walks what was added since.
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
            with ledger._turn("read"):
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
        """Where it lies."""
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
        """Write down what a release will cost, before any noise is drawn; give its number.

        `relation` says between which logs epsilon and delta hold; a release that does not say
        counts as the dearest it can be. `losses` are what its mechanisms are proved to lose.

        When this returns, the cost is on the disk, and spent for ever. Beyond the limit it
        raises BudgetError and writes nothing. A release that extends another one costs what it
        adds, which may be 0, and names the attempts before it that it counts as made.
        """
        cost = entry_cost(kind, epsilon, delta, extends=extends is not None)
        made_by = method if recipe is None else recipe
        given = kind, method, made_by, log_digest, cost, notes, extra or {}, extends
        event = reservation_event(*given, relation, losses)
        with self._turn("add"):
            if extends is not None:
                event["extends"] = self._check_extension(extends, event, lost)
            if cost is not None:
                self._check_limit(event)
            return self._add_entry(event)

    def confirm(self, number: int, release_digest: str, place: Path | str) -> None:
        """Note that the release stands in its place; what it cost was written before."""
        event = {
            "event": "confirmed",
            "entry": number,
            "time": timestamp(),
            "release": require_text(release_digest, "release digest"),
            "place": require_text(str(place), "place"),
        }
        with self._turn("add"):
            entry = self._entry(number)
            if entry.state != "reserved":
                raise UsageError(f"entry {number} is {entry.state} already", where=self.path)
            check_latest(self._book.entries, entry)
            self._file.append(self._head, event)

    def record_copy(self, number: int, place: Path | str) -> int:
        """Note a copy of the very bytes of an earlier release, which costs nothing."""
        with self._turn("add"):
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
        """Note that a release was written once more: what was drawn is the same, and paid for.

        Its files may have another form, so it has a digest of its own.
        """
        event = {
            "event": "rewritten",
            "release": require_text(release_digest, "release digest"),
            "place": require_text(str(place), "place"),
        }
        with self._turn("add"):
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
        """Set what may be spent in all; a delta of 0 allows pure epsilon only.

        A limit below what is spent is allowed: then nothing more can be spent. It is one for
        replacing a user, in which every release can be counted; one for adding or removing a
        user is refused if the ledger has releases that promise nothing there.
        """
        budget = Budget(check_epsilon(epsilon), check_delta(delta))
        _check_word(relation, RELATIONS, "neighboring relation")
        _check_word(composition, COMPOSITIONS, "way of adding up")
        limit = Limit.of(budget, relation, composition)
        if composition == "renyi" and limit.order is None:
            raise UsageError(
                "no noise fits into this limit, added up at a Renyi order",
                hint="a larger epsilon or delta, or plain sums: --composition sum",
            )
        with self._turn("add"):
            if self._book.sums(relation) is None:
                raise UsageError(
                    f"this ledger has releases that promise nothing for {relation}",
                    where=self.path,
                    hint="set the limit for replace-one, in which all of them count",
                )
            event = {"event": "bounded", "time": timestamp(), **limit.as_dict()}
            self._file.append(self._head, event)

    # --- read ------------------------------------------------------------------------------------

    def entries(self) -> list[LedgerEntry]:
        """Give all entries, the oldest first."""
        with self._turn("read"):
            return list(self._book.entries)

    def stream(self, release_digest: str) -> ReleaseStream | None:
        """Tell whether a release that stands somewhere can be extended, by its card's digest."""
        return find_stream(self.entries(), release_digest)

    def spent(self) -> Budget:
        """Add up epsilon and delta of all releases with a budget, reserved or confirmed.

        They are counted in the relation of the limit, or for replacing a user if there is none.
        """
        with self._turn("read"):
            return self._book.spent

    def spent_in(self, relation: Relation) -> Budget | None:
        """Add up epsilon and delta in a relation; none if a release promises nothing there."""
        with self._turn("read"):
            return self._book.sums(relation)

    def composed_in(self, relation: Relation) -> Budget | None:
        """Return the least epsilon that is proved for all releases together, at its delta.

        The delta is that of the limit, if it is in this relation, else the sum of all. None if
        a release promises nothing in this relation, or nothing is proved at this delta.
        """
        with self._turn("read"):
            return self._book.composed(relation)

    def limit(self) -> Limit | None:
        """Return the limit, if one was set."""
        with self._turn("read"):
            return self._book.limit

    def remaining(self) -> Budget | None:
        """Return what the limit leaves a release with epsilon and delta alone; none without one.

        What is recorded of its mechanisms' loss may let a dearer release fit.
        """
        with self._turn("read"):
            return self._book.left()

    def warnings(self) -> list[str]:
        """Say what the totals do not cover, and whether anything is left."""
        with self._turn("read"):
            book = self._book
            limit = None if book.limit is None else book.limit.budget
            return warnings_of(book.entries, book.spent, limit, book.left())

    def head(self) -> ChainHead:
        """Give number and hash of the last row, to be noted down elsewhere."""
        with self._turn("read"):
            return self._head

    def check(self) -> ChainHead:
        """Walk the whole chain again; raise VerificationError at the first broken row."""
        with self._file.transaction("read"):
            self._head, self._book = START, Book()
            self._catch_up()
            self._file.check_pages()
            return self._head

    # --- inside a turn ---------------------------------------------------------------------------

    @contextmanager
    def _turn(self, kind: Literal["read", "add"]) -> Iterator[None]:
        with self._file.transaction(kind):
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        for head, event in self._file.read_after(self._head):
            try:
                self._book.apply(event)
            except (LookupError, TypeError, ValueError, ArithmeticError, UsageError) as error:
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
        """Refuse what cannot be extended; give the number of the first, if it is a copy."""
        earlier = build_stream(self._book.entries, self._entry(number))
        earlier.check(event["kind"], event["log"], event["recipe"], lost)
        return earlier.entry.number

    def _check_limit(self, event: dict[str, Any]) -> None:
        limit = self._book.limit
        if limit is not None:
            entry = entry_of({**event, "entry": 0, "time": timestamp()})
            charge = charge_in(entry, limit.relation)
            limit.check(entry.relation, charge, self._book.rooms(), self.path)


def _check_word(given: str, known: Sequence[str], what: str) -> None:
    if given not in known:
        raise UsageError(f'"{given}" is no {what}', hint=did_you_mean(given, known))


_FILE = "ledger.db"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def locate_ledger(dataset: str | None, log_paths: Sequence[Path]) -> Path:
    """Give the file of the ledger; the budget belongs to the population, not to a log's content.

    Without a dataset it is `ledger.db` in the folder of the log. A dataset is a plain name,
    whose ledger lies with the data of the person who runs this, or a folder (with a slash, as
    in `./aol`, so that a name never means another ledger in another place).

    >>> locate_ledger(None, [Path("/data/aol/log.tsv"), Path("/data/aol/more.tsv")]).as_posix()
    '/data/aol/ledger.db'
    """
    if dataset is None:
        return _beside(log_paths)
    if "/" in dataset or os.sep in dataset:
        return _of_folder(dataset)
    if not _NAME.fullmatch(dataset):
        raise UsageError(
            f'"{dataset}" is no name of a dataset',
            hint="letters, digits and -_. after a letter or digit, or a folder with its slash",
        )
    return _of_name(dataset)


def _beside(log_paths: Sequence[Path]) -> Path:
    if not log_paths:
        raise UsageError("no log and no dataset was named", hint="name a log, or --dataset NAME")
    # A link to a log elsewhere must not buy a new budget.
    real = [path.resolve() for path in log_paths]
    folders = {path if path.is_dir() else path.parent for path in real}
    if len(folders) > 1:
        names = ", ".join(sorted(map(str, folders)))
        raise UsageError(
            f"the files of this log are in several folders ({names}), so its ledger has no place",
            hint="name the population: --dataset NAME",
        )
    return folders.pop() / _FILE


def _of_folder(dataset: str) -> Path:
    folder = Path(dataset)
    if not folder.is_dir():
        # A misspelt folder must not buy a new budget either.
        what = "this is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(what, where=dataset, hint="--dataset takes a folder that exists or a name")
    return folder.resolve() / _FILE


def _of_name(name: str) -> Path:
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    # By the XDG rules a relative path counts as none.
    base = given if given.is_absolute() else Path.home() / ".local" / "share"
    return base / "queryveil" / f"{name}.db"
