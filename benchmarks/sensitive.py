"""How well sensitive topics are recognized in real web queries, by a sample judged by hand.

The queries are those of `concepts.py`: the efficiency topics of TREC's Terabyte track of 2005. They
stay outside the project; docs/explanation/judged-sensitive.md has verdicts by topic number alone. The
lists were written with the topics of even numbers in view, and are judged on those of odd numbers.

Usage: sensitive.py             precision and estimated recall, by the verdicts of the page
       sensitive.py --judge     prints the sample with its texts, for judging by hand
       sensitive.py --rate      distinct queries a second on one core
"""

from __future__ import annotations

import argparse
import math
import re
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from concepts import one_core, synthetic_queries, web_queries
from queryveil.lexicons.sensitive import TOPICS, topic_bits

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "judged-sensitive.md"
FLAGGED, UNFLAGGED, SEED = 200, 500, 21
# Errors of a first sample, by which the lists were corrected; they are not drawn again.
USED = (
    373, 653, 799, 887, 1165, 4901, 8311, 8813, 8991, 9455, 9949, 10749, 11597, 12667, 13191, 14063,
    14795, 16725, 20265, 22061, 23583, 25843, 27143, 27401, 30003, 31071, 31471, 33093, 33715, 34207,
    34915, 39073, 40465, 41623, 44625, 44795, 45415, 45423, 45613, 45645, 47103, 47967, 49667, 49981,
)  # fmt: skip


def sample(queries: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame, int, int]:
    """Give the flagged and the unflagged sample, and out of how many distinct queries each is."""
    odd = queries.to_frame().with_row_index("topic", offset=1).filter(pl.col("topic") % 2 == 1)
    distinct = odd.unique("query", keep="first", maintain_order=True)
    distinct = distinct.filter(~pl.col("topic").is_in(USED))
    marked = distinct.with_columns(bits=topic_bits(distinct["query"]))
    parts = [marked.filter(pl.col("bits") != 0), marked.filter(pl.col("bits") == 0)]
    drawn = [
        part.sample(size, seed=SEED).sort("topic")
        for part, size in zip(parts, (FLAGGED, UNFLAGGED), strict=True)
    ]
    return drawn[0], drawn[1], parts[0].height, parts[1].height


@dataclass
class Verdicts:
    """Topic numbers of wrong flags and of missed queries, and the sizes that the page states."""

    flagged: int
    wrong: int
    unflagged: int
    missed: int
    all_flagged: int
    all_unflagged: int

    @classmethod
    def read(cls) -> Verdicts:
        text = PAGE.read_text("utf-8")
        rows = re.findall(r"^\| (\d+) \| [a-z, -]+ \| (right|wrong) \|$", text, re.M)
        missed = re.findall(r"^\| (\d+) \| [a-z, -]+ \| missed \|$", text, re.M)
        sizes = re.search(r"out of ([\d,]+) flagged and ([\d,]+) unflagged", text)
        drawn = re.search(r"and ([\d,]+) of the unflagged", text)
        assert sizes and drawn
        whole = [int(number.replace(",", "")) for number in (*sizes.groups(), drawn[1])]
        wrong = sum(verdict == "wrong" for _, verdict in rows)
        return cls(len(rows), wrong, whole[2], len(missed), whole[0], whole[1])

    def print(self) -> None:
        precision = 1 - self.wrong / self.flagged
        miss = self.missed / self.unflagged
        right = precision * self.all_flagged
        low, high = interval(self.missed, self.unflagged)
        print(f"precision {precision:.1%} ({self.flagged - self.wrong} of {self.flagged})")
        print(f"recall, estimated {right / (right + miss * self.all_unflagged):.1%}")
        ends = [right / (right + share * self.all_unflagged) for share in (high, low)]
        print(f"95% interval of the recall {ends[0]:.1%} to {ends[1]:.1%}")


def interval(found: int, size: int) -> tuple[float, float]:
    """Give the 95% interval of a share (Wilson)."""
    z = 1.96
    middle = (found + z * z / 2) / (size + z * z)
    half = z / (size + z * z) * math.sqrt(found * (size - found) / size + z * z / 4)
    return middle - half, middle + half


def names(bits: int) -> str:
    return ", ".join(name for place, name in enumerate(TOPICS) if bits & (1 << place))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--rate", action="store_true")
    chosen = parser.parse_args()
    if chosen.rate:
        one_core()
        queries = synthetic_queries(400_000)
        topic_bits(queries.head(10))
        start = time.perf_counter()
        topic_bits(queries)
        print(f"{len(queries) / (time.perf_counter() - start):,.0f} distinct queries a second")
        return
    if not chosen.judge:
        Verdicts.read().print()
    if (queries_or_none := web_queries()) is None:
        print("the queries of TREC cannot be had here")
        return
    flagged, unflagged, all_flagged, all_unflagged = sample(queries_or_none)
    print(f"now {all_flagged:,} flagged and {all_unflagged:,} unflagged")
    if chosen.judge:
        for topic, text, bits in flagged.iter_rows():
            print(topic, text, names(bits), sep=" | ")
        for topic, text, _ in unflagged.iter_rows():
            print(topic, text, sep=" | ")


if __name__ == "__main__":
    main()
