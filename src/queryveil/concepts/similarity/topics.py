"""Topics: the few concepts that a profile of interests is drawn over, and which concept is whose.

Sanchez et al. 2018 profile users on four domains of WordNet, and on nineteen topics below them;
the paper names only some of the nineteen, so ours are fixed here.
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
# are the largest beside them. They hold 1,292 of the four domains' 1,473 concepts, and few
# concepts lie in two of them: the first one listed has it.
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
    """Some topics, and for every concept of a taxonomy the one it belongs to.

    `of[concept]` is a place in `names`, or `OTHER` (-1) for a concept outside all of them. `tops`
    are the concepts that the topics are, where each is one and all below it.
    """

    names: list[str]
    topic_of: NDArray[np.int16]
    roots: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """How many concepts each topic has."""
        return np.bincount(self.topic_of[self.topic_of >= 0], minlength=len(self.names))


def select_topics(
    taxonomy: Taxonomy, concepts: Sequence[int | str], names: Sequence[str] | None = None
) -> Topics:
    """Take these concepts, numbers or names, as topics; each has itself and all below it.

    A concept below several of them belongs to the first. `names` are the labels unless given.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Tennis", "Top/Arts/Music", "Top/News"])
    >>> topics = select_topics(odp, ["Sports", "Top/Arts"])
    >>> topics.names, topics.topic_of[odp.find("Music")], topics.topic_of[odp.find("News")]
    (['Sports', 'Arts'], np.int16(1), np.int16(-1))
    """
    found = [_number(taxonomy, concept) for concept in concepts]
    named = [taxonomy.label(c) for c in found] if names is None else list(names)
    if not found or len(named) != len(found):
        raise UsageError(f"{len(found)} topics cannot have {len(named)} names")
    if len(found) > np.iinfo(np.int16).max:
        raise UsageError(f"{len(found):,} topics are too many", hint="take fewer concepts")
    return Topics(named, _first_topics(taxonomy, found), tuple(found))


def topic_preset(taxonomy: Taxonomy, name: str) -> Topics:
    """Give a ready set of topics.

    `sanchez4` and `sanchez19` are those of Sanchez 2018, on WordNet; `lexicographer` are
    WordNet's own 26 files of nouns; `branches` are the concepts directly below the root.
    """
    presets: dict[str, Callable[[Taxonomy], Topics]] = {
        "sanchez4": lambda wordnet: _fixed(wordnet, _FOUR),
        "sanchez19": lambda wordnet: _fixed(wordnet, _NINETEEN),
        "lexicographer": _lexicographer,
        "branches": lambda tree: select_topics(tree, tree.children(0).tolist()),
    }
    if name not in presets:
        raise UsageError(f'"{name}" is no set of topics', hint=did_you_mean(name, presets))
    return presets[name](taxonomy)


def default_topics(taxonomy: Taxonomy) -> Topics:
    """Give WordNet's lexicographer files where a taxonomy has them, and branches elsewhere."""
    if "lexicographer" not in taxonomy.tags:
        return topic_preset(taxonomy, "branches")
    files = topic_preset(taxonomy, "lexicographer")
    branches = [c for c in taxonomy.children(0).tolist() if files.topic_of[c] == OFF_TOPIC]
    if not branches:
        return files
    beside = select_topics(taxonomy, branches)
    shifted = np.where(beside.topic_of == OFF_TOPIC, OFF_TOPIC, beside.topic_of + len(files))
    both = np.where(files.topic_of == OFF_TOPIC, shifted, files.topic_of)
    return Topics([*files.names, *beside.names], both.astype(np.int16))


def _number(taxonomy: Taxonomy, concept: int | str) -> int:
    if isinstance(concept, str):
        return taxonomy.find(concept)
    if not 0 <= concept < len(taxonomy):
        raise UsageError(f"{taxonomy.title} has no concept {concept}")
    return int(concept)


