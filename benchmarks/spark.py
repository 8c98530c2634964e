"""The Spark engine: its cost from 1 to 100 million lines, against this machine and rivals.

Every piece is a process of its own, with real worker processes (`local-cluster`). Start-up is told
apart. Rivals run from `spark_rivals.py`, each in its own environment; what is not there is left
out.

Usage: spark.py [--lines 1000000,...] [--executors 1,2] [--rivals 18000,180000] [--install]
                [--page]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import queryveil as qv
from dp_statistics import install
from dp_statistics import log_of as pairs_log
from frequent_queries import log_of
from pages import put_table
from processes import answer
from queryveil.core.progress import NoProgress
from queryveil.engine.table import EngineConfig
from spark_rivals import ENVIRONMENTS, RIVALS, tree_kilobytes

HERE = Path(__file__).parent
DATA = HERE / "data"
SCALE = HERE.parent / "docs" / "explanation" / "scale.md"
SIZES = "1000000,10000000,36389567,100000000"
TABLES = "dp-statistics:epsilon=1:delta=1e-7:max-queries-per-user=10:max-clicks-per-user=10"
QUERIES = f"{TABLES}:budget-split=1/0/0"


def _engine(executors: int | str) -> EngineConfig:
    if executors == "local":
        return EngineConfig()
    if executors == "threads":
        return EngineConfig(
            "spark", spark_master="local[2]", spark_config={"spark.driver.memory": "8g"}
        )
    return EngineConfig("spark", spark_master=f"local-cluster[{executors},1,2048]")


def task_methods(path: str, executors: int | str) -> dict[str, Any]:
    """Read a log, describe it, keep frequent queries, and release three tables."""
    return _timed(path, executors, ("frequent-queries", TABLES), described=True)


def task_tables(path: str, executors: int | str) -> dict[str, Any]:
    """Read a log and release three tables."""
    return _timed(path, executors, (TABLES,))


def task_queries(path: str, executors: int | str) -> dict[str, Any]:
    """Release the table of queries alone: the job that rivals do too."""
    return _timed(path, executors, (QUERIES,))


def _timed(
    path: str, executors: int | str, lines: tuple[str, ...], *, described: bool = False
) -> dict[str, Any]:
    seconds, engine = {}, _engine(executors)
    start = time.perf_counter()
    if engine.is_remote:
        kept = engine.open()  # the session lives as long as this
        kept.session.range(1).count()
    seconds["start"] = time.perf_counter() - start
    start = time.perf_counter()
    log = qv.read_log(path, engine=engine)
    seconds["read"] = time.perf_counter() - start
    if described:
        start = time.perf_counter()
        qv.profile(log)
        seconds["profile"] = time.perf_counter() - start
    found: dict[str, Any] = {}
    for line in lines:
        with tempfile.TemporaryDirectory(dir=DATA) as folder:
            start = time.perf_counter()
            release = qv.anonymize(log, line, ledger=f"{folder}/", progress=NoProgress())
            card = release.write(Path(folder) / "out")
            name = line.partition(":")[0]
            seconds[name] = time.perf_counter() - start
            found[name] = card["figures"]["queries"]
    return {"seconds": {n: round(s, 1) for n, s in seconds.items()}, "queries": found}


def child(*words: str) -> dict[str, Any]:
    """Run a task as a process, and watch the memory of all its processes."""
    command = [sys.executable, str(Path(__file__)), "task", *words]
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(command, stdout=told)
        peak = 0
        while process.poll() is None:
            peak = max(peak, tree_kilobytes(process.pid))
            time.sleep(1)
        if process.returncode:
            return {"failed": " ".join(words)}
        told.seek(0)
        found = json.loads(told.read().decode().strip().splitlines()[-1])
    return found | {"peak_mb": peak // 1024}


def sizes_table(sizes: list[int], executors: list[str]) -> str:
    """Measure all sizes, on this machine's engine and on Spark."""
    rows = ["| lines | engine | start | read | three tables | peak |"]
    rows.append("|---:|---|---:|---:|---:|---:|")
    costs: dict[str, list[tuple[int, float]]] = {}
    for lines in sizes:
        for who in executors:
            found = child("tables", str(log_of(lines)), who)
            if "failed" in found:
                continue
            start, *cells = (found["seconds"][n] for n in ("start", "read", "dp-statistics"))
            costs.setdefault(who, []).append((lines, sum(cells)))
            times = " | ".join(f"{cell:,.0f} s" for cell in (start, *cells))
            rows.append(f"| {lines:,} | {_named(who)} | {times} | {found['peak_mb']:,} MB |")
            print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join([*rows, "", *(_fit(who, points) for who, points in costs.items())])


