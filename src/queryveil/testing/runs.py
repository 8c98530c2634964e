"""Runs of a method under test: each release is made and written once."""

from __future__ import annotations

import csv
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..errors import PopulationWarning, QueryveilError
from ..log.query_log import QueryLog
from ..methods.base import METHODS, Method
from ..release.cards import PublicCard
from ..release.release import Release
from ..release.verification import read_public_card
from ..workflows.anonymization import anonymize
from ..workflows.verification import verify
from .logs import Row


@dataclass(frozen=True)
class MethodRun:
    """A written release with the log that it was made of: what a `recount` receives.

    Attributes:
        rows: The rows of the log, as texts.
        folder: The folder with `public/` and `private/`.
    """

    method: Method
    rows: Sequence[Row]
    release: Release
    folder: Path

    @property
    def public(self) -> Path:
        """The folder that may be published."""
        return self.folder / "public"

    @cached_property
    def released(self) -> list[Row]:
        """The published rows, read from the file by other means than queryveil's own."""
        bare = [[cell.removeprefix("'") or None for cell in row] for row in self._cells[1:]]
        return [(str(u), str(q), t, int(r) if r else None, url) for u, q, t, r, url, *_ in bare]

    @cached_property
    def kinds(self) -> list[str] | None:
        """The kind of each published row, query or part; None if the log has no such column."""
        header, *rows = self._cells or [[]]
        return [row[-1] for row in rows] if header[-1:] == ["kind"] else None

    @cached_property
    def _cells(self) -> list[list[str]]:
        path = self.public / "log.tsv"
        if not path.exists():
            return []
        return [line.split("\t") for line in path.read_text("utf-8").split("\n")[:-1]]

    @cached_property
    def tables(self) -> dict[str, list[list[str]]]:
        """The published tables: their rows without the header."""
        return {
            path.stem: [row.split("\t") for row in path.read_text("utf-8").split("\n")[1:-1]]
            for path in sorted(self.public.glob("*.tsv"))
            if path.stem != "log"
        }

    @cached_property
    def card(self) -> PublicCard:
        """The public card."""
        return read_public_card(self.public)

    @cached_property
    def mapping(self) -> list[list[str]]:
        """The rows of the private mapping: user, pseudonym, and more."""
        path = self.folder / "private" / "mapping.tsv"
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]

    def public_bytes(self) -> dict[str, bytes]:
        """Return the bytes of each public file by its name."""
        return {path.name: path.read_bytes() for path in sorted(self.public.iterdir())}

    def copy(self) -> Path:
        """Return a copy of the folder, which a check may damage."""
        target = Path(tempfile.mkdtemp(dir=self.folder.parent)) / "release"
        return shutil.copytree(self.folder, target)


@dataclass
class MethodRuns:
    """The runs of one method on one log, in a temporary folder."""

    method: Method
    rows: Sequence[Row]
    _made: dict[tuple[int | None, int], MethodRun] = field(default_factory=dict)
    _folder: tempfile.TemporaryDirectory[str] = field(
        default_factory=lambda: tempfile.TemporaryDirectory(prefix="queryveil-kit-")
    )

    def make(self, seed: int | None = None, number: int = 0) -> MethodRun:
        """Return a run; those with the same seed and number are the same run."""
        if (seed, number) not in self._made:
            self._made[seed, number] = self.run_on(self.rows, seed)
        return self._made[seed, number]

    def run_on(self, rows: Sequence[Row], seed: int | None = None) -> MethodRun:
        """Run the method on other rows, and write the release."""
        place = Path(tempfile.mkdtemp(dir=self._folder.name))
        log = QueryLog.from_rows(list(rows))
        with registered(self.method), warnings.catch_warnings():
            warnings.simplefilter("ignore", PopulationWarning)
            release = anonymize(log, self.method, seed=seed, ledger=str(place), yes=True)
            release.write(place / "out", format="tsv")
        return MethodRun(self.method, rows, release, place / "out")


@contextmanager
def registered(method: Method) -> Iterator[None]:
    """Let the method be known by its name, if no distribution provides it."""
    if METHODS.get(method.name) is type(method):
        yield
        return
    with METHODS.adding(method.name, type(method)):
        yield


def failed_checks(method: Method, folder: Path, log: QueryLog | None = None) -> set[str]:
    """Return the names of the checks of `verify` that do not hold, also those with the log."""
    with registered(method):
        try:
            report = verify(folder, log=log)
        except QueryveilError as error:
            return {type(error).__name__}
    return {finding.check for finding in report.findings if not finding.holds}
