"""Overlap reading with computing: a producer runs ahead in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

__all__ = ["prefetch"]

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
