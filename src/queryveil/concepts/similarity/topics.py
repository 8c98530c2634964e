"""Topics: the categories of a profile of interests, and the topic of each concept.

Sanchez et al. 2018 profile users on four domains of WordNet, and on nineteen topics below them.
The paper names only some of the nineteen, so this module fixes a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import UsageError, did_you_mean
from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy
from .profiles import UNMAPPED, count_concepts

OFF_TOPIC = -1

_FOUR = {
    "n#14070360": "disease",
    "n#05999797": "scientific discipline",
    "n#00523513": "sport",
    "n#07288639": "social event",
}

# Direct children of the four. The paper names respiratory and genetic disease, natural and
# social science, contact and water sport, show and competition (WordNet's contest); the others
# are the largest other children. They cover 1,292 of the 1,473 concepts of the four domains. Few
# concepts lie in two of them; these belong to the first one listed.
_NINETEEN = {
    "n#14122053": "communicable disease",
    "n#14219661": "skin disease",
    "n#14276936": "plant disease",
    "n#14253124": "animal disease",
    "n#14151139": "genetic disease",
    "n#14237561": "malignancy",
    "n#14171682": "inflammatory disease",
    "n#14145095": "respiratory disease",
    "n#06000400": "natural science",
    "n#06000644": "mathematics",
    "n#06143154": "social science",
    "n#06172789": "linguistics",
    "n#06136258": "psychology",
    "n#00463246": "athletic game",
    "n#00441824": "water sport",
    "n#00433458": "contact sport",
    "n#07456188": "contest",
    "n#06619065": "show",
    "n#07447261": "affair",
}


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics, and the topic of every concept of a taxonomy.

    `topic_of[concept]` is an index into `names`, or `OFF_TOPIC` (-1) for a concept outside all
    topics. `roots` are the concepts of the topics, where each topic is a concept and all below it.
    """

    names: list[str]
    topic_of: NDArray[np.int16]
    roots: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """The number of concepts of each topic."""
        return np.bincount(self.topic_of[self.topic_of >= 0], minlength=len(self.names))


def select_topics(
    taxonomy: Taxonomy, concepts: Sequence[int | str], names: Sequence[str] | None = None
) -> Topics:
    """Build topics from concepts (numbers or names); each has the concept and all below it.

    A concept below several topics belongs to the first. The default of `names` are the labels.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Tennis", "Top/Arts/Music", "Top/News"])
    >>> topics = select_topics(odp, ["Sports", "Top/Arts"])
    >>> topics.names, topics.topic_of[odp.find("Music")], topics.topic_of[odp.find("News")]
    (['Sports', 'Arts'], np.int16(1), np.int16(-1))
    """
    roots = [_resolve_concept(taxonomy, concept) for concept in concepts]
    titles = [taxonomy.label(c) for c in roots] if names is None else list(names)
    if not roots or len(titles) != len(roots):
        raise UsageError(f"topics need one name each: {len(roots)} topics, {len(titles)} names")
    if len(roots) > np.iinfo(np.int16).max:
        raise UsageError(
            f"{len(roots):,} topics are too many", hint=f"at most {np.iinfo(np.int16).max:,}"
        )
    return Topics(titles, _first_topics(taxonomy, roots), tuple(roots))


def topic_preset(taxonomy: Taxonomy, name: str) -> Topics:
    """Return a predefined set of topics.

    `sanchez4` and `sanchez19` are those of Sanchez 2018, on WordNet; `lexicographer` are
    WordNet's own 26 files of nouns; `branches` are the concepts directly below the root.
    """
    presets: dict[str, Callable[[Taxonomy], Topics]] = {
        "sanchez4": lambda wordnet: _select_wordnet_topics(wordnet, _FOUR),
        "sanchez19": lambda wordnet: _select_wordnet_topics(wordnet, _NINETEEN),
        "lexicographer": _lexicographer_topics,
        "branches": lambda tree: select_topics(tree, tree.children(0).tolist()),
    }
    if name not in presets:
        raise UsageError(f'there is no set of topics "{name}"', hint=did_you_mean(name, presets))
    return presets[name](taxonomy)


def default_topics(taxonomy: Taxonomy) -> Topics:
    """Return WordNet's lexicographer files if a taxonomy has them, plus other branches."""
    if "lexicographer" not in taxonomy.tags:
        return topic_preset(taxonomy, "branches")
    files = topic_preset(taxonomy, "lexicographer")
    branches = [c for c in taxonomy.children(0).tolist() if files.topic_of[c] == OFF_TOPIC]
    if not branches:
        return files
    others = select_topics(taxonomy, branches)
    shifted = np.where(others.topic_of == OFF_TOPIC, OFF_TOPIC, others.topic_of + len(files))
    topic_of = np.where(files.topic_of == OFF_TOPIC, shifted, files.topic_of)
    return Topics([*files.names, *others.names], topic_of.astype(np.int16))


def _resolve_concept(taxonomy: Taxonomy, concept: int | str) -> int:
    if isinstance(concept, str):
        return taxonomy.find(concept)
    if not 0 <= concept < len(taxonomy):
        raise UsageError(f"{taxonomy.title} has no concept {concept}")
    return int(concept)


