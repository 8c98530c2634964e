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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import polars as pl

from ..core.pandas_output import to_pandas
from ..core.records import Json
from ..dp.budget import check_delta, check_epsilon
from ..dp.losses import RELATIONS, Loss, Relation
from ..errors import QueryveilError, UsageError, did_you_mean
from .entries import EntryKind, LedgerEntry, charge_in
from .events import (
    Charged,
    Confirmed,
    Copied,
    Opened,
    Reserved,
    Rewritten,
    bounded_event,
    current_time,
    entry_of,
    read_row,
    to_row,
)
from .limits import COMPOSITIONS, Budget, Composition, Limit
from .state import Book, warnings_of
from .store import START, ChainHead, EventStore, chain_error
from .streams import ReleaseStream, build_stream, check_latest, find_stream
from .tables import entries_to_polars
from .validation import entry_cost, require_text, reservation_event


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
        first = to_row(Opened(current_time(), format=1))
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
        extra: Mapping[str, Json] | None = None,
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
            if isinstance(event, Charged):
                if event.extends is not None:
                    extended = self._find_extended(event, event.extends, lost)
                    event = replace(event, extends=extended)
                self._check_limit(event)
            return self._add_entry(event)

    def confirm(self, number: int, release_digest: str, place: Path | str) -> None:
        """Record that the release was written; its cost was recorded before."""
        event = Confirmed(
            time=current_time(),
            entry=number,
            release=require_text(release_digest, "release digest"),
            place=require_text(str(place), "place"),
        )
        with self._transaction("add"):
            entry = self._entry(number)
            if entry.state != "reserved":
                raise UsageError(f"entry {number} is {entry.state} already", where=self.path)
            check_latest(self._book.entries, entry)
            self._file.append(self._head, to_row(event))

    def record_copy(self, number: int, place: Path | str) -> int:
        """Record a byte-identical copy of an earlier release, which costs nothing."""
        with self._transaction("add"):
            earlier = self._entry(number)
            if earlier.state == "reserved":
                raise UsageError(
                    f"entry {number} was never confirmed, so there is nothing to copy",
                    where=self.path,
                )
            first, digest = earlier.copy_of or earlier.number, earlier.release_digest
            event = Copied(current_time(), 0, first, require_text(str(place), "place"))
            if digest is not None and digest != self._entry(first).release_digest:
                event = Rewritten(**vars(event), release=digest)
            return self._add_entry(event)

    def rewritten(self, number: int, release_digest: str, place: Path | str) -> int:
        """Record that a release was written once more, from the same noise: it costs nothing.

        Its files may have another format, so it has a digest of its own.
        """
        event = Rewritten(
            time=current_time(),
            entry=0,
            of=number,
            release=require_text(release_digest, "release digest"),
            place=require_text(str(place), "place"),
        )
        with self._transaction("add"):
            earlier = self._entry(number)
            if earlier.state == "reserved":
                raise UsageError(f"entry {number} was never confirmed", where=self.path)
            return self._add_entry(replace(event, of=earlier.copy_of or earlier.number))

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
                hint='a larger epsilon or delta, or plain sums: `composition="sum"`',
            )
        with self._transaction("add"):
            if self._book.sums(relation) is None:
                raise UsageError(
                    f"this ledger has releases that promise nothing for {relation}",
                    where=self.path,
                    hint="set the limit for replace-one, in which all of them count",
                )
            self._file.append(self._head, to_row(bounded_event(limit)))

    # --- read ------------------------------------------------------------------------------------

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, the oldest first."""
        with self._transaction("read"):
            return list(self._book.entries)

    def to_polars(self) -> pl.DataFrame:
        """Return one row per entry; epsilon and delta as the nearest floats."""
        return entries_to_polars(self.entries())

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())

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
        for head, row in self._file.read_after(self._head):
            try:
                self._book.apply(read_row(row))
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

    def _add_entry(self, event: Reserved | Copied) -> int:
        number = len(self._book.entries) + 1
        numbered = replace(event, entry=number, time=current_time())
        self._file.append(self._head, to_row(numbered))
        return number

    def _find_extended(self, event: Charged, number: int, lost: Sequence[int]) -> int:
        """Return the number of the extended entry; of a copy, that of the original.

        Raises UsageError or OutputError if it cannot be extended.
        """
        earlier = build_stream(self._book.entries, self._entry(number))
        earlier.check(event.kind, event.log, event.recipe, lost)
        return earlier.entry.number

    def _check_limit(self, event: Charged) -> None:
        limit = self._book.limit
        if limit is not None:
            entry = entry_of(event)
            charge = charge_in(entry, limit.relation)
            limit.check(entry.relation, charge, self._book.rooms(), self.path)


def _check_word(word: str, known: Sequence[str], what: str) -> None:
    if word not in known:
        raise UsageError(f'"{word}" is no {what}', hint=did_you_mean(word, known))
