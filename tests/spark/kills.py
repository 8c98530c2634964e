"""Work for executors that leaves a trace of every attempt, and what kills them in mid-run."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from queryveil.core.randomness import RandomSource
from queryveil.engine.table import PartitionOutput

__all__ = ["Traced", "executors", "while_killing"]


class Traced:
    """Draws a number for each share, and notes it where the test can see it, before it is kept."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = str(folder), seconds

    def __call__(self, frame: pl.LazyFrame, chance: RandomSource) -> PartitionOutput:
        rows = frame.select("user").unique().collect().with_columns(pl.col("user").cast(pl.String))
        drawn = int(chance.uint64s(1)[0] >> 1)
        Path(self.folder, f"{rows['user'].sort()[0]}-{drawn}").touch()
        time.sleep(self.seconds)
        return PartitionOutput(
            rows.with_columns(drawn=pl.lit(drawn, pl.Int64)), None, {"shares": 1}
        )


def executors() -> list[int]:
    """List the processes that are executors of a local cluster of ours."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.decode().splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, _ in rows}
    found = [int(pid) for pid, _, args in rows if "CoarseGrainedExecutorBackend" in args]
    return [pid for pid in found if os.getpid() in _above(pid, parents)]


def _above(pid: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while (pid := parents.get(pid, 0)) > 0:
        found.add(pid)
    return found


def while_killing(job: Callable[[], Any], begun: Callable[[], bool]) -> Any:
    """Run a job, and kill its executors for real as soon as it has begun."""
    killed: list[int] = []

    def kill() -> None:
        until = time.monotonic() + 600
        while not begun() and time.monotonic() < until:
            time.sleep(0.05)
        killed.extend(executors())
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = job()
    killer.join()
    assert killed
    return found
