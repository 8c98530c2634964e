"""No test is about seconds: how fast something is belongs to the benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
CLOCK = re.compile(r"perf_counter|monotonic\(|process_time|thread_time|time\.time\(")
# Where a clock is needed, and why a busy machine cannot make it fail.
NEEDED = {
    "browser/test_peers_search.py": "ends what hangs",
    "crash/test_kill.py": "kills come at some time of a run, and all is well at any time",
    "house/test_clock.py": "this one",
    "peers/test_node_attacks.py": "a rate is a number a second: more seconds, more is allowed",
    "spark/kills.py": "ends what hangs",
    "unit/release/test_packing.py": "a time for files, which nobody waits for",
}


def test_no_test_takes_the_time() -> None:
    with_clock = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if CLOCK.search(path.read_text("utf-8"))
    }
    assert with_clock <= NEEDED.keys()
