"""How well sensitive topics are recognized in real web queries, by a sample judged by hand.

The queries are those of `concepts.py`: the efficiency topics of TREC's Terabyte track of 2005. They
stay outside the project; docs/explanation/judged-sensitive.md has verdicts by topic number alone.
The lists were written with the topics of even numbers in view, and are judged on odd numbers.

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
from queryveil.lexicons.sensitive import topic_bits
from queryveil.lexicons.sensitive_terms import TOPICS

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "judged-sensitive.md"
FLAGGED, UNFLAGGED, SEED = 200, 500, 22
# Errors of two earlier samples, by which the lists were corrected; they are not drawn again.
USED = """
    373 653 799 887 1165 4901 8311 8813 8991 9455 9949 10749 11597 12667 13191 14063 14795 16725
    20265 22061 23583 25843 27143 27401 30003 31071 31471 33093 33715 34207 34915 39073 40465 41623
    44625 44795 45415 45423 45613 45645 47103 47967 49667 49981
    81 187 973 1499 2101 2437 4869 5803 7635 8237 9649 10079 10509 11951 12555 15589 17795 17939
    19775 20377 21119 23165 24183 25923 26069 28551 30151 30267 30773 32155 32439 34497 35229 37699
    37703 38089 38883 40441 42947 42991 42995 44171 45033
"""


def sample(queries: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame, int, int]:
    """Give the flagged and the unflagged sample, and out of how many distinct queries each is."""
    odd = queries.to_frame().with_row_index("topic", offset=1).filter(pl.col("topic") % 2 == 1)
    distinct = odd.unique("query", keep="first", maintain_order=True)
    distinct = distinct.filter(~pl.col("topic").is_in([int(number) for number in USED.split()]))
    marked = distinct.with_columns(bits=topic_bits(distinct["query"]))
    parts = [marked.filter(pl.col("bits") != 0), marked.filter(pl.col("bits") == 0)]
    drawn = [
        part.sample(size, seed=SEED).sort("topic")
        for part, size in zip(parts, (FLAGGED, UNFLAGGED), strict=True)
    ]
    return drawn[0], drawn[1], parts[0].height, parts[1].height


@dataclass
class Verdicts:
    """The judged queries by topic number, and of how many queries they were drawn."""

    right: list[int]
    wrong: list[int]
    missed: list[int]
    without: list[int]
    all_flagged: int
    all_unflagged: int

    @classmethod
    def read(cls) -> Verdicts:
        text = PAGE.read_text("utf-8")
        rows = re.findall(r"^\| (\d+) \| [a-z, -]+ \| (right|wrong|missed) \|$", text, re.M)
        found = {name: [int(n) for n, of in rows if of == name] for name in ("right", "wrong")}
        missed = [int(n) for n, of in rows if of == "missed"]
        without = re.findall(r"\d+", text.partition("No sensitive topic have the numbers")[2])
        sizes = re.search(r"out of ([\d,]+) flagged and ([\d,]+) unflagged", text)
        assert sizes is not None
        whole = [int(number.replace(",", "")) for number in sizes.groups()]
        return cls(found["right"], found["wrong"], missed, [int(n) for n in without], *whole)

    def print(self) -> None:
        flagged = len(self.right) + len(self.wrong)
        unflagged = len(self.missed) + len(self.without)
        precision, miss = len(self.right) / flagged, len(self.missed) / unflagged
        right = precision * self.all_flagged
        low, high = interval(len(self.right), flagged)
        print(f"precision {precision:.1%} ({low:.0%} to {high:.0%}), {flagged} flagged queries")
        low, high = interval(len(self.missed), unflagged)
        recall, *ends = (
            right / (right + share * self.all_unflagged) for share in (miss, high, low)
        )
        print(
            f"recall {recall:.1%} ({ends[0]:.0%} to {ends[1]:.0%}), {unflagged} unflagged queries"
        )

    def print_today(self, queries: pl.Series) -> None:
        """Print what today's lists say of the judged queries."""
        for name in ("right", "wrong", "missed", "without"):
            numbers = getattr(self, name)
            texts = queries.gather([number - 1 for number in numbers])
            print(f"{name}: today {int((topic_bits(texts) > 0).sum())} of {len(numbers)} flagged")


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
    if (real := web_queries()) is None:
        print("the queries of TREC cannot be had here")
        return
    flagged, unflagged, all_flagged, all_unflagged = sample(real)
    print(f"today {all_flagged:,} flagged and {all_unflagged:,} unflagged")
    if not chosen.judge:
        Verdicts.read().print_today(real)
    else:
        for topic, text, bits in flagged.iter_rows():
            print(topic, text, names(bits), sep=" | ")
        for topic, text, _ in unflagged.iter_rows():
            print(topic, text, sep=" | ")


if __name__ == "__main__":
    main()
