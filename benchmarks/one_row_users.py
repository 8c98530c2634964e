"""How memory and time grow with users who have one row each.

Such users are the hard case: there are as many profiles, pseudonyms and shares of a budget as rows.
`semantic-replacement` writes 100 rows for each of them whatever they sent, so that a million users
are a hundred million rows. Each run, from reading the log to the verified release with the search
for identifiers, is a process of its own. What is measured is its time on the processor, and its
peak of memory.

Shapes: `same`, all send one query; `words`, each sends words that nobody else does; `synth`,
queries of the synthetic log.

Usage: one_row_users.py [--users 100000 300000 1000000] [--shapes same words synth] [--methods ...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl

import queryveil as qv
from processes import answer, child
from queryveil.synthetic.generator import generate_blocks

METHODS = ("semantic-replacement", "semantic-microaggregation")
SHAPES = ("same", "words", "synth")
SYLLABLES = ("ba", "ke", "lo", "mi", "ru", "ta", "so", "ne", "vi", "do")


def queries_of(shape: str, users: int) -> list[str]:
    """Make a query for each user."""
    if shape == "same":
        return ["red shoes"] * users
    if shape == "words":
        return [f"{_word(n)} {_word(7 * n + 3)}" for n in range(users)]
    found: list[str] = []
    for block in generate_blocks(None, lines=users, seed=1, shape="classic"):
        found += block["query"].cast(pl.String).to_list()
    return found[:users]


def _word(number: int) -> str:
    return "".join(SYLLABLES[int(digit)] for digit in str(number))


def task_run(method: str, shape: str, users: int) -> dict[str, Any]:
    """Read a log, protect it, write it and verify it; a refusal is an outcome too."""
    with tempfile.TemporaryDirectory() as folder:
        path, names = Path(folder) / "log.csv", count()
        queries = queries_of(shape, users)
        table = pl.DataFrame({"user": [f"u{next(names)}" for _ in queries], "query": queries})
        table.write_csv(path)
        del table, queries
        start = time.process_time()
        try:
            log = qv.read_log(path)
            qv.anonymize(log, method, seed=1).write(Path(folder) / "out")
        except qv.QueryveilError as error:
            return {"seconds": time.process_time() - start, "said": error.what}
        return {"seconds": time.process_time() - start, "said": ""}


def main() -> None:
    """Run all, smaller ones first, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--shapes", nargs="+", default=SHAPES, choices=SHAPES)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    asked = parser.parse_args()
    print("| method | queries | users | processor time (s) | peak of memory |")
    print("|---|---|---|---|---|")
    for method in asked.methods:
        for shape in asked.shapes:
            for users in asked.users:
                found, peak = child(__file__, "task", "run", method, shape, str(users))
                said = f" ({found['said']})" if found["said"] else ""
                seconds = f"{found['seconds']:.0f}{said}"
                row = f"| {method} | {shape} | {users:,} | {seconds} | {peak:,} MB |"
                print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["task"]:
        answer(globals(), sys.argv[2:])
    else:
        main()
