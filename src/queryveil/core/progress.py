"""Report the progress of a run to a terminal, to a page, or to nobody."""

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
    """The interface of a progress display."""

    seconds: dict[str, float]

    def stage(
        self, name: str, total: int | None = None
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Open a stage; yield a function that receives each amount of work done."""
        ...

    def stages(self, totals: Mapping[str, int]) -> AbstractContextManager[Callable[[str], None]]:
        """Open parallel stages; yield a function that receives the stage of each step done."""
        ...


class NoProgress:
    """Display nothing, but keep the seconds of each stage."""

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
        """Display nothing."""
        yield lambda _: None

    @contextmanager
    def _shown(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:  # noqa: ARG002
        yield lambda _: None


def peak_memory_mb() -> int:
    """Return the peak memory of this process, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024) if sys.platform == "darwin" else peak // 1024


T = TypeVar("T")


class _End:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def prefetch(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Yield the items; a thread produces up to `depth` of them ahead.

    An error of the producer is raised here. When the consumer stops early, the producer
    stops too.

    >>> list(prefetch(range(4)))
    [0, 1, 2, 3]
    """
    ready: queue.Queue[T | _End] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def enqueue(item: T | _End) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                ready.put(item, timeout=0.1)
                return

    def produce() -> None:
        try:
            for item in items:
                enqueue(item)
                if stop.is_set():
                    break
            enqueue(_End())
        except BaseException as error:
            enqueue(_End(error))

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
