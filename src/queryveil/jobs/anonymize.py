"""The main job: protect a log by a method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..engine import Chance, Progress, Silent
from ..errors import InputError
from ..log import QueryLog
from ..methods import Method, parse_method
from ..release import Release, check_format, check_target, is_release

__all__ = ["anonymize", "check_release_target"]

_SEEDED = "a fixed seed was used: whoever knows it can draw the same order, names and sample"


def anonymize(
    log: QueryLog,
    method: Method | str,
    *,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Protect a log by a method, or by its one line ("frequent-queries:n=20").

    With a seed the result can be repeated, and is not for publication.

    >>> from queryveil import FrequentQueries, QueryLog
    >>> log = QueryLog.from_rows([(u, "weather", "2006-03-01 10:00:00", None, None)
    ...                           for u in "abc"])
    >>> anonymize(log, FrequentQueries(n=2)).guarantee.model
    'none'
    """
    if not log.tally.kept:
        raise InputError("no row of the log is left to protect", hint="see `queryveil profile`")
    chosen = parse_method(method) if isinstance(method, str) else method
    release = chosen.run(log, Chance(seed), progress or Silent())
    if seed is None and not log.seeded:
        return release
    return replace(release, not_release_grade=(*release.not_release_grade, _SEEDED))


def check_release_target(folder: Path, form: str, force: bool) -> None:
    """Refuse a folder or form that cannot be written, before any work is done."""
    check_format(form)
    check_target(folder, force, is_release)
