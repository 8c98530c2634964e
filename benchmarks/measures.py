"""What measuring costs: all measures, a whole comparison, and record linkage of many users.

All measures that run no method again are taken of one release of 1,000 users. The comparison is
that of `queryveil replicate batet2013`: seven methods at five or six values each.

The log is synthetic and made once; it is released by a method, `frequent-queries` unless another
one is named. The measure runs as a process of its own. The plain definition compares a few released
logs with all users by Python's counters; its time is that of all, in proportion, and what it finds
must be what the measure found.

Usage: measures.py [--users 100000] [--method frequent-queries] [--page]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl

import queryveil as qv
from microaggregation import log_of
from pages import put_table
from processes import answer, child
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.measures._shared.queries import released_counts, true_pairs
from queryveil.measures.context import MeasureContext
from queryveil.measures.record_linkage import RecordLinkage, linkage_probabilities
from queryveil.methods.runner import run_method

PLAIN_USERS = 20


def release_of(log: qv.QueryLog, line: str) -> qv.Release:
    return run_method(qv.parse_method(line), log, RandomSource(1), NoProgress())


def task_linkage(users: int, line: str) -> dict[str, Any]:
    """Time the measure alone: the log is read and the release made before."""
    log = log_of(users)
    release = release_of(log, line)
    start = time.perf_counter()
    told = RecordLinkage().compute(MeasureContext(log), release)
    return {"seconds": time.perf_counter() - start, **told}


def task_plain(users: int, line: str) -> dict[str, Any]:
    """Time the definition on a few released users, and see that the measure says the same."""
    log = log_of(users)
    release = release_of(log, line)
    sent = RecordLinkage().original_counts(MeasureContext(log), release)
    logs = released_counts(sent, release)
    pairs = true_pairs(sent.users, logs.users, release)
    some = pairs.gather_every(max(1, pairs.height // PLAIN_USERS)).head(PLAIN_USERS)
    before, after = _counters(sent.rows), _counters(logs.rows.join(some, left_on="owner",
                              right_on="log", how="semi"))  # fmt: skip
    start = time.perf_counter()
    found = {user: _plain_chance(before, after[name], user) for name, user in some.rows()}
    seconds = (time.perf_counter() - start) * pairs.height / some.height
    ours = dict(linkage_probabilities(sent, logs, some).rows())
    return {"seconds": seconds, "same": ours == found, "tried": len(found)}


def task_all(users: int) -> dict[str, Any]:
    """Time all measures that run no method again."""
    log = log_of(users)
    release = release_of(log, "semantic-microaggregation")
    start = time.perf_counter()
    results = qv.measure(log, release)
    taken = [spec for spec, result in results.items() if result.value is not None]
    return {"seconds": time.perf_counter() - start, "taken": len(taken), "of": len(results)}


def task_compare() -> dict[str, Any]:
    """Time the comparison of Batet et al., as a person runs it."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        command = [sys.executable, "-m", "queryveil", "replicate", "batet2013", "--out", str(out)]
        start = time.perf_counter()
        subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE)
        seconds = time.perf_counter() - start
        rows = json.loads((out / "comparison.json").read_text("utf-8"))["rows"]
    runs = {(row["label"], tuple(row["swept"].items())) for row in rows}
    return {"seconds": seconds, "runs": len(runs), "figures": len(rows)}


def _counters(rows: pl.DataFrame) -> dict[int, Counter[int]]:
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for owner, text, count in rows.iter_rows():
        found[owner][text] = count
    return found


def _plain_chance(before: dict[int, Counter[int]], log: Counter[int], user: int) -> float:
    common = {other: (log & own).total() for other, own in before.items()}
    best = max(common.values())
    likely = [other for other, score in common.items() if score == best]
    return 1 / len(likely) if best and user in likely else 0.0


def table(users: int, line: str) -> str:
    ours, peak = child(__file__, "--task", "linkage", str(users), line)
    plain, _ = child(__file__, "--task", "plain", str(users), line)
    if not plain["same"]:
        sys.exit("the plain definition finds something else")
    some, _ = child(__file__, "--task", "all", "1000")
    compared, _ = child(__file__, "--task", "compare")
    rows = ["| work | aim | here |", "|---|---|---|"]
    rows.append(
        f"| {some['taken']} measures that do not rerun the method, 1,000 users | 60 s | "
        f"{some['seconds']:.1f} s |"
    )
    rows.append(
        f"| seven methods at six values, 1,000 users ({compared['runs']} runs, "
        f"{compared['figures']} figures) | 15 min | {compared['seconds'] / 60:.1f} min |"
    )
    rows.append(
        f"| record linkage of {users:,} users, {line} | 5 min, 4 GB | {ours['seconds']:.1f} s, "
        f"{peak / 1000:.1f} GB; {ours['value']:.2f} of 100 users linked |"
    )
    rows.append(
        f"| the same by the plain definition, from {plain['tried']} users | | "
        f"{plain['seconds'] / 60:,.0f} min |"
    )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--method", default="frequent-queries")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        answer(globals(), given.task)
        return
    found = table(given.users, given.method)
    print(found)
    if given.page:
        put_table("measures", found)


if __name__ == "__main__":
    main()
