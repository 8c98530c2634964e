"""How far a run is, told to whoever watches: a terminal, a page, or nobody."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """What the rooms need of a progress display."""

    seconds: dict[str, float]

    def stage(
        self, name: str, total: int | None = None
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Open a stage; the function that comes back is told of each piece of work done."""
        ...

    def stages(self, totals: Mapping[str, int]) -> AbstractContextManager[Callable[[str], None]]:
        """Open stages side by side; the function is told in which a piece of work was done."""
        ...


class NoProgress:
    """Shows nothing, and keeps the seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Time a stage."""
        start = time.perf_counter()
        try:
            with self._shown(name, total) as advance:
                yield advance
        finally:
            spent = time.perf_counter() - start
            self.seconds[name] = round(self.seconds.get(name, 0.0) + spent, 3)

    @contextmanager
    def stages(self, totals: Mapping[str, int]) -> Iterator[Callable[[str], None]]:  # noqa: ARG002
        """Show nothing of them."""
        yield lambda _: None

    @contextmanager
    def _shown(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:  # noqa: ARG002
        yield lambda _: None


def peak_memory_mb() -> int:
    """Give the most memory this process has held, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024) if sys.platform == "darwin" else peak // 1024
