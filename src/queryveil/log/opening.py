"""Take whatever stands for a log: a log, files, a frame, or a function that reads one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..errors import ArgumentError
from .keywords import ReadingKeywords
from .query_log import QueryLog
from .reading import LogSource, read_log

# What every function that needs a log takes.
LogLike: TypeAlias = QueryLog | LogSource | Callable[[], QueryLog]


def open_log(
    log: LogLike,
    reading: ReadingKeywords,
    *,
    may_stop: bool = True,
    seed: int | None = None,
    progress: Progress | None = None,
) -> QueryLog:
    """Return a log as it is, or read it from files or a frame.

    Args:
        log: What stands for the log.
        reading: Options for reading it.
        may_stop: Whether rows that cannot be read can stop the run, unless `reading` decides it.
            They must not for a method that spends privacy budget.
        seed: Makes a sample of users reproducible.
        progress: Receives the stages of the work.

    Raises:
        ArgumentError: There are options for reading a log that has been read already.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"customer": [7], "query": ["Cats"]})
    >>> open_log(frame, {"columns": "user=customer"}).count()
    1
    """
    if isinstance(log, QueryLog) or callable(log):
        for name in reading:
            raise ArgumentError(
                f"this log has been read already, so `{name}` has no effect",
                hint=f"give it to `read_log({name}=...)`, or give the file or frame itself here",
            )
        return log if isinstance(log, QueryLog) else log()
    options: ReadingKeywords = {"may_stop": may_stop}
    options.update(reading)
    return read_log(log, rng=RandomSource(seed), progress=progress, **options)
