"""Detectors: functions of others that flag texts as identifiers, such as Presidio or spaCy.

They search queries besides our own rules. Whether a text is flagged may depend on this text alone,
as for every filter before a method: else neighboring logs would not stay neighbors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ..core.records import Record, json_field
from ..core.registry import Distribution, Registry, value_fault
from ..engine.operations import values_of
from ..engine.table import RemoteTable
from ..errors import UsageError
from .dropping import drop_rows
from .query_log import QueryLog
from .screening import EMPTY_QUERY

_BATCH = 20_000  # texts at a time, so that the memory of a model is bounded
_PROBE = pl.Series("text", ["weather", "rosalind kowalczyk 212-555-0123"])


@dataclass(frozen=True)
class Detector:
    """A detector of identifiers in texts.

    Attributes:
        name: The name in `--detectors` and on cards.
        title: What it detects, in plain words.
        version: The version of its rules and models; every change of an answer needs a new one.
        flag: Returns for a series of distinct texts whether each has an identifier: Booleans,
            never null, of the same length. The answer depends on the text alone: not on other
            texts, their order, chance or earlier calls.
    """

    name: str
    title: str
    version: str
    flag: Callable[[pl.Series], pl.Series]


@dataclass(frozen=True, repr=False)
class DetectorUse(Record):
    """A detector as a card names it, with the distribution that provides it."""

    shown = ("name", "version")

    name: str
    version: str
    distribution: Distribution | None = json_field(optional=True, default=None)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def _fault_of(name: str, item: Any) -> str | None:
    return value_fault(name, item) if isinstance(item, Detector) else "it is not a Detector"


DETECTORS: Registry[Detector] = Registry("detector", "queryveil.detectors", lambda: {}, _fault_of)


def parse_detectors(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of detectors, each once, in the order that was typed.

    >>> parse_detectors("")
    ()

    Raises:
        UsageError: There is no such detector.
    """
    listed = names.split(",") if isinstance(names, str) else names
    parsed = tuple(dict.fromkeys(name.strip() for name in listed if name.strip()))
    for name in parsed:
        if not len(DETECTORS):
            raise UsageError(
                f'unknown detector "{name}"',
                hint="queryveil has none of its own: install a distribution that has it",
            )
        DETECTORS.find(name)
    return parsed


def open_detectors(names: str | Sequence[str]) -> tuple[Detector, ...]:
    """Return detectors by name, each tried on texts of no log: later it is too late to refuse.

    Raises:
        UsageError: There is no such detector, or it does not work.
    """
    detectors = tuple(DETECTORS.find(name) for name in parse_detectors(names))
    for detector in detectors:
        try:
            _flag_checked(detector, _PROBE)
        except Exception as error:
            raise UsageError(
                f'the detector "{detector.name}" does not work: {type(error).__name__}: {error}',
                hint="it was tried on invented texts; no log was read",
            ) from error
    return detectors


def describe_uses(names: Sequence[str]) -> tuple[DetectorUse, ...]:
    """Return the detectors as a card names them."""
    return tuple(
        DetectorUse(name, DETECTORS.find(name).version, DETECTORS.distribution(name))
        for name in names
    )


def drop_detected(log: QueryLog, names: Sequence[str], *, users_stay: bool = False) -> QueryLog:
    """Return the log without rows whose query a detector flags; its accounting counts them.

    A detector has no position of an identifier, so that nothing can be masked. URLs are not
    searched. With `users_stay` a user whose rows would all be dropped keeps the first one, blanked.

    Raises:
        UsageError: The log is on a cluster.
    """
    if not names:
        return log
    check_local(log)
    detectors = [DETECTORS.find(name) for name in names]

    def find(frame: pl.LazyFrame, column: str) -> pl.DataFrame:
        return texts_of_detectors(frame, column, detectors)

    kinds = [f"{detector.name} ({detector.title})" for detector in detectors]
    return drop_rows(log, find, "is flagged by the detector", kinds, users_stay=users_stay)


def check_local(log: QueryLog) -> None:
    """Raise an error for a log on a cluster, whose machines may have other versions."""
    if isinstance(log.table, RemoteTable):
        raise UsageError(
            "detectors do not run on Spark: nothing ensures that each machine has the same version",
            hint="read the log without `engine`, or leave the detectors out",
        )


def texts_of_detectors(
    table: pl.LazyFrame, column: str, detectors: Sequence[Detector]
) -> pl.DataFrame:
    """Return the distinct queries of a column that a detector flags, and its number as `kind`.

    Of several detectors the first counts. Of URLs none is returned.
    """
    values = values_of(table, column)
    values = values.clear() if column == "url" else values
    return values.with_columns(kind=first_detector(values[column], detectors)).drop_nulls("kind")


def first_detector(texts: pl.Series, detectors: Sequence[Detector]) -> pl.Series:
    """Return the number of the first detector that flags each text, or null.

    Each text should occur once.
    """
    first = pl.repeat(None, len(texts), dtype=pl.Int64, eager=True)
    plain = texts.cast(pl.String)
    for number, detector in enumerate(detectors):
        indices = (first.is_null() & plain.is_not_null() & (plain != EMPTY_QUERY)).arg_true()
        flags = flag_texts(detector, plain.gather(indices))
        first = first.scatter(indices.filter(flags), number)
    return first


def flag_texts(detector: Detector, texts: pl.Series) -> pl.Series:
    """Return whether a detector flags each text.

    A text on which the detector fails counts as flagged: a failure must neither release it nor
    stop a run, since then the text of one user would decide whether there is a release.
    """
    batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    flags = [_flag_batch(detector, batch) for batch in batches]
    return pl.concat(flags) if flags else pl.Series(dtype=pl.Boolean)


def _flag_batch(detector: Detector, texts: pl.Series) -> pl.Series:
    try:
        return _flag_checked(detector, texts)
    except MemoryError:
        raise
    except Exception:
        if len(texts) == 1:
            return pl.Series([True])
        half = len(texts) // 2
        return pl.concat(_flag_batch(detector, part) for part in (texts[:half], texts[half:]))


def _flag_checked(detector: Detector, texts: pl.Series) -> pl.Series:
    """Return the flags; raise TypeError if they are not what a detector returns."""
    flags = detector.flag(texts)
    if not isinstance(flags, pl.Series) or flags.dtype != pl.Boolean:
        raise TypeError("it returns no series of Booleans")
    if len(flags) != len(texts) or flags.null_count():
        raise TypeError("it returns nulls, or not one Boolean for each text")
    return flags.rechunk().alias("flagged")
