"""Private replacement of queries: set-up, draws a second against other libraries, AOL's size.

The rivals are asked for one of 1,000 candidates at a time, which is how they are used; ours draws
among all concepts of the domain. diffprivlib runs in an environment of its own under
benchmarks/data (made with `--install`); without it, it is left out.

Usage: replacement.py [--install] [--lines 36389567] [--draws 5000000] [--page]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from frequent_queries import log_of as lines_log
from pages import put_table
from processes import answer, child
from queryveil.core.progress import NoProgress
from queryveil.dp.noise import NoiseSource
from queryveil.methods.replacement.semantic import SemanticReplacement

HERE = Path(__file__).parent
DATA = HERE / "data"
CRITERIA = ("sqc1", "sqc2", "nsqc")
RIVAL_SECONDS = 5.0


def method_of(criterion: str) -> SemanticReplacement:
    """Give the method on the domain `abstraction`, at epsilon 1 a query."""
    return SemanticReplacement(
        criterion=criterion, domain="B", budget_unit="per-query", epsilon=1.0, preserve_length=True
    )


def task_draws(criterion: str, draws: int) -> dict[str, Any]:
    """Set the domain up, and draw."""
    method = method_of(criterion)
    start = time.perf_counter()
    domains = method.domains()
    mechanism = method.mechanism(domains, NoProgress())
    ready = time.perf_counter() - start
    inputs = np.frombuffer(os.urandom(4 * draws), np.uint32) % len(domains.concepts)
    start = time.perf_counter()
    mechanism.replace(inputs.astype(np.int32), NoiseSource(), NoProgress())
    return {
        "setup": ready,
        "seconds": time.perf_counter() - start,
        "concepts": len(domains.concepts),
    }


def task_opendp() -> dict[str, Any]:
    """Ask OpenDP for the noisy maximum of 1,000 candidates, one after the other."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
    scores = [place / 1000 for place in range(1000)]
    return {"a second": _rate(lambda: choose(scores))}


def _rate(once: Any) -> float:
    start, times = time.perf_counter(), 0
    while time.perf_counter() - start < RIVAL_SECONDS:
        once()
        times += 1
    return times / (time.perf_counter() - start)


def whole_log(lines: int) -> dict[str, Any]:
    """Release a large log by the command, and give its card."""
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        command = [sys.executable, "-m", "queryveil", "anonymize", str(lines_log(lines)), "--json"]
        command += ["--method", "semantic-replacement", "--epsilon", "10"]
        command += ["--out", f"{folder}/release", "--ledger", f"{folder}"]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True)
        card = json.loads(done.stdout)
        return {"seconds": time.perf_counter() - start, "peak": card["peak_mb"], **card["output"]}


def install() -> None:
    folder = DATA / "venv-diffprivlib"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    packages = ("diffprivlib==0.6.6", "scikit-learn<1.6")  # later ones break it
    subprocess.run([str(folder / "bin" / "pip"), "install", "-q", *packages], check=True)


def draw_rows(draws: int) -> list[str]:
    """Measure draws and set-ups, cold and with what was kept on disk, beside the rivals."""
    rows = []
    for criterion in CRITERIA:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["XDG_CACHE_HOME"] = cache
            cold, peak = child(__file__, "--task", "draws", criterion, "1000")
            warm, _ = child(__file__, "--task", "draws", criterion, str(draws))
        rows.append(
            f"| set-up of {cold['concepts']:,} concepts, {criterion} | 60 s, 4 GB | "
            f"{cold['setup']:.1f} s, {peak / 1000:.1f} GB; {warm['setup']:.1f} s the next time |"
        )
        rate = draws / warm["seconds"]
        rows.append(f"| replacements a second, {criterion} | 500,000 | {rate:,.0f} |")
    opendp = child(__file__, "--task", "opendp")[0]["a second"]
    rows.append(f"| OpenDP, noisy max of 1,000 candidates | | {opendp:,.0f} a second |")
    rows.append(f"| diffprivlib, Exponential of 1,000 candidates | | {diffprivlib()} |")
    return rows


def diffprivlib() -> str:
    """Run diffprivlib in its own environment, if there is one."""
    python = DATA / "venv-diffprivlib" / "bin" / "python"
    if not python.exists():
        return "not installed"
    command = [str(python), str(HERE / "rival_diffprivlib.py"), str(RIVAL_SECONDS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return f"{float(done.stdout):,.0f} a second"


def table(lines: int, draws: int) -> str:
    rows = ["| work | aim | here |", "|---|---|---|", *draw_rows(draws)]
    whole = whole_log(lines)
    rows.append(
        f"| {lines:,} rows, sqc2, all of WordNet | 15 min | {whole['seconds'] / 60:.1f} min, "
        f"{whole['peak'] / 1000:.1f} GB; {whole['rows']:,} released rows |"
    )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--lines", type=int, default=36_389_567)
    parser.add_argument("--draws", type=int, default=5_000_000)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        answer(globals(), given.task)
        return
    if given.install:
        install()
    found = table(given.lines, given.draws)
    print(found)
    if given.page:
        put_table("replacement", found)


if __name__ == "__main__":
    main()
