"""How far a run is, told to whoever watches: a terminal, a page, or nobody."""

from __future__ import annotations

import queue
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol, TypeVar


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


T = TypeVar("T")


class _End:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def prefetch(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Yield the items, at most `depth` of which are made ahead.

    An error of the producer is raised here. When the consumer stops early, the producer
    stops too.

    >>> list(prefetch(range(4)))
    [0, 1, 2, 3]
    """
    ready: queue.Queue[T | _End] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def hand_over(item: T | _End) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                ready.put(item, timeout=0.1)
                return

    def produce() -> None:
        try:
            for item in items:
                hand_over(item)
                if stop.is_set():
                    break
            hand_over(_End())
        except BaseException as error:
            hand_over(_End(error))

    worker = threading.Thread(target=produce, daemon=True)
    worker.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        worker.join()
