"""The distance of users by which they are grouped: meaning, topics and neighborhood together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.sparse import csr_matrix, diags
from scipy.spatial.distance import squareform

from ...concepts.similarity.profiles import UNMAPPED, Profiles, profile_distance_matrix
from ...concepts.similarity.topics import default_topics
from ...concepts.taxonomy.graph import Taxonomy

# Weights beside Ds, from docs/explanation/groups.md.
_COSINE = 0.4
_TOPICS = 0.5
_NEIGHBORHOOD = 0.3

Matrix = NDArray[np.float32]


def grouping_distances(
    taxonomy: Taxonomy | None, profiles: Profiles, advance: Callable[[int], None] = lambda _: None
) -> Matrix:
    """Return the distances of all pairs of users, symmetric and not negative.

    To Ds of Batet 2013 are added: one minus the cosine of the counts of concepts, the squared
    Hellinger distance of topics, and the rank of the step at which Ward's clustering joins the two.
    """
    matrix = profile_distance_matrix(taxonomy, profiles, advance)
    neighborhood = _joining_ranks(matrix)
    matrix += _COSINE * _cosine_distances(profiles)
    if taxonomy is not None:
        matrix += _TOPICS * _topic_distances(taxonomy, profiles)
    matrix += _NEIGHBORHOOD * neighborhood
    np.maximum(matrix, 0, out=matrix)
    matrix = matrix.round(6)
    np.fill_diagonal(matrix, 0)
    return np.asarray((matrix + matrix.T) / 2, np.float32)


def _cosine_distances(profiles: Profiles) -> Matrix:
    """Return one minus the cosine of the concept counts of all pairs."""
    concepts, place = np.unique(profiles.lists.items, return_inverse=True)
    counts = csr_matrix(
        (profiles.counts.astype(np.float32), place, profiles.lists.start),
        shape=(len(profiles), len(concepts)),
    )
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    scaled = diags(1 / np.maximum(length, 1e-9)) @ counts
    product = np.asarray((scaled @ scaled.T).todense(), np.float32)
    return np.clip(1 - product, 0, 1)


def _topic_distances(taxonomy: Taxonomy, profiles: Profiles) -> Matrix:
    """Return the squared Hellinger distance of the topics of all pairs."""
    topic_of = default_topics(taxonomy).topic_of
    concept = profiles.lists.items
    topic = np.where(concept == UNMAPPED, -1, topic_of[np.maximum(concept, 0)])
    known = topic >= 0
    counts = np.zeros((len(profiles), int(topic_of.max(initial=0)) + 1))
    np.add.at(counts, (profiles.lists.row_ids[known], topic[known]), profiles.counts[known])
    roots = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).astype(np.float32)
    return np.asarray(np.clip(1 - roots @ roots.T, 0, 1), np.float32)


def _joining_ranks(matrix: Matrix) -> Matrix:
    """Return the rank, from 0 to 1, of the step at which Ward's clustering joins each pair."""
    if len(matrix) < 3:
        return np.zeros_like(matrix)
    tree = linkage(squareform(matrix.astype(np.float64), checks=False), "ward")
    tree[:, 2] = np.argsort(np.argsort(tree[:, 2], kind="stable")) / len(tree)
    return np.asarray(squareform(cophenet(tree).astype(np.float32)), np.float32)
