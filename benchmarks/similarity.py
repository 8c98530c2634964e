"""Distances and similarities of a million random pairs of WordNet's concepts.

Each measurement opens WordNet anew, so that what the first use costs is included. Where the
library `wn` is installed with the data of WordNet, its rate is measured too.

Usage: similarity.py
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import queryveil
from queryveil.concepts.similarity.distance import pairwise_distances, pairwise_similarities
from queryveil.concepts.taxonomy.graph import Taxonomy

WORDNET = Path(queryveil.__file__).parent / "concepts" / "data" / "wordnet.qvt"
ABSTRACTION = "n#00002137"
PAIRS = 1_000_000
FEW = 2_000


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return round(time.perf_counter() - start, 4)


def of_equation(measure: Callable[..., object], domain: str | None) -> dict[str, float]:
    """Measure the first million pairs of a fresh taxonomy, and the next."""
    wordnet = Taxonomy.open(WORDNET)
    within = [] if domain is None else [wordnet.find(domain)]
    fresh = Taxonomy.open(WORDNET)  # one whose ancestors nobody has asked for
    inside = wordnet.descendants(within[0]) if within else np.arange(len(wordnet))
    first, second = np.random.default_rng(1).choice(inside, (2, PAIRS))
    return {
        "first use": seconds(lambda: measure(fresh, first, second, *within)),
        "again": seconds(lambda: measure(fresh, first, second, *within)),
    }


def of_wn() -> float | None:
    """Give how many pairs a second the library `wn` compares, if it is there with data."""
    try:
        import wn
        from wn.similarity import path
    except ImportError:
        return None
    lexicons = [one for one in wn.lexicons() if one.language == "en"]
    if not lexicons:
        return None
    nouns = wn.Wordnet(lexicons[0].specifier()).synsets(pos="n")
    pairs = np.random.default_rng(1).integers(0, len(nouns), (FEW, 2)).tolist()
    return round(FEW / seconds(lambda: [path(nouns[a], nouns[b]) for a, b in pairs]), 1)


def run() -> dict[str, Any]:
    """Measure all: seconds for a million pairs of each equation, pairs a second of `wn`."""
    return {
        "pairs": PAIRS,
        "distance, Batet 2013 eq. (1)": of_equation(pairwise_distances, None),
        "similarity, Sanchez 2018 eq. (5)": of_equation(pairwise_similarities, None),
        "similarity inside abstraction": of_equation(pairwise_similarities, ABSTRACTION),
        "wn, pairs a second": of_wn(),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
