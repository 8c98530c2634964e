"""The microaggregation family: a thousand users against a plain version, AOL's size, a peer.

Every piece runs as a process of its own, on synthetic logs that are made once. Times are those
after the mapping of queries to concepts. The peer is anonypyx (benchmarks/requirements.txt); it is
left out where it is not installed.

Usage: microaggregation.py [--users 657426] [--page]
       microaggregation.py --refined      what refinement gains for k = 2 to 7
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import queryveil as qv
from frequent_queries import run
from pages import put_table
from processes import answer, child
from queryveil.concepts.similarity.profiles import Profiles, profile_distance_matrix
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.methods.microaggregation.distances import grouping_distances
from queryveil.methods.microaggregation.grouping import mdav, mean_intra_group_distance
from queryveil.methods.microaggregation.refinement import refine_groups
from queryveil.methods.microaggregation.semantic import partition_profiles
from queryveil.methods.runner import run_method

DATA = Path(__file__).parent / "data"
K = 5
PEER_RECORDS, PEER_COLUMNS = 16_000, 10


def log_of(users: int, shape: str = "classic") -> qv.QueryLog:
    """Read the synthetic log of so many users, made once; published times are of `classic`."""
    path = DATA / f"synthetic-{users}-users{'' if shape == 'classic' else f'-{shape}'}.tsv"
    DATA.mkdir(exist_ok=True)
    if not path.exists():
        make = [sys.executable, "-m", "queryveil", "synth", "--users", str(users)]
        run([*make, "--shape", shape, "--out", str(path)])
    return qv.read_log(path)


def profiles_of(users: int) -> tuple[Taxonomy, Profiles]:
    """Map a log and give its users' profiles."""
    log = log_of(users)
    found = qv.map_log(log)
    return found.taxonomy, found.profiles(log)


def task_release(users: int, how: str) -> dict[str, Any]:
    """Run the whole method; the seconds are those of all stages but the mapping."""
    log, progress = log_of(users), NoProgress()
    method = qv.SemanticMicroaggregation(k=K, blocking=how)
    start = time.perf_counter()
    made = run_method(method, log, RandomSource(1), progress).mapping
    seconds = time.perf_counter() - start - progress.seconds["find concepts"]
    return {"seconds": seconds, "users": 0 if made is None else made.height}


def task_plain(users: int) -> dict[str, Any]:
    """Compare all pairs of some users by the definition, with Python's sets."""
    taxonomy, profiles = profiles_of(1_000)
    sets = taxonomy.all_ancestors
    logs = [
        [
            (frozenset(sets[concept].tolist()), int(n))
            for concept, n in zip(*profiles.profile(u), strict=True)
        ]
        for u in range(users)
        if profiles.profile(u)[0][0] >= 0
    ]
    start = time.perf_counter()
    for one, two in combinations(logs, 2):
        _plain_distance(one, two)
    return {"seconds": (time.perf_counter() - start) * 499_500 / (users * (users - 1) / 2)}


def _plain_distance(one: list[Any], two: list[Any]) -> float:
    def side(these: list[Any], those: list[Any]) -> float:
        return sum(n * min(1 - len(a & b) / len(a | b) for b, _ in those) for a, n in these)

    return (side(one, two) + side(two, one)) / sum(n for _, n in [*one, *two])


