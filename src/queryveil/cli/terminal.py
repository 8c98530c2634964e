"""Print results on standard output, and progress and messages on standard error."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..core.progress import NoProgress
from ..core.records import Record
from ..errors import ParameterError, QueryveilError
from .messages import name_options

# Characters that move the cursor, change the title or reverse the direction of a text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def sanitize(text: str) -> str:
    """Return a text of unknown origin without control characters and with markup escaped."""
    return escape(_CONTROL.sub("\ufffd", text))


def _to_json(value: Any) -> Any:
    return value.to_dict() if isinstance(value, Record) else str(value)


class Terminal(NoProgress):
    """A terminal that shows stages as progress bars, and results as text or as JSON."""

    def __init__(self, as_json: bool = False, quiet: bool = False) -> None:
        super().__init__()
        self.as_json, self.quiet = as_json, quiet
        self.out = Console(highlight=False, emoji=False)
        self.err = Console(stderr=True, highlight=False, emoji=False)
        warnings.showwarning = self._warn  # type: ignore[assignment]

    @property
    def answers(self) -> bool:
        """Whether a question can be asked: the command runs interactively."""
        return not (self.as_json or self.quiet) and sys.stdin.isatty() and self.err.is_terminal

    def result(self, document: Any, draw: Callable[[Console], None]) -> None:
        """Print a result, often a record: as JSON if requested, else as `draw` shows it."""
        if self.as_json:
            # json.dumps writes ASCII, so the encoding of the output does not matter.
            sys.stdout.write(json.dumps(document, indent=2, default=_to_json) + "\n")
        elif not self.quiet:
            draw(self.out)

    @contextmanager
    def _shown(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        with self._bars(TextColumn("{task.percentage:>3.0f}%" if total else ""), total) as bars:
            task = bars.add_task(name, total=total)
            yield lambda done: bars.advance(task, done)

    @contextmanager
    def stages(self, totals: Mapping[str, int]) -> Iterator[Callable[[str], None]]:
        """Show one progress bar per stage, and their total in the last row."""
        with self._bars(MofNCompleteColumn(), sum(totals.values())) as bars:
            rows = {
                name: bars.add_task(sanitize(name), total=total) for name, total in totals.items()
            }
            overall = bars.add_task("[bold]all[/]", total=sum(totals.values()))

            def advance(name: str) -> None:
                bars.advance(rows[name])
                bars.advance(overall)

            yield advance

    def _bars(self, done: ProgressColumn, total: int | None) -> Progress:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            done,
            TimeElapsedColumn(),
            *((TimeRemainingColumn(),) if total else ()),
        )
        hidden = self.quiet or not self.err.is_terminal
        return Progress(*columns, console=self.err, transient=True, disable=hidden)

    def _warn(self, message: Warning | str, *_: Any) -> None:
        if not self.quiet:
            self.err.print(
                f"[yellow]Note:[/] {sanitize(name_options(str(message)))}", soft_wrap=True
            )


def print_error(error: QueryveilError) -> None:
    """Print an error, where it occurred, and a hint."""
    console = Console(stderr=True, highlight=False, emoji=False)
    prefix = f"{error.where}: " if error.where else ""
    parameter = error.parameter if isinstance(error, ParameterError) else None
    what = prefix + name_options(error.what, parameter)
    console.print(f"[bold red]Error:[/] {sanitize(what)}", soft_wrap=True)
    if error.hint:
        hint = name_options(error.hint, parameter)
        console.print(f"[bold]Hint:[/] {sanitize(hint)}", soft_wrap=True)
