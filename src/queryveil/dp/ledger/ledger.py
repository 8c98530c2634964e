"""The ledger: which privacy budget was spent on a population.

It is written before noise is drawn, so that it can count a release that never came to be, and
never misses one that did. All costs are added up exactly (basic composition).

The chain of hashes shows rows that were edited, removed, moved or put in by somebody who did
not compute the chain anew. SQLite's own count of rows shows rows that were cut off at the end.
Neither is a signature. What cannot be seen: the whole file deleted or replaced by an older copy
of itself, rows cut off by somebody who also sets that count back, and a chain that was computed
anew. Whoever can write the file can do that; `head` may be noted down elsewhere and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ...errors import BudgetError, UsageError
from ..amounts import check_delta, check_epsilon, show_amount
from .chain import START, Head, broken
from .entries import Book, Budget, Entry, Kind, warnings_of
from .events import checked_text, cost_of, now, reserved
from .file import EventFile
from .streams import Stream, check_last, stream_at, stream_of

__all__ = ["Ledger"]


class Ledger:
    """The budget of one population, in one file.

    Use it in the process and thread that opened it. Each call sees what other processes added
    meanwhile. Rows that this object has checked are not read again until `check` or the next
    `open`: it compares the hash of the last row it knows, and walks what was added since.
    """

    def __init__(self, file: EventFile) -> None:
        self._file = file
        self._head = START
        self._book = Book()

    @classmethod
    def open(cls, path: Path | str, *, create: bool = True) -> Self:
        """Open the ledger of a population and check its chain; create it if there is none."""
        first = {"event": "opened", "format": 1, "time": now()}
        ledger = cls(EventFile.open(Path(path), create=create, first=first))
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
        kind: Kind,
        method: str,
        log_digest: str,
        epsilon: Fraction | None = None,
        delta: Fraction | None = None,
        recipe: str | None = None,
        notes: Sequence[str] = (),
        extra: Mapping[str, Any] | None = None,
        extends: int | None = None,
        lost: Sequence[int] = (),
    ) -> int:
        """Write down what a release will cost, before any noise is drawn; give its number.

        When this returns, the cost is on the disk, and spent for ever. Beyond the limit it
        raises BudgetError and writes nothing. A release that extends another one costs what it
        adds, which may be 0, and names the attempts before it that it counts as made.
        """
        cost = cost_of(kind, epsilon, delta, extends=extends is not None)
        made_by = method if recipe is None else recipe
        event = reserved(kind, method, made_by, log_digest, cost, notes, extra or {}, extends)
        with self._turn("add"):
            if extends is not None:
                event["extends"] = self._check_extension(extends, event, lost)
            if cost is not None:
                self._check_limit(cost)
            return self._add_entry(event)

    def confirm(self, number: int, release_digest: str, place: Path | str) -> None:
        """Note that the release stands in its place; what it cost was written before."""
        event = {
            "event": "confirmed",
            "entry": number,
            "time": now(),
            "release": checked_text(release_digest, "release digest"),
            "place": checked_text(str(place), "place"),
        }
        with self._turn("add"):
            entry = self._entry(number)
            if entry.state != "reserved":
                raise UsageError(f"entry {number} is {entry.state} already", where=self.path)
            check_last(self._book.entries, entry)
            self._file.add(self._head, event)

    def copied(self, number: int, place: Path | str) -> int:
        """Note a copy of the very bytes of an earlier release, which costs nothing."""
        with self._turn("add"):
            earlier = self._entry(number)
            if earlier.state == "reserved":
                raise UsageError(
                    f"entry {number} was never confirmed, so there is nothing to copy",
                    where=self.path,
                )
            first = earlier.copy_of or earlier.number
            event = {"event": "copied", "of": first, "place": checked_text(str(place), "place")}
            return self._add_entry(event)

    def limit(self, epsilon: Fraction, delta: Fraction) -> None:
        """Set what may be spent in all; a delta of 0 allows pure epsilon only.

        A limit below what is spent is allowed: then nothing more can be spent.
        """
        limit = Budget(check_epsilon(epsilon), check_delta(delta))
        with self._turn("add"):
            event = {"event": "limited", "time": now(), **limit.as_dict()}
            self._file.add(self._head, event)

    # --- read ------------------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """Give all entries, the oldest first."""
        with self._turn("read"):
            return list(self._book.entries)

    def find(self, log_digest: str, recipe: str) -> list[Entry]:
        """Give the releases of this log by this recipe that stand somewhere, the oldest first.

        Copies are among them: where the first place is gone, another may have the bytes.
        """
        return [
            entry
            for entry in self.entries()
            if (entry.log_digest, entry.recipe) == (log_digest, recipe)
            and entry.state != "reserved"
        ]

    def stream(self, release_digest: str) -> Stream | None:
        """Tell whether a release that stands somewhere can be extended, by its card's digest."""
        return stream_of(self.entries(), release_digest)

    def spent(self) -> Budget:
        """Add up epsilon and delta of all releases with a budget, reserved or confirmed."""
        with self._turn("read"):
            return self._book.spent

    def allowed(self) -> Budget | None:
        """Give the limit, if one was set."""
        with self._turn("read"):
            return self._book.limit

    def left(self) -> Budget | None:
        """Give what the limit leaves, at least 0; nothing without a limit."""
        with self._turn("read"):
            return self._book.left()

    def warnings(self) -> list[str]:
        """Say what the totals do not cover, and whether anything is left."""
        with self._turn("read"):
            return warnings_of(self._book.entries, self._book.spent, self._book.limit)

    def head(self) -> Head:
        """Give number and hash of the last row, to be noted down elsewhere."""
        with self._turn("read"):
            return self._head

    def check(self) -> Head:
        """Walk the whole chain again; raise VerificationError at the first broken row."""
        with self._file.turn("read"):
            self._head, self._book = START, Book()
            self._catch_up()
            self._file.check_pages()
            return self._head

    # --- inside a turn ---------------------------------------------------------------------------

    @contextmanager
    def _turn(self, kind: Literal["read", "add"]) -> Iterator[None]:
        with self._file.turn(kind):
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        for head, event in self._file.since(self._head):
            try:
                self._book.apply(event)
            except (LookupError, TypeError, ValueError, ArithmeticError) as error:
                raise broken(
                    self.path, head.number, "is no event that this ledger knows"
                ) from error
            self._head = head

    def _entry(self, number: int) -> Entry:
        try:
            return self._book.entry(number)
        except LookupError as error:
            known = len(self._book.entries)
            raise UsageError(
                f"there is no entry {number}", where=self.path, hint=f"there are {known}"
            ) from error

    def _add_entry(self, event: dict[str, Any]) -> int:
        number = len(self._book.entries) + 1
        self._file.add(self._head, {**event, "entry": number, "time": now()})
        return number

    def _check_extension(self, number: int, event: dict[str, Any], lost: Sequence[int]) -> int:
        """Refuse what cannot be extended; give the number of the first, if it is a copy."""
        earlier = stream_at(self._book.entries, self._entry(number))
        earlier.check(event["kind"], event["log"], event["recipe"], lost)
        return earlier.entry.number

    def _check_limit(self, cost: Budget) -> None:
        limit, spent, left = self._book.limit, self._book.spent, self._book.left()
        if limit is None or left is None:
            return
        for name, need, used, most, rest in zip(
            Budget._fields, cost, spent, limit, left, strict=True
        ):
            if used + need > most:
                beyond = f", and the limit of {show_amount(most)} is passed" if used > most else ""
                raise BudgetError(
                    f"this release needs {name} {show_amount(need)}, "
                    f"but {show_amount(rest)} is left in {self.path}{beyond}",
                    hint=f"ask for a smaller {name}, or weigh a higher limit: "
                    "`queryveil ledger limit`",
                )
