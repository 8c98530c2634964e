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

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ...errors import BudgetError, UsageError, did_you_mean
from ..amounts import check_delta, check_epsilon, exact_text, show_amount
from .chain import START, Head, broken
from .entries import KINDS, Book, Budget, Entry, Kind, warnings_of
from .file import EventFile

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
        first = {"event": "opened", "format": 1, "time": _now()}
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
    ) -> int:
        """Write down what a release will cost, before any noise is drawn; give its number.

        When this returns, the cost is on the disk, and spent for ever. Beyond the limit it
        raises BudgetError and writes nothing.
        """
        cost = _cost(kind, epsilon, delta)
        event = {
            "event": "reserved",
            "kind": kind,
            "method": _text(method, "method"),
            "recipe": _text(method if recipe is None else recipe, "recipe"),
            "log": _text(log_digest, "log digest"),
            "epsilon": cost and exact_text(cost.epsilon),
            "delta": cost and exact_text(cost.delta),
            "notes": [_text(note, "note") for note in notes],
            "extra": _json(extra or {}),
        }
        with self._turn("add"):
            if cost is not None:
                self._check_limit(cost)
            return self._add_entry(event)

    def confirm(self, number: int, release_digest: str, place: Path | str) -> None:
        """Note that the release stands in its place; what it cost was written before."""
        event = {
            "event": "confirmed",
            "entry": number,
            "time": _now(),
            "release": _text(release_digest, "release digest"),
            "place": _text(str(place), "place"),
        }
        with self._turn("add"):
            entry = self._entry(number)
            if entry.state != "reserved":
                raise UsageError(f"entry {number} is {entry.state} already", where=self.path)
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
            event = {"event": "copied", "of": first, "place": _text(str(place), "place")}
            return self._add_entry(event)

    def limit(self, epsilon: Fraction, delta: Fraction) -> None:
        """Set what may be spent in all; a delta of 0 allows pure epsilon only.

        A limit below what is spent is allowed: then nothing more can be spent.
        """
        limit = Budget(check_epsilon(epsilon), check_delta(delta))
        with self._turn("add"):
            event = {"event": "limited", "time": _now(), **limit.as_dict()}
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
            return self._left()

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
        self._file.add(self._head, {**event, "entry": number, "time": _now()})
        return number

    def _left(self) -> Budget | None:
        limit, spent = self._book.limit, self._book.spent
        if limit is None:
            return None
        nothing = Fraction(0)
        return Budget(
            max(nothing, limit.epsilon - spent.epsilon), max(nothing, limit.delta - spent.delta)
        )

    def _check_limit(self, cost: Budget) -> None:
        limit, spent, left = self._book.limit, self._book.spent, self._left()
        if limit is None or left is None:
            return
        for name, need, used, most, rest in zip(
            Budget._fields, cost, spent, limit, left, strict=True
        ):
            if used + need > most:
                raise BudgetError(
                    f"this release needs {name} {show_amount(need)}, "
                    f"but {show_amount(rest)} is left in {self.path}",
                    hint=f"ask for a smaller {name}, or weigh a higher limit: "
                    "`queryveil ledger limit`",
                )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _cost(kind: str, epsilon: Fraction | None, delta: Fraction | None) -> Budget | None:
    if kind not in KINDS:
        raise UsageError(f'"{kind}" is no kind of release', hint=did_you_mean(kind, KINDS))
    if kind in ("dp", "conditional-dp"):
        if epsilon is None:
            raise UsageError(f"a release of kind {kind} needs an epsilon")
        return Budget(check_epsilon(epsilon), check_delta(Fraction(0) if delta is None else delta))
    if epsilon is not None or delta is not None:
        raise UsageError(f"a release of kind {kind} has no epsilon and no delta")
    return None


def _text(value: str, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"the {name} of an entry is {value!r}", hint="a text")
    return value


def _json(extra: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"extra cannot be written as JSON ({error})") from error
    if _is_deep(found, 20):  # what can be written must be readable for ever
        raise UsageError("extra has lists or mappings in one another too deep", hint="20 levels")
    return found


def _is_deep(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inner) and (levels == 0 or any(_is_deep(one, levels - 1) for one in inner))
