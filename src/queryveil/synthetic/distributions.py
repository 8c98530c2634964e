"""The distributions of the synthetic log: all figures, and the random source.

The figures named AOL are the statistics that its log of 2006 was published with (U500k_README).
The others are chosen so that the log they make measures like it.

numpy's random numbers are used here and nowhere else in queryveil: this is test data that protects
nobody. Only uniform numbers are drawn from them, because those are the same on every machine and
in every version of numpy; each other distribution is a table that a uniform number is looked up in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Hashes: TypeAlias = NDArray[np.uint64]

AOL_LINES = 36_389_567
AOL_USERS = 657_426
AOL_NEW_QUERIES = 21_011_340
AOL_NEXT_PAGES = 7_887_022
AOL_CLICKS = 19_442_629
AOL_DISTINCT = 10_154_742

# Lines of a user: lognormal, so that most have few and some very many. AOL's mean is 55.35.
LINES_MEDIAN = 20
LINES_MEAN = AOL_LINES / AOL_USERS
LINES_MOST = 20_000

# What a line is. AOL's lines that are neither new queries nor next pages must be further clicks.
NEW = AOL_NEW_QUERIES / AOL_LINES
FURTHER_CLICK = 1 - NEW - AOL_NEXT_PAGES / AOL_LINES
NEW_SESSION = 0.25  # of lines: sessions have four lines on average
SESSIONS_MOST = 500  # expected for the busiest user, about five a day
RESENT_AT_START = 0.1  # of a session's first queries: the user's own earlier query again
RESENT_LATER = 0.04  # of a session's later new queries
REFORMULATED = 0.42  # of a session's later new queries
CLICKED_ALONE = 0.42  # of new queries without a further click; yields AOL's fraction of clicks

# Places of clicks: of the first one, and of a further one below it. Four in ten are at the top.
RANKS, RANK_LAW = 500, (2.2, 0.0)
STEPS, STEP_LAW = 20, (1.5, 0.0)

# When. A pause of 30 minutes ends a session; people search by day.
FIRST_DAY = np.datetime64("2006-03-01", "us")
DAYS = 92
PAUSE = 30 * 60  # in seconds
LEAST_GAP = 5  # from one line to the next, then up to so many more, mostly few
GAPS, GAP_LAW = 1500, (1.6, 20.0)
HOURS = (16, 10, 6, 4, 3, 4, 8, 16, 28, 38, 44, 46, 47, 47, 48, 50, 52, 52, 52, 54, 56, 54, 44, 28)

# What a new query asks for.
ASKED = (0.7, 0.24, 0.06)  # a word of a topic, a site by its name, a person
OWN_TOPIC = 0.85  # of topical queries: one of the user's own topics
TOPICS_OF_USER = (0.25, 0.3, 0.2, 0.15, 0.1)  # how many users have 1, 2, .. 5 topics
HOME = 0.5  # of places: where the user lives
SITE_FORMS = (0.55, 0.25, 0.2)  # name, name.example, www.name.example

# The optional parts of a topical query. A terse one has none, in others each is there or not.
TERSE = 0.38
BEFORE = 0.3  # "free ..", "pictures of .."
SECOND = 0.57  # another word of the topic
AFTER = 0.6  # ".. reviews", ".. for sale"
PLACE = 0.4
KEPT = 0.85  # of reformulations: the part is exchanged or added, else it is removed

# How unevenly things are asked for: exponents and shifts of Zipf's law.
TOPIC_LAW = (0.8, 3.0)
WORD_LAW = (0.75, 3.0)
SECOND_LAW = (0.2, 3.0)
PHRASE_LAW = (0.7, 2.0)
PLACE_LAW = (0.8, 5.0)
SITE_LAW = (1.1, 0.0)
SITES = 20_000
RARE_SITE = 0.6  # of queries for sites: one that hardly anybody else asks for

# Clicks that lead to one of the large sites, which have something on every topic.
LARGE_SITE_CLICKS = 0.2
LARGE_SITES = 2000

# Oddities, as fractions of new queries and so of rows.
DASH = 0.0125  # a query that is only "-", as AOL's log has them
UNTIDY = 0.003  # punctuation or double blanks
PERSONAL = 0.0005  # made-up e-mail addresses, telephone, card and security numbers, tokens


@dataclass(frozen=True)
class BlockRandom:
    """The random numbers of one block of the log, the same for the same seed and block."""

    rng: np.random.Generator

    @classmethod
    def for_block(cls, seed: int, block: int) -> BlockRandom:
        """Return the random source of a block."""
        key = np.array([seed, block], dtype=np.uint64)
        return cls(np.random.Generator(np.random.Philox(key=key)))

    def uniform(self, size: int) -> Floats:
        """Sample from 0 (included) to 1 (excluded)."""
        return self.rng.random(size)

    def bernoulli(self, probability: float | Floats, size: int) -> Bools:
        """Sample Booleans that are True with a probability."""
        return self.uniform(size) < probability

    def integers(self, limit: int | Ints, size: int) -> Ints:
        """Sample integers from 0 to below a limit, uniformly."""
        return (self.uniform(size) * limit).astype(np.int64)

    def zipf(self, table: Floats, size: int, limit: int | Ints | None = None) -> Ints:
        """Sample indices from a table of cumulative weights, only its first ``limit`` entries."""
        numbers = self.uniform(size)
        if limit is not None:
            numbers *= table[np.asarray(limit) - 1]
        return np.searchsorted(table, numbers, side="right").astype(np.int64)


def cumulative_table(weights: ArrayLike) -> Floats:
    """Return the cumulative distribution of weights. It ends in exactly 1."""
    sums = np.cumsum(weights, dtype=np.float64)
    table: Floats = sums / sums[-1]
    return table


@cache
def zipf_table(size: int, exponent: float, shift: float) -> Floats:
    """Return the table of Zipf's law: the r-th of ``size`` weighs (r + shift) ** -exponent."""
    return cumulative_table((np.arange(1, size + 1) + shift) ** -exponent)


def last_true_index(mask: Bools) -> Ints:
    """Return for every index the last True one up to it.

    >>> last_true_index(np.array([True, False, True, False, False])).tolist()
    [0, 0, 2, 2, 2]
    """
    indices: Ints = np.maximum.accumulate(np.where(mask, np.arange(len(mask)), 0))
    return indices
