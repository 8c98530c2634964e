"""Logs with texts that a setting drops, and releases of them that are extended twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numbered_method import Slotted, known

import queryveil as qv
from queryveil.release.cards import PrivateCard

METHOD = "frequent-queries:min-users=3:min-click-users=3"


def write_log(folder: Path, queries: Mapping[str, int]) -> Path:
    """Write a log in a folder of its own, in which so many users send each query."""
    path = folder / "logs" / "log.csv"
    path.parent.mkdir()
    rows = [
        f"u{user},{query},2006-03-01 10:00:00\n"
        for query, users in queries.items()
        for user in range(users)
    ]
    path.write_text("user,query,time\n" + "".join(rows))
    return path


def add_days(path: Path, days: int, rows: Sequence[tuple[str, str]]) -> qv.QueryLog:
    """Let a log have so many days after the first one, each with these rows.

    Returns the log since its last day.
    """
    header, *lines = path.read_text().splitlines()
    first = [line for line in lines if "2006-03-01" in line]
    later = [
        f"{user},{query},2006-03-0{day} 10:00:00"
        for day in range(2, 2 + days)
        for user, query in rows
    ]
    path.write_text("\n".join([header, *first, *later]) + "\n")
    return qv.read_log(path, since=f"2006-03-0{1 + days}")


def extend_twice(
    path: Path,
    folder: Path,
    rows: Sequence[tuple[str, str]],
    first: Mapping[str, Any],
    second: Mapping[str, Any],
) -> tuple[PrivateCard, PrivateCard]:
    """Release a log, extend the release with its own settings, and that one with others.

    Returns the cards of both extensions; the folders are `a`, `b` and `c`.
    """
    with known():
        method = Slotted(max_phrases_per_user=9)
        qv.anonymize_to_folder(add_days(path, 0, rows), method, folder / "a", **first)
        alike = qv.extend_release(add_days(path, 1, rows), folder / "a", folder / "b")
        later = add_days(path, 2, rows)
        return alike, qv.extend_release(later, folder / "b", folder / "c", **second)
