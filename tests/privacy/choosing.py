"""Small domains, and the criteria of Sanchez 2018 written a second time, from the equations."""

from __future__ import annotations

from math import log2

import numpy as np

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.similarity.domains import (
    Domain,
    IdentityScore,
    SimilarityScore,
    build_domain,
    similarity_score,
)
from queryveil.concepts.similarity.topics import Topics, select_topics
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.dp.exponential.weights import Candidates, ExponentialWeights

CRITERIA = ("sqc1", "sqc2", "nsqc")
EDGES = {
    "entity": [],
    "disease": ["entity"],
    "tool": ["entity"],
    "lungs": ["disease"],
    "infection": ["disease"],
    "asthma": ["lungs"],
    "cough": ["lungs"],
    "pneumonia": ["lungs", "infection"],
    "flu": ["lungs", "infection"],
    "measles": ["infection"],
    "inhaler": ["tool", "lungs"],  # one parent lies outside the domain
}


def graph(edges: dict[str, list[str]]) -> Taxonomy:
    """Make a taxonomy of names with their parents, which come first."""
    draft = TaxonomyBuilder("hand-made")
    for line, name in enumerate(edges, 1):
        draft.add(name, line, name)
    places = {name: place for place, name in enumerate(edges)}
    for name, above in edges.items():
        for parent in above:
            draft.edge(places[name], places[parent])
    return draft.build(RepairLog("here"))


class Case:
    """A domain with topics inside, small enough to look at every pair."""

    def __init__(self, taxonomy: Taxonomy, top: str, topics: list[str]) -> None:
        self.taxonomy, self.top = taxonomy, taxonomy.find(top)
        self.topics: Topics = select_topics(taxonomy, topics)
        self.domain: Domain = build_domain(taxonomy, self.top, self.topics)

    def scores(self, criterion: str) -> SimilarityScore | IdentityScore:
        if criterion == "nsqc":
            return IdentityScore(len(self.domain))
        return similarity_score(self.domain, self.topics if criterion == "sqc2" else None)

    def choices(self, criterion: str) -> Candidates:
        return Candidates.of(self.scores(criterion))

    def oracle(self, criterion: str) -> np.ndarray:
        """Give eq. (5), (6) or (12) for all pairs, in the order of the domain."""
        inside = set(self.taxonomy.descendants(self.top).tolist())
        sets = [
            set(self.taxonomy.ancestors(int(concept)).tolist()) & inside
            for concept in self.domain.concepts
        ]
        topics = self.topics.topic_of[self.domain.concepts].tolist()
        return np.array(
            [
                [
                    _score(criterion, i == o, sets[i], sets[o], topics[i] == topics[o])
                    for o in range(len(sets))
                ]
                for i in range(len(sets))
            ]
        )


def _score(criterion: str, same: bool, one: set[int], two: set[int], topic: bool) -> float:
    if criterion == "nsqc":
        return float(same)
    if criterion == "sqc2" and not topic:
        return 0.0
    union = len(one | two)
    return 1 - log2(1 + (union - len(one & two)) / union)


def hand_made() -> Case:
    return Case(graph(EDGES), "disease", ["lungs", "infection"])


def sport() -> Case:
    wordnet = open_taxonomy("wordnet")
    return Case(wordnet, "n#00523513", ["n#00463246", "n#00441824", "n#00433458"])


def table_of(weights: ExponentialWeights) -> np.ndarray:
    """Write out the weight of every output for every input."""
    scores, sizes = weights.choices.scores, weights.choices.scores.sizes
    starts = np.concatenate([[0], np.cumsum(sizes)])
    table = np.full((starts[-1], starts[-1]), weights.levels[-1], np.int64)
    for row in range(len(sizes)):
        near, levels = scores.near(row), scores.levels(row)
        mine = slice(starts[row], starts[row + 1])
        table[mine, starts[near.start] : starts[near.stop]] = np.repeat(
            weights.levels[levels], sizes[near]
        )
    np.fill_diagonal(table, weights.levels[0])
    return table


def log_chances(weights: ExponentialWeights) -> np.ndarray:
    """Give the logarithm of each chance, in 64 bits of precision: integers are held exactly."""
    table = table_of(weights).astype(np.longdouble)
    return np.log(table) - np.log(table.sum(axis=1, keepdims=True))


def apart(logs: np.ndarray) -> float:
    """Give the greatest log-ratio of one output under two inputs, looking at all."""
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def chi_square(drawn: np.ndarray, chances: np.ndarray) -> tuple[float, float]:
    """Give the statistic, rare outputs taken together, and what it exceeds once in 10^8."""
    expected = chances * len(drawn)
    seen = np.bincount(drawn, minlength=len(chances))
    often = expected >= 10
    if expected[~often].sum() > 0:
        expected = np.append(expected[often], expected[~often].sum())
        seen = np.append(seen[often], seen[~often].sum())
    free = max(len(expected) - 1, 1)
    value = float(((seen - expected) ** 2 / expected).sum())
    # Wilson and Hilferty: the cube root is nearly normal.
    return value, free * (1 - 2 / (9 * free) + 5.6 * (2 / (9 * free)) ** 0.5) ** 3