def task_quality(users: int) -> dict[str, Any]:
    """Compare blocked with exact groups, and with random ones."""
    taxonomy, profiles = profiles_of(users)
    matrix = grouping_distances(taxonomy, profiles)
    found = {
        how: mean_intra_group_distance(
            matrix, partition_profiles(taxonomy, profiles, K, how, True, NoProgress())
        )
        for how in ("exact", "blocked")
    }
    mixed = np.minimum(RandomSource(1).permutation(len(profiles)) // K, len(profiles) // K - 1)
    return {**found, "random": mean_intra_group_distance(matrix, mixed.astype(np.int64))}


def task_matrix(users: int) -> dict[str, Any]:
    """Time the distances of all users and MDAV alone."""
    taxonomy, profiles = profiles_of(users)
    start = time.perf_counter()
    mdav(profile_distance_matrix(taxonomy, profiles), K)
    return {"seconds": time.perf_counter() - start}


def task_peer(records: int) -> dict[str, Any]:
    """Time anonypyx's MDAV on numbers."""
    try:
        import pandas as pd
        from anonypyx.microaggregation import MDAVGeneric
    except ImportError:
        return {}
    numbers = (RandomSource(1).uint64s(records * PEER_COLUMNS) % 10_000).astype(np.int64)
    table = pd.DataFrame(numbers.reshape(records, -1).astype(float))
    start = time.perf_counter()
    MDAVGeneric(table, list(table.columns)).partition(K)
    return {"seconds": time.perf_counter() - start}


def task_refined(users: int, k: int) -> dict[str, Any]:
    """Show what refinement gains at one k, on the distance that groups are formed by."""
    taxonomy, profiles = profiles_of(users)
    matrix = grouping_distances(taxonomy, profiles)
    start = time.perf_counter()
    plain = mdav(matrix, k)
    middle = time.perf_counter()
    better = refine_groups(matrix, plain)
    return {
        "seconds": time.perf_counter() - middle,
        "mdav seconds": middle - start,
        "within": [mean_intra_group_distance(matrix, group) for group in (plain, better)],
    }


def table(users: int) -> str:
    """Measure everything and draw the table."""
    rows = ["| work | aim | here |", "|---|---|---|"]

    def add(work: str, aim: str, here: str) -> None:
        rows.append(f"| {work} | {aim} | {here} |")
        print(rows[-1], file=sys.stderr)

    small, plain = _run("release", 1_000, "exact"), _run("plain", 100)
    bare = _run("matrix", 1_000)
    add("1,000 users, k = 5, exact, whole release", "5 s", f"{small['seconds']:.1f} s")
    ratio = plain["seconds"] / bare["seconds"]
    add(
        "its distances and groups, against plain Python (from 100 users)",
        "200 times",
        f"{ratio:,.0f} times ({bare['seconds']:.2f} s, {plain['seconds']:,.0f} s)",
    )
    exact, blocked = _run("release", 2_500, "exact"), _run("release", 10_000, "blocked")
    add("2,500 users, exact", "", _cost(exact))
    add("10,000 users, blocked", "", _cost(blocked))
    large = _run("release", users, "blocked")
    growth = large["seconds"] / users / (blocked["seconds"] / 10_000)
    add(f"{users:,} users, blocked", "15 min, 8 GB", _cost(large))
    add("its cost per user against that of 10,000", "2 times", f"{growth:.2f} times")
    found = _run("quality", 2_500)
    worse = found["blocked"] / found["exact"] - 1
    add(
        "distance within groups, 2,500 users, three blocks against exact",
        "5% worse",
        f"{worse:.1%} worse ({found['blocked']:.3f}, {found['exact']:.3f}; "
        f"random {found['random']:.3f})",
    )
    ours, peer = _run("matrix", PEER_RECORDS), _run("peer", PEER_RECORDS)
    add(
        f"{PEER_RECORDS:,} users, distances and MDAV; anonypyx, {PEER_COLUMNS} numbers each",
        "ahead",
        f"{_cost(ours)} against {_cost(peer) if 'seconds' in peer else 'not installed'}",
    )
    return "\n".join(rows)


def refined() -> str:
    """Draw what refinement gains."""
    rows = ["| k | within groups | MDAV | refinement |", "|---:|---|---:|---:|"]
    for k in range(2, 8):
        found = _run("refined", 1_000, k)
        before, after = found["within"]
        gain = f"{before:.3f} → {after:.3f} ({1 - after / before:.1%} less)"
        rows.append(f"| {k} | {gain} | {found['mdav seconds']:.2f} s | {found['seconds']:.2f} s |")
        print(rows[-1], file=sys.stderr)
    return "\n".join(rows)


def _run(name: str, *values: int | str) -> dict[str, Any]:
    found, peak = child(__file__, "--task", name, *map(str, values))
    return {**found, "mb": peak}


def _cost(found: dict[str, Any]) -> str:
    seconds = found["seconds"]
    spent = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
    return f"{spent}, {found['mb'] / 1000:.1f} GB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=657_426)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--refined", action="store_true")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        answer(globals(), given.task)
        return
    found = refined() if given.refined else table(given.users)
    print(found)
    if given.page and not given.refined:
        put_table("microaggregation", found)


if __name__ == "__main__":
    main()