def _named(who: str) -> str:
    return "local" if who == "local" else f"Spark, {who} executor{'s' * (who != '1')}"


def _fit(who: str, points: list[tuple[int, float]]) -> str:
    """Fit the cost: a constant, and seconds for each million lines."""
    if len(points) < 2:
        return ""
    lines, seconds = (np.array(column, float) for column in zip(*points, strict=True))
    slope, constant = np.polyfit(lines / 1e6, seconds, 1)
    last, before = points[-1], points[-2]
    grows = np.log(last[1] / before[1]) / np.log(last[0] / before[0])
    return (
        f"{_named(who)}: {constant:,.0f} s and {slope:.2f} s for each million lines; from "
        f"{before[0]:,} to {last[0]:,} lines the cost grows with the power {grows:.2f}."
    )


def rivals_table(users: list[int]) -> str:
    """Measure the table of queries, ours and those of rivals, one after the other."""
    rows = ["| lines | | queries | seconds | start-up | peak |", "|---:|---|---:|---:|---:|---:|"]
    for number in users:
        path = pairs_log(number)
        lines = qv.read_log(path).accounting.rows
        ours = child("queries", str(path), "threads")
        job = sum(s for name, s in ours["seconds"].items() if name != "start")
        measured = [("queryveil on Spark", ours["queries"]["dp-statistics"], job,
                     ours["seconds"]["start"], ours["peak_mb"])]  # fmt: skip
        measured += [one for one in (_rival(name, path) for name in ENVIRONMENTS) if one]
        for name, queries, seconds, start, peak in measured:
            rows.append(f"| {lines:,} | {name} | {queries:,} | {seconds:,.0f} | {start:,.0f} "
                        f"| {peak:,} MB |")  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join(rows)


def _rival(name: str, path: Path) -> tuple[str, int, float, float, int] | None:
    python = DATA / f"venv-{ENVIRONMENTS[name]}" / "bin" / "python"
    if not python.exists():
        return None
    command = [str(python), str(HERE / "spark_rivals.py"), name, str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return None
    told = json.loads(done.stdout.decode().strip().splitlines()[-1])
    return told["name"], told["queries"], told["seconds"], told["startup_seconds"], told["peak_mb"]


def main() -> None:
    if sys.argv[1:2] == ["task"]:
        answer(globals(), sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", default=SIZES)
    parser.add_argument("--executors", default="local,1,2")
    parser.add_argument("--rivals", default="18000,180000")
    parser.add_argument("--install", action="store_true")
    parser.add_argument(
        "--page", action="store_true", help="put the tables into docs/explanation/scale.md"
    )
    given = parser.parse_args()
    if shutil.which("java") is None:
        sys.exit("there is no Java here")
    if given.install:
        install(RIVALS)
    numbers = [int(n) for n in given.rivals.split(",") if n]
    sizes = [int(n) for n in given.lines.split(",") if n]
    tables = {
        "spark-rivals": rivals_table(numbers) if numbers else "",
        "spark-sizes": sizes_table(sizes, given.executors.split(",")) if sizes else "",
    }
    for name, text in tables.items():
        print(text)
        if given.page and text:
            put_table(name, text, SCALE)


if __name__ == "__main__":
    main()
