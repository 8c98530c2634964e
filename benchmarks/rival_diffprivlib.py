"""Ask diffprivlib for one of 1,000 candidates, again and again; print how often a second."""

from __future__ import annotations

import sys
import time

from diffprivlib.mechanisms import Exponential

choose = Exponential(epsilon=1.0, sensitivity=1.0, utility=[place / 1000 for place in range(1000)])
start, times = time.perf_counter(), 0
while time.perf_counter() - start < float(sys.argv[1]):
    choose.randomise()
    times += 1
print(times / (time.perf_counter() - start))
