"""dp-statistics: the query table against other libraries, three tables at AOL's size, the ledger.

The rivals run from `dp_rivals.py`, each in an environment of its own under benchmarks/data (made
with `--install`); what is not there is left out. Every piece is a process of its own.

Usage: dp_statistics.py [--install] [--users 18000,180000] [--lines 36389567] [--page]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

import queryveil as qv
from frequent_queries import log_of as lines_log
from frequent_queries import run
from pages import put_table
from processes import answer, child
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.ledger.ledger import Ledger
from queryveil.methods.runner import run_method

HERE = Path(__file__).parent
DATA = HERE / "data"
LINE = "dp-statistics:epsilon=1:delta=1e-7:max-queries-per-user=10:budget-split=1/0/0"
WAYS = ("auto", "gaussian", "guided", "laplace", "weighted", "sips")
RIVALS = {
    "opendp": ("opendp[polars]==0.16.0",),
    "pipeline-dp": ("pipeline-dp==0.3.1", "polars==2.1.0"),
    "tmlt.analytics": ("tmlt.analytics==0.21.0", "polars"),
}


def log_of(users: int) -> Path:
    """Give the synthetic log of so many users, as Parquet, made once."""
    path = DATA / f"pairs-{users}.parquet"
    DATA.mkdir(exist_ok=True)
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=DATA) as folder:
            text = Path(folder) / "log.tsv"
            make = [sys.executable, "-m", "queryveil", "synth", "--users", str(users)]
            run([*make, "--shape", "classic", "--out", str(text)])
            rows = qv.read_log(text).local_frame
            texts = pl.col("user", "query", "url").cast(pl.String)
            rows.with_columns(texts).sink_parquet(path)
    return path


def task_ours(users: int, way: str, prefer: str) -> dict[str, Any]:
    """Release the query table, from the file to the counts."""
    start = time.perf_counter()
    log = qv.read_log(log_of(users))
    method = qv.parse_method(f"{LINE}:selection={way}:contribution-order={prefer}")
    found = run_method(method, log, RandomSource(), NoProgress()).tables["queries"]
    return {"seconds": time.perf_counter() - start, "released": found.height}


def task_tables(lines: int) -> dict[str, Any]:
    """Release the three tables of a large log; reading is timed apart."""
    start = time.perf_counter()
    log = qv.read_log(lines_log(lines))
    read = time.perf_counter() - start
    start = time.perf_counter()
    tables = run_method(qv.parse_method("dp-statistics"), log, RandomSource(), NoProgress()).tables
    sizes = {name: table.height for name, table in tables.items()}
    return {"read": read, "seconds": time.perf_counter() - start, **sizes}


def task_bare(lines: int) -> dict[str, Any]:
    """Bound and count the same three tables with bare Polars, without noise or care."""
    start = time.perf_counter()
    log = qv.read_log(lines_log(lines))
    read = time.perf_counter() - start
    start = time.perf_counter()
    mixed = pl.int_range(pl.len()).shuffle(seed=1).over("user") < 20
    sent = log.local_frame.select("user", "query").unique().filter(mixed)
    queries = sent.group_by("query").len().filter(pl.col("len") >= 250).collect(engine="streaming")
    known = queries.lazy().select("query")
    clicks = (
        log.local_frame.select("user", "query", "url")
        .drop_nulls()
        .join(known, on="query", how="semi")
    )
    clicks = clicks.unique().filter(mixed).group_by("query", "url").len()
    rows = log.local_frame.select("user", "query", "time").sort("user", "time")
    step = rows.with_columns(next=pl.col("query").shift(-1).over("user")).drop_nulls("next")
    step = step.join(known, on="query", how="semi")
    step = step.join(known.rename({"query": "next"}), on="next", how="semi")
    steps = (
        step.select("user", "query", "next").unique().filter(mixed).group_by("query", "next").len()
    )
    clicks.collect(engine="streaming")
    steps.collect(engine="streaming")
    return {"read": read, "seconds": time.perf_counter() - start}


def task_ledger(pairs: int) -> dict[str, Any]:
    """Reserve and confirm so many releases, each on the disk before the next."""
    cost = {"epsilon": Fraction(1), "delta": Fraction(0)}
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        ledger = Ledger.open(Path(folder) / "ledger.db")
        start = time.perf_counter()
        for _ in range(pairs):
            number = ledger.reserve(kind="dp", method="m", log_digest="d", **cost)
            ledger.confirm(number, "digest", "place")
        seconds = time.perf_counter() - start
        ledger.close()
    return {"commits": 2 * pairs / seconds}


def rival(name: str, path: Path) -> dict[str, Any] | None:
    """Run a rival in its own environment, or give nothing where there is none."""
    python = DATA / f"venv-{name}" / "bin" / "python"
    if not python.exists():
        return None
    found = subprocess.run(
        [str(python), str(HERE / "dp_rivals.py"), name, str(path)], check=False, capture_output=True
    )
    return json.loads(found.stdout.splitlines()[-1]) if not found.returncode else None


def install(rivals: dict[str, tuple[str, ...]] = RIVALS) -> None:
    for name, packages in rivals.items():
        folder = DATA / f"venv-{name}"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "-q", *packages], check=True)


def selection_table(sizes: list[int]) -> str:
    """Compare with the rivals, and the ways of selection with each other."""
    rows = ["| log | who | way | time | peak | queries |", "|---|---|---|---:|---:|---:|"]

    def add(*cells: str) -> None:
        rows.append(f"| {' | '.join(cells)} |")
        print(rows[-1], file=sys.stderr)

    for users in sizes:
        size, path = f"{users:,} users", log_of(users)
        for name in RIVALS:
            if (one := rival(name, path)) is not None:
                cost = f"{one['seconds']:.0f} s", f"{one['megabytes'] / 1000:.1f} GB"
                add(size, f"{name} {one['version']}", one["way"], *cost, f"{one['released']:,}")
        for prefer in ("short", "random"):
            for way in WAYS:
                one, peak = child(__file__, "--task", "ours", str(users), way, prefer)
                told = f"{way}, {prefer} queries first" if prefer == "short" else f"{way}, {prefer}"
                cost = f"{one['seconds']:.0f} s", f"{peak / 1000:.1f} GB"
                add(size, "queryveil", told, *cost, f"{one['released']:,}")
    return "\n".join(rows)


def scale_table(lines: int) -> str:
    """Measure the three tables at AOL's size, and the ledger."""
    ours, peak = child(__file__, "--task", "tables", str(lines))
    bare, _ = child(__file__, "--task", "bare", str(lines))
    ledger, _ = child(__file__, "--task", "ledger", "200")
    whole = (ours["read"] + ours["seconds"]) / (bare["read"] + bare["seconds"])
    counts = ", ".join(f"{ours[name]:,} {name}" for name in ("queries", "clicks", "transitions"))
    return "\n".join(
        [
            "| work | aim | here |",
            "|---|---|---|",
            f"| three tables, {lines:,} rows, after reading | 3 times bare Polars, 4 GB | "
            f"{ours['seconds'] / bare['seconds']:.2f} times ({ours['seconds']:.0f} s, "
            f"{bare['seconds']:.0f} s), {peak / 1000:.1f} GB; {whole:.2f} times with reading |",
            f"| their size | | {counts} |",
            f"| commits to the ledger, each synced | 200 a second | {ledger['commits']:,.0f} |",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--users", default="18000,180000")
    parser.add_argument("--lines", type=int, default=36_389_567)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        answer(globals(), given.task)
        return
    if given.install:
        install()
    tables = {
        "dp-scale": scale_table(given.lines),
        "dp-selection": selection_table([int(users) for users in given.users.split(",")]),
    }
    for name, found in tables.items():
        print(found, end="\n\n")
        if given.page:
            put_table(name, found)


if __name__ == "__main__":
    main()
