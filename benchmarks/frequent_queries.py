"""frequent-queries against a plain Polars script, from 100 thousand lines to AOL's size.

Both run as processes of their own, one after the other, on the same synthetic log, so that
the ratio means something on a noisy machine. Prints a table; `--page` also puts it into
docs/explanation/benchmarks.md.

Usage: frequent_queries.py [--lines 100000,1000000] [--rounds 2] [--page]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pages import put_table

HERE = Path(__file__).parent
SIZES = "100000,1000000,10000000,36389567"


def log_of(lines: int) -> Path:
    """Give the synthetic log of that size, made once."""
    path = HERE / "data" / f"synthetic-{lines}.tsv"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        make = [sys.executable, "-m", "queryveil", "synth", "--shape", "classic"]
        run([*make, "--lines", str(lines), "--out", str(path)])
    return path


def run(command: list[str]) -> tuple[float, int]:
    """Run a command and give its seconds and its peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}\n{child.stderr.read().decode()}")  # type: ignore[union-attr]
    return time.perf_counter() - start, usage.ru_maxrss // 1024


def measure(lines: int, rounds: int) -> tuple[tuple[float, int], tuple[float, int]]:
    """Run both, in turn, and keep the better time of each and the larger memory."""
    log, ours, plain = log_of(lines), [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=HERE / "data") as scratch:
            script, out = str(HERE / "plain_polars.py"), str(Path(scratch) / "out")
            plain.append(run([sys.executable, script, str(log), f"{out}.parquet"]))
            anonymize = [sys.executable, "-m", "queryveil", "anonymize", str(log), "--quiet"]
            ours.append(run([*anonymize, "--method", "frequent-queries", "--out", out]))
            shutil.rmtree(out)
    best = [(min(s for s, _ in runs), max(mb for _, mb in runs)) for runs in (plain, ours)]
    return best[0], best[1]


def table(sizes: list[int], rounds: int) -> str:
    """Measure all sizes and draw the table."""
    rows = ["| rows | plain Polars | queryveil | ratio | plain, peak | queryveil, peak |"]
    rows.append("|---:|---:|---:|---:|---:|---:|")
    for lines in sizes:
        plain, ours = measure(lines, rounds)
        rows.append(
            f"| {lines:,} | {plain[0]:.1f} s | {ours[0]:.1f} s | {ours[0] / plain[0]:.2f} "
            f"| {plain[1]:,} MB | {ours[1]:,} MB |"
        )
        print(rows[-1], file=sys.stderr)
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", default=SIZES)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    found = table([int(size) for size in given.lines.split(",")], given.rounds)
    print(found)
    if given.page:
        put_table("frequent-queries", found)


if __name__ == "__main__":
    main()
