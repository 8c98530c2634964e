"""A synthetic log of users with interests: each asks about a few topics, a fixed number of times.

For methods that work on profiles of topics, and for the evaluation of Sanchez et al. 2018, whose
users have about a hundred queries each in four domains. The words come from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl

from ..concepts.loaders.registry import open_taxonomy
from ..concepts.mapping.options import MappingOptions
from ..concepts.similarity.domain_sets import DomainSet, open_domains
from ..concepts.taxonomy.labels import publishable_labels
from ..errors import UsageError
from .distributions import FIRST_DAY, BlockRandom, Floats, Ints

_SPREAD_GROUPS, _SPREAD_TOPICS = 0.5, 0.3  # small: few strong interests
_FAVOUR = 0.4  # how much more popular earlier topics are
_LONGEST_PAUSE = 20_000  # seconds between two queries


def generate_topical(
    words: Sequence[Sequence[str]],
    groups: Sequence[int],
    *,
    users: int,
    queries: int,
    seed: int = 0,
) -> pl.DataFrame:
    """Generate a log of users who send so many queries each, about topics in groups.

    `words` has the queries that may be asked of each topic, `groups` the group of each topic.

    >>> log = generate_topical([["asthma", "flu"], ["tennis"]], [0, 1], users=2, queries=5)
    >>> log.shape, log.columns
    ((10, 5), ['user', 'query', 'time', 'rank', 'url'])
    """
    if not words or not all(words) or len(words) != len(groups):
        raise UsageError("every topic of a synthetic log needs words and a group")
    dice = BlockRandom.for_block(seed, 2**63)  # a block that no other log has
    shares = _sample_weights(np.asarray(groups), users, dice)
    table = np.cumsum(shares, axis=1)
    topic = (dice.uniform(users * queries).reshape(users, queries, 1) > table[:, None, :]).sum(2)
    topic = np.minimum(topic.reshape(-1), len(words) - 1)
    sizes = np.array([len(texts) for texts in words])
    first = np.cumsum(sizes) - sizes
    # Squared, so that the first words of a topic are asked most.
    pick = first[topic] + (dice.uniform(len(topic)) ** 2 * sizes[topic]).astype(np.int64)
    texts = pl.Series("query", [text for topic_words in words for text in topic_words])
    return pl.DataFrame(
        {
            "user": pl.Series(np.repeat(np.arange(1, users + 1), queries)).cast(pl.String),
            "query": texts.gather(pick),
            "time": FIRST_DAY + _times(users, queries, dice).astype("timedelta64[s]"),
        }
    ).with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))


def _sample_weights(groups: Ints, users: int, dice: BlockRandom) -> Floats:
    """Sample each user's weights of topics: of groups first, then of the topics in each."""
    count = int(groups.max()) + 1
    whole = dice.rng.dirichlet(_favoured(count, _SPREAD_GROUPS), users)
    shares = np.empty((users, len(groups)))
    for group in range(count):
        mine = np.flatnonzero(groups == group)
        if len(mine):
            parts = dice.rng.dirichlet(_favoured(len(mine), _SPREAD_TOPICS), users)
            shares[:, mine] = whole[:, [group]] * parts
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _favoured(count: int, spread: float) -> Floats:
    weights = (1.0 + np.arange(count)) ** -_FAVOUR
    return np.asarray(spread * count * weights / weights.sum())


def _times(users: int, queries: int, dice: BlockRandom) -> Ints:
    pauses = dice.integers(_LONGEST_PAUSE, users * queries).reshape(users, queries) + 2_000
    return np.asarray(np.cumsum(pauses, axis=1).reshape(-1))


def topical_rows(about: str, users: int, queries: int, seed: int) -> pl.DataFrame:
    """Generate a log of users who ask about the topics of a domain (`A`, or a list of concepts)."""
    words, groups = _words(about)
    return generate_topical(words, groups, users=users, queries=queries, seed=seed)


@cache
def _words(about: str) -> tuple[list[list[str]], list[int]]:
    """Return the labels of each topic that map to one of its concepts, and its domain."""
    domains = open_domains(open_taxonomy("wordnet"), about, "auto")
    topics, of = domains.topics, domains.topics.topic_of
    concepts = np.unique(domains.concepts)
    names = publishable_labels(domains.taxonomy)
    items, owners = names.of.take(concepts)
    meant = pl.DataFrame({"text": names.texts.gather(items), "topic": of[concepts[owners]]})
    meant = meant.filter(pl.col("topic") >= 0).unique("text", keep="none").sort("text")
    known = meant.filter(pl.Series(_map_to_topic(domains, meant)))
    words = [known.filter(pl.col("topic") == n)["text"].to_list() for n in range(len(topics))]
    used = [number for number, texts in enumerate(words) if texts]
    if len(used) < 2:
        raise UsageError(f'"{about}" has fewer than two topics to be interested in')
    tops = topics.roots or ()
    group = [int(domains.domain_of_concept[tops[n]]) if tops else 0 for n in used]
    return [words[n] for n in used], [max(one, 0) for one in group]


def _map_to_topic(domains: DomainSet, meant: pl.DataFrame) -> list[bool]:
    """Return which texts map to exactly one concept, which is of their topic."""
    mapping = MappingOptions().mapper(domains.taxonomy).map(meant["text"])
    phrases = mapping.phrases.group_by("query").agg(pl.len(), pl.col("concept").first())
    phrases = pl.DataFrame({"query": np.arange(meant.height)}).join(
        phrases, on="query", how="left", maintain_order="left"
    )
    concept = phrases["concept"].fill_null(-1).to_numpy()
    right = domains.topics.topic_of[concept] == meant["topic"].to_numpy()
    return list((concept >= 0) & right & (phrases["len"].to_numpy() == 1))
