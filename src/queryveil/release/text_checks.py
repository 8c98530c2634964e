"""The checks that search the released texts: for identifiers, sensitive topics, by detectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from ..core.records import Record
from ..lexicons.sensitive_terms import TOPICS
from ..log.detectors import DETECTORS, DetectorUse, texts_of_detectors
from ..log.dropping import FindTexts
from ..log.screening import flagged
from ..log.sensitive import texts_of_topics
from .check_results import CheckResult

Tables = Mapping[str, pl.DataFrame]
Files = tuple[pl.LazyFrame | None, Tables]
NO_IDENTIFIERS = (
    "no query and no URL looks like an identifier to our rules, which miss rare names and more"
)


@dataclass(frozen=True, repr=False)
class SensitiveTopics(Record):
    """Arguments of `no-sensitive-topics`."""

    topics: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class DetectorUses(Record):
    """Arguments of `no-detected-texts`."""

    detectors: tuple[DetectorUse, ...]


def check_no_identifiers(log: pl.LazyFrame | None, tables: Tables) -> CheckResult:
    """Check that no query and no URL, in the log or a table, matches an identifier pattern."""
    bad = _count_texts((log, tables), flagged)
    message = f"{bad:,} do, not so: {NO_IDENTIFIERS}" if bad else NO_IDENTIFIERS
    return CheckResult("no-identifiers", not bad, message)


def _count_texts(files: Files, find: FindTexts) -> int:
    """Count the texts of `find` in the columns that users wrote or clicked."""
    log, tables = files
    frames = [table.lazy() for table in tables.values()] + ([] if log is None else [log])
    names = ("query", "next", "url")
    return sum(
        find(frame, name).height
        for frame in frames
        for name in frame.collect_schema().names()
        if name in names
    )


def check_no_topics(files: Files, arguments: SensitiveTopics) -> CheckResult:
    """Check that no query and no URL, in the log or a table, is of one of the topics."""
    topics, statement = arguments.topics, describe_no_topics(arguments)
    if not topics or not set(topics) <= set(TOPICS):
        return CheckResult("no-sensitive-topics", False, "the card names topics that are unknown")
    bad = _count_texts(files, partial(texts_of_topics, topics=topics))
    message = f"{bad:,} are, not so: {statement}" if bad else statement
    return CheckResult("no-sensitive-topics", not bad, message)


def describe_no_topics(arguments: SensitiveTopics) -> str:
    """Return what the check of sensitive topics tests, in words."""
    return f"no query and no URL is about {', '.join(arguments.topics)} by our lists of words"


def check_detectors(files: Files, arguments: DetectorUses) -> CheckResult:
    """Check that no query, in the log or a table, is flagged by a detector of the card.

    Without the very detectors of the card the check fails: others could miss what these flag.
    """
    statement = describe_detectors(arguments)
    if not arguments.detectors:
        return CheckResult("no-detected-texts", False, "the card names no detector")
    for use in arguments.detectors:
        known = DETECTORS.get(use.name)
        if known is None or known.version != use.version:
            here = "is not installed" if known is None else f"has version {known.version} here"
            message = f"the detector {use.name} {here}, so that its check cannot run: install {use}"
            provider = f" ({use.distribution})" if use.distribution else ""
            return CheckResult("no-detected-texts", False, message + provider)
        if DETECTORS.distribution(use.name) != use.distribution:
            message = f"the detector {use} is not that of the distribution on the card"
            return CheckResult("no-detected-texts", False, message)
    detectors = [DETECTORS[use.name] for use in arguments.detectors]
    bad = _count_texts(files, partial(texts_of_detectors, detectors=detectors))
    message = f"{bad:,} are, not so: {statement}" if bad else statement
    return CheckResult("no-detected-texts", not bad, message)


def describe_detectors(arguments: DetectorUses) -> str:
    """Return what the check of detectors tests, in words."""
    return f"no query is flagged by the detectors {', '.join(map(str, arguments.detectors))}"