def _first_topics(taxonomy: Taxonomy, topics: list[int]) -> NDArray[np.int16]:
    """Return for each concept the first of the topics among its ancestors, in one pass."""
    none = np.int16(np.iinfo(np.int16).max)
    rank = np.full(len(taxonomy), none, np.int16)
    # Reversed: of a repeated topic the first index stays.
    rank[topics[::-1]] = np.arange(len(topics), dtype=np.int16)[::-1]
    sets = taxonomy.all_ancestors
    hits = np.flatnonzero(rank[sets.items] != none)
    first = np.full(len(taxonomy), none, np.int16)
    np.minimum.at(first, sets.row_ids[hits], rank[sets.items[hits]])
    first = np.minimum(first, rank[0])  # an artificial root is in no ancestor set, but is above all
    return np.where(first == none, np.int16(OFF_TOPIC), first).astype(np.int16)


def _select_wordnet_topics(wordnet: Taxonomy, topics: dict[str, str]) -> Topics:
    try:
        return select_topics(wordnet, list(topics), list(topics.values()))
    except UsageError as error:
        raise UsageError(
            f"{wordnet.title} does not have the concepts of these topics",
            hint="they are WordNet's; use branches, or name concepts",
        ) from error


def _lexicographer_topics(wordnet: Taxonomy) -> Topics:
    if "lexicographer" not in wordnet.tags:
        raise UsageError(f"{wordnet.title} has no lexicographer files", hint="use branches")
    names = wordnet.tag_names["lexicographer"]
    topics = wordnet.tags["lexicographer"].astype(np.int16)
    for concept in np.flatnonzero(topics == names.index("general")).tolist():
        # The most general nouns are in a file of their own. Such a noun belongs to the file
        # that has its name: the concept "person" to the file "person".
        if wordnet.label(concept) in names:
            topics[concept] = names.index(wordnet.label(concept))
    return Topics(list(names), topics)


def ancestors_at_depth(taxonomy: Taxonomy, level: int) -> IntArray:
    """Return the ancestor (or the concept itself) of every concept at a depth.

    Of several parents the first is followed. Concepts that are less deep have -1.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Soccer/UEFA", "Top/Arts"])
    >>> cut = ancestors_at_depth(odp, 2)
    >>> odp.name(cut[odp.find("UEFA")]), cut[odp.find("Arts")].item()
    ('Top/Sports/Soccer', -1)
    """
    if level < 1:
        raise UsageError(f"there is no level {level}", hint="levels start at 1")
    above = _first_parents(taxonomy)
    depths = _chain_depths(above, taxonomy.has_real_root)
    cut = np.arange(len(taxonomy), dtype=np.int32)
    while len(deeper := np.flatnonzero(depths[cut] > level)):
        cut[deeper] = above[cut[deeper]]
    cut[depths < level] = -1
    return cut


def level_matrices(
    taxonomy: Taxonomy, pairs: pl.DataFrame | pl.LazyFrame, levels: int
) -> list[pl.DataFrame]:
    """Count for each level the categories of each user.

    These are the classification matrices M_1 to M_L of Erola 2011 (Alg. 1) in sparse form: tables
    of user, category and count, sorted. `pairs` has the columns user and concept, and
    may have a count; a concept less deep than a level adds nothing to it.
    """
    if levels < 1:
        raise UsageError(f"levels must be at least 1, got {levels}")
    rows = count_concepts(pairs).filter(pl.col("concept") != UNMAPPED)
    return [
        _count_categories(rows, ancestors_at_depth(taxonomy, level))
        for level in range(1, levels + 1)
    ]


def _count_categories(rows: pl.DataFrame, cut: IntArray) -> pl.DataFrame:
    concepts = rows["concept"].to_numpy()
    if len(concepts) and int(concepts.max()) >= len(cut):
        raise UsageError(f"there is no concept {int(concepts.max())} in this taxonomy")
    table = rows.select("user", "count", category=pl.Series(cut[concepts], dtype=pl.Int32))
    deep = table.filter(pl.col("category") >= 0)
    return deep.group_by("user", "category").agg(pl.col("count").sum()).sort("user", "category")


def _first_parents(taxonomy: Taxonomy) -> IntArray:
    """Return the first parent of each concept; that of the root is the root."""
    parents = taxonomy.parents
    above = np.arange(len(taxonomy), dtype=np.int32)
    below = np.flatnonzero(parents.sizes)
    above[below] = parents.items[parents.start[below]]
    return above


def _chain_depths(above: IntArray, root_counts: bool) -> IntArray:
    """Count the concepts on the chain of first parents, one step for all concepts at a time."""
    depths = np.full(len(above), int(root_counts), np.int32)
    at = above
    climbing = np.flatnonzero(np.arange(len(above)) != above)
    while len(climbing):
        depths[climbing] += 1
        climbing = climbing[at[climbing] != above[at[climbing]]]
        at = above[at]
    return depths
