"""Other differential-privacy libraries: the noisy counts of a log's queries, keys not known before.

A user's whole log is what is protected; it counts once for each of at most so many queries, which
the library itself picks. The budget pays for choosing the queries and for their counts together.
The rival runs as a process of its own and one line of JSON tells what it took. start_seconds are
the imports, finding a noise for the budget and Spark's start; seconds go from opening the file to
the counts in memory; megabytes are the peak of the process with all its children (the JVM too).

Usage: dp_rivals.py opendp|pipeline-dp|tmlt.analytics LOG.parquet [--epsilon 1] [--delta 1e-7]
The file has the columns user and query. Each rival wants a virtual environment of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

Run = Callable[[str], int]
MEMORY = "8g"  # of Spark's JVM


def opendp(epsilon: float, delta: float, queries: int) -> tuple[str, Run]:
    """Polars under OpenDP's Context; half of delta for Gaussian noise, half for the threshold."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    whole = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")

    def affordable(rho: float) -> bool:
        noise = dp.m.make_gaussian(*whole, scale=math.sqrt(0.5 / rho))
        return dp.c.make_zCDP_to_approxDP(noise).map(1).epsilon(delta / 2) <= epsilon

    rho = dp.binary_search(affordable, bounds=(1e-6, max(1.0, epsilon**2)))

    def run(file: str) -> int:
        context = dp.Context.compositor(
            data=pl.scan_parquet(file),
            privacy_unit=dp.unit_of(contributions=1, identifier="user"),
            privacy_loss=dp.loss_of(rho=rho, delta=delta / 2),
            split_evenly_over=1,
        )
        once = context.query().truncate_per_group(1, by=["query"]).truncate_per_group(queries)
        return once.group_by("query").agg(dp.len(signed=True)).release().collect().height

    return "Polars context, Gaussian noise and threshold (zCDP turned into epsilon and delta)", run


def pipeline_dp(epsilon: float, delta: float, queries: int) -> tuple[str, Run]:
    """PipelineDP on its local backend, one Gaussian noise for the threshold and the count."""
    import pipeline_dp as pdp
    import polars as pl

    bounds = pdp.AggregateParams(
        metrics=[pdp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pdp.NoiseKind.GAUSSIAN,
        partition_selection_strategy=pdp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
        post_aggregation_thresholding=True,
        max_partitions_contributed=queries,
        max_contributions_per_partition=1,
    )
    columns = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,  # noqa: ARG005
    )

    def run(file: str) -> int:
        rows = pl.read_parquet(file, columns=["user", "query"]).rows()
        budget = pdp.NaiveBudgetAccountant(epsilon, delta)
        counts = pdp.DPEngine(budget, pdp.LocalBackend()).aggregate(rows, bounds, columns)
        budget.compute_budgets()
        return len(list(counts))

    return "local backend, Gaussian threshold on the noisy count itself", run


def tumult(epsilon: float, delta: float, queries: int) -> tuple[str, Run]:
    """Tumult Analytics: groups for half of epsilon and all of delta, then counts for the rest."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import tmlt.analytics as tmlt
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": MEMORY,
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    spark = SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()

    def run(file: str) -> int:
        session = tmlt.Session.from_dataframe(
            tmlt.ApproxDPBudget(epsilon, delta),
            "log",
            spark.read.parquet(file).select("user", "query"),
            tmlt.AddRowsWithID("user"),
        )
        bounded = (
            tmlt.QueryBuilder("log")
            .enforce(tmlt.MaxGroupsPerID("query", queries))
            .enforce(tmlt.MaxRowsPerGroupPerID("query", 1))
        )
        groups = session.evaluate(
            bounded.get_groups(["query"]), tmlt.ApproxDPBudget(epsilon / 2, delta)
        )
        counts = bounded.groupby(tmlt.KeySet.from_dataframe(groups)).count()
        return len(session.evaluate(counts, session.remaining_privacy_budget).toPandas())

    return "get_groups for half of epsilon, then counts with geometric noise", run


RIVALS = {"opendp": opendp, "pipeline-dp": pipeline_dp, "tmlt.analytics": tumult}


def measure(options: argparse.Namespace) -> None:
    """Run the rival here, and print what is known from inside the process."""
    start = time.perf_counter()
    way, run = RIVALS[options.rival](options.epsilon, options.delta, options.queries)
    ready = time.perf_counter()
    released = run(options.file)
    found = {
        "rival": options.rival,
        "version": version(options.rival),
        "way": way,
        "start_seconds": round(ready - start, 1),
        "seconds": round(time.perf_counter() - ready, 1),
        "released": released,
    }
    print(json.dumps(found))


def tree_kilobytes(process: int) -> int:
    """Sum the memory of a process and all its children, shared pages counted once."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        own = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = {int(c) for task in tasks for c in (task / "children").read_text().split()}
    except (OSError, StopIteration):  # it has just ended
        return 0
    return own + sum(tree_kilobytes(child) for child in children)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rival", choices=RIVALS)
    parser.add_argument("file")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-7)
    parser.add_argument("--queries", type=int, default=10, help="distinct queries a user may add")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        measure(options)
        return
    command = [sys.executable, __file__, *sys.argv[1:], "--inside"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, tree_kilobytes(process.pid))
        time.sleep(0.2)
    if process.returncode:
        sys.exit(f"{options.rival} failed")
    found = json.loads(process.stdout.read().splitlines()[-1])  # type: ignore[union-attr]
    print(json.dumps(found | {"megabytes": peak // 1024}))


if __name__ == "__main__":
    main()