def _first_topics(taxonomy: Taxonomy, topics: list[int]) -> NDArray[np.int16]:
    """Give for each concept the first of the topics among its ancestors, all in one pass."""
    none = np.int16(np.iinfo(np.int16).max)
    place = np.full(len(taxonomy), none, np.int16)
    place[topics[::-1]] = np.arange(len(topics), dtype=np.int16)[::-1]  # twice: the first holds
    sets = taxonomy.all_ancestors
    held = np.flatnonzero(place[sets.items] != none)
    first = np.full(len(taxonomy), none, np.int16)
    np.minimum.at(first, sets.row_ids[held], place[sets.items[held]])
    first = np.minimum(first, place[0])  # an artificial root is no ancestor, yet has all below
    return np.where(first == none, np.int16(OFF_TOPIC), first).astype(np.int16)


def _fixed(wordnet: Taxonomy, topics: dict[str, str]) -> Topics:
    try:
        return select_topics(wordnet, list(topics), list(topics.values()))
    except UsageError as error:
        raise UsageError(
            f"{wordnet.title} has not the concepts of these topics",
            hint="they are WordNet's; take branches, or name concepts",
        ) from error


def _lexicographer(wordnet: Taxonomy) -> Topics:
    if "lexicographer" not in wordnet.tags:
        raise UsageError(f"{wordnet.title} has no lexicographer files", hint="take branches")
    names = wordnet.tag_names["lexicographer"]
    topics = wordnet.tags["lexicographer"].astype(np.int16)
    for concept in np.flatnonzero(topics == names.index("general")).tolist():
        # The most general nouns have a file of their own: "person" belongs to persons.
        if wordnet.label(concept) in names:
            topics[concept] = names.index(wordnet.label(concept))
    return Topics(list(names), topics)


def ancestors_at_depth(taxonomy: Taxonomy, level: int) -> IntArray:
    """Give every concept's ancestor at a depth, itself included; -1 where it is less deep.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Soccer/UEFA", "Top/Arts"])
    >>> cut = ancestors_at_depth(odp, 2)
    >>> odp.name(cut[odp.find("UEFA")]), cut[odp.find("Arts")].item()
    ('Top/Sports/Soccer', -1)
    """
    if level < 1:
        raise UsageError(f"there is no level {level}", hint="levels begin with 1")
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
    """Count for each level how often each user meant each category of it.

    These are the classification matrices M_1 to M_L of Erola 2011 (Alg. 1), without the zeros:
    tables of user, category and count, sorted. `pairs` has the columns user and concept, and
    may have a count; a concept less deep than a level adds nothing to it.
    """
    if levels < 1:
        raise UsageError(f"{levels} levels cannot be counted", hint="take 1 or more")
    rows = count_concepts(pairs).filter(pl.col("concept") != UNMAPPED)
    return [_level(rows, ancestors_at_depth(taxonomy, level)) for level in range(1, levels + 1)]


def _level(rows: pl.DataFrame, cut: IntArray) -> pl.DataFrame:
    concepts = rows["concept"].to_numpy()
    if len(concepts) and int(concepts.max()) >= len(cut):
        raise UsageError(f"there is no concept {int(concepts.max())} in this taxonomy")
    table = rows.select("user", "count", category=pl.Series(cut[concepts], dtype=pl.Int32))
    deep = table.filter(pl.col("category") >= 0)
    return deep.group_by("user", "category").agg(pl.col("count").sum()).sort("user", "category")


def _first_parents(taxonomy: Taxonomy) -> IntArray:
    """Give each concept's first parent; the root is its own."""
    parents = taxonomy.parents
    above = np.arange(len(taxonomy), dtype=np.int32)
    below = np.flatnonzero(parents.sizes)
    above[below] = parents.items[parents.start[below]]
    return above


def _chain_depths(above: IntArray, root_counts: bool) -> IntArray:
    """Count the concepts on the way of first parents, all concepts one step at a time."""
    depths = np.full(len(above), int(root_counts), np.int32)
    at = above
    climbing = np.flatnonzero(np.arange(len(above)) != above)
    while len(climbing):
        depths[climbing] += 1
        climbing = climbing[at[climbing] != above[at[climbing]]]
        at = above[at]
    return depths
