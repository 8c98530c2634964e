"""Other differential-privacy libraries on Spark: the noisy counts of a log's queries.

The same work as `dp_rivals.py`: the keys are not known before, a user counts once for each of at
most so many distinct queries, and the budget pays for the keys and for their counts together. The
rival runs in a process of its own. startup_seconds are the imports and Spark's session; seconds go
from opening the file to the counts in the driver's memory; peak_mb is the memory of the process
with all its children (the JVM, executors and Python's workers), shared pages counted once.

Usage: spark_rivals.py tumult|pipeline-dp LOG.parquet [--master local[2]] [--limit 900]
The file has the columns user and query. Each rival wants a virtual environment of its own, of
Python 3.11, and Java 17 (`RIVALS` holds the packages, `ENVIRONMENTS` the name of the environment):
    benchmarks/data/venv-tmlt.analytics: pip install tmlt.analytics==0.21.0 pyspark==3.5.9
    benchmarks/data/venv-pipeline-dp: pip install pipeline-dp==0.3.1 pyspark==3.5.9
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

RIVALS = {
    "pipeline-dp": ("pipeline-dp==0.3.1", "pyspark==3.5.9"),
    "tmlt.analytics": ("tmlt.analytics==0.21.0", "pyspark==3.5.9"),
}
ENVIRONMENTS = {"tumult": "tmlt.analytics", "pipeline-dp": "pipeline-dp"}
MEMORY = "8g"  # of the driver's JVM, which is the only one of local[N]
PARTS = "8"  # of a shuffle: Spark's own 200 would only slow down two cores
EVERY = 1.0  # seconds between two looks at the memory, as a look at a large JVM is not free
Run = Callable[[Any, argparse.Namespace], int]


def tumult() -> Run:
    """Tumult Analytics: groups for half of epsilon and all of delta, then counts for the rest.

    The bounded log is a cached view, so that it is made once for the two questions.
    """
    import tmlt.analytics as tmlt

    def run(spark: Any, given: argparse.Namespace) -> int:
        session = tmlt.Session.from_dataframe(
            tmlt.ApproxDPBudget(given.epsilon, given.delta),
            "log",
            spark.read.parquet(given.file).select("user", "query"),
            tmlt.AddRowsWithID("user"),
        )
        bounds = (
            tmlt.QueryBuilder("log")
            .enforce(tmlt.MaxGroupsPerID("query", given.queries))
            .enforce(tmlt.MaxRowsPerGroupPerID("query", 1))
        )
        session.create_view(bounds, "bounded", cache=True)
        bounded = tmlt.QueryBuilder("bounded")
        groups = session.evaluate(
            bounded.get_groups(["query"]), tmlt.ApproxDPBudget(given.epsilon / 2, given.delta)
        )
        counts = bounded.groupby(tmlt.KeySet.from_dataframe(groups)).count()
        return len(session.evaluate(counts, session.remaining_privacy_budget).toPandas())

    return run


def pipeline_dp() -> Run:
    """PipelineDP on Spark's RDDs, one Gaussian noise for the threshold and the count."""
    import pipeline_dp as pdp

    def run(spark: Any, given: argparse.Namespace) -> int:
        bounds = pdp.AggregateParams(
            metrics=[pdp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=pdp.NoiseKind.GAUSSIAN,
            partition_selection_strategy=pdp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
            post_aggregation_thresholding=True,
            max_partitions_contributed=given.queries,
            max_contributions_per_partition=1,
        )
        columns = pdp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,  # noqa: ARG005
        )
        rows = spark.read.parquet(given.file).select("user", "query").rdd
        budget = pdp.NaiveBudgetAccountant(given.epsilon, given.delta)
        engine = pdp.DPEngine(budget, pdp.SparkRDDBackend(spark.sparkContext))
        counts = engine.aggregate(rows, bounds, columns)
        budget.compute_budgets()
        return len(counts.collect())

    return run


WAYS = {"tumult": tumult, "pipeline-dp": pipeline_dp}


def spark_session(master: str, scratch: str) -> Any:
    """Start Spark; a cluster on this machine gets executors as large as its workers."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.default.parallelism": PARTS,
        "spark.driver.memory": MEMORY,
        "spark.local.dir": scratch,
        "spark.sql.shuffle.partitions": PARTS,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if cluster := re.fullmatch(r"local-cluster\[\d+,\d+,(\d+)\]", master.replace(" ", "")):
        settings["spark.executor.memory"] = f"{cluster[1]}m"
    spark = SparkSession.builder.master(master).config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def measure(given: argparse.Namespace) -> None:
    """Run the rival here, and print what is known from inside the process."""
    start = time.perf_counter()
    spark = spark_session(given.master, given.inside)
    atexit.register(spark.stop)  # before Tumult's import: its own cleaning up has to come first
    run = WAYS[given.rival]()
    ready = time.perf_counter()
    queries = run(spark, given)
    done = time.perf_counter()
    package = ENVIRONMENTS[given.rival]
    found = {
        "name": f"{package} {version(package)}, Spark {spark.version}",
        "queries": queries,
        "seconds": round(done - ready, 1),
        "startup_seconds": round(ready - start, 1),
    }
    print(json.dumps(found), flush=True)


def children(process: int) -> set[int]:
    """Find the children of a process; a thread that has just ended hides only its own."""
    found: set[int] = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(int(child) for child in task.read_text().split())
    return found


def tree_kilobytes(process: int) -> int:
    """Sum the memory of a process and all its children, shared pages counted once.

    The one of `dp_rivals.py` gives nothing for a JVM of which a thread ends in between.
    """
    own = 0
    with contextlib.suppress(OSError, StopIteration):  # it has just ended
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        own = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    return own + sum(tree_kilobytes(child) for child in children(process))


def watched(process: subprocess.Popen[str], limit: float) -> int:
    """Wait for a process and give its peak in kilobytes; end it and its group at the limit."""
    start, peak = time.monotonic(), 0
    while process.poll() is None:
        peak = max(peak, tree_kilobytes(process.pid))
        if time.monotonic() - start > limit:
            os.killpg(process.pid, signal.SIGKILL)
            sys.exit(f"stopped after {limit:.0f} s, with {peak // 1024} MB at its peak")
        time.sleep(EVERY)
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rival", choices=WAYS)
    parser.add_argument("file")
    parser.add_argument("--master", default="local[2]", help="or local-cluster[2,1,2048]")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-7)
    parser.add_argument("--queries", type=int, default=10, help="distinct queries a user may add")
    parser.add_argument("--limit", type=float, default=900, help="seconds a run may take")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        measure(given)
        return
    surroundings = {"SPARK_LOCAL_IP": "127.0.0.1", **os.environ, "PYSPARK_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        command = [sys.executable, __file__, *sys.argv[1:], "--inside", scratch]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=surroundings, start_new_session=True
        )
        peak = watched(process, given.limit)
    if process.returncode:
        sys.exit(f"{given.rival} failed")
    found = json.loads(process.stdout.read().splitlines()[-1])  # type: ignore[union-attr]
    print(json.dumps(found | {"peak_mb": peak // 1024}))


if __name__ == "__main__":
    main()
