"""What the queries are about.

A query is five parts, each a place in a table of the vocabulary: "cheap" "guitar" "violin"
"lessons" "austin". A reformulation draws one part anew and carries the others forward. Texts are
rendered only at the end, so everything before works on integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import polars as pl

from . import distributions as shape
from .distributions import BlockRandom, Bools, Ints, last_true_index
from .vocabulary import QueryVocabulary, mix64, site_parts


class Intent(IntEnum):
    """What a query asks for."""

    TOPIC = 0
    SITE = 1
    PERSON = 2


class QueryPart(IntEnum):
    """The parts of a query in the order of writing."""

    BEFORE = 0
    WORD = 1
    SECOND = 2
    AFTER = 3
    PLACE = 4


# The part that a reformulation changes, by what is asked for; one of five at random.
REFORMULATED_PARTS = np.array(
    [
        list(QueryPart),
        [QueryPart.AFTER] * 5,
        [QueryPart.AFTER, QueryPart.AFTER, QueryPart.AFTER, QueryPart.PLACE, QueryPart.PLACE],
    ]
)


@dataclass(frozen=True)
class UserTraits:
    """What the users of a block are interested in, and where they live."""

    topics: Ints  # one row per user
    many: Ints  # how many of them count
    home: Ints


@dataclass(frozen=True)
class QueryWriter:
    """Draws the parts of queries for a block of users."""

    words: QueryVocabulary
    dice: BlockRandom

    def draw_users(self, users: int) -> UserTraits:
        """Draw what users are interested in and where they live."""
        max_topics = len(shape.TOPICS_OF_USER)
        return UserTraits(
            topics=self._topics(users * max_topics).reshape(users, max_topics),
            many=1 + self.dice.zipf(shape.cumulative_table(shape.TOPICS_OF_USER), users),
            home=self._places(users),
        )

    def draw_parts(self, user: Ints, fresh: Bools, people: UserTraits) -> Ints:
        """Draw new queries in the order of sending; a row per part, a column per query."""
        size = len(user)
        base = last_true_index(fresh)
        asked = self.dice.zipf(shape.cumulative_table(shape.ASKED), size)[base]
        topic = self._interests(user, people)[base]
        home = people.home[user]
        parts = np.zeros((len(QueryPart), size), dtype=np.int64)
        topics, sites, persons = (np.flatnonzero(asked == what) for what in Intent)
        parts[:, topics] = self._topical(topic[topics], home[topics], fresh[topics])
        parts[:, sites] = self._site(fresh[sites])
        parts[:, persons] = self._person(home[persons], fresh[persons])
        changed = REFORMULATED_PARTS[asked, self.dice.integers(len(QueryPart), size)]
        return self._carried(parts, fresh, changed)

    def _carried(self, parts: Ints, fresh: Bools, changed: Ints) -> Ints:
        """Carry the parts that a reformulation does not change over from the query before."""
        carried = np.stack(
            [parts[part][last_true_index(fresh | (changed == part))] for part in QueryPart]
        )
        before, word, second, after, _ = carried
        second[second == 1 + word] = 0  # not "guitar guitar"
        before[(before == 1) & (after != 1)] = 0  # nor "www." without ".example"
        return carried

    def _topics(self, size: int) -> Ints:
        return self.dice.zipf(shape.zipf_table(len(self.words.topics), *shape.TOPIC_LAW), size)

    def _places(self, size: int) -> Ints:
        return 1 + self.dice.zipf(
            shape.zipf_table(len(self.words.places) - 1, *shape.PLACE_LAW), size
        )

    def _interests(self, user: Ints, people: UserTraits) -> Ints:
        """Draw a topic for every query, mostly one of the user's own."""
        size = len(user)
        own = people.topics[user, self.dice.integers(people.many[user], size)]
        return np.where(self.dice.bernoulli(shape.OWN_TOPIC, size), own, self._topics(size))

    def _word(self, topic: Ints, law: tuple[float, float]) -> Ints:
        table = shape.zipf_table(int(self.words.sizes.max()), *law)
        rank = self.dice.zipf(table, len(topic), self.words.sizes[topic])
        return self.words.starts[topic] + rank

    def _phrase(self, table: pl.Series, size: int) -> Ints:
        """Draw a phrase; the first two places of its table are "nothing" and part of a site."""
        return 2 + self.dice.zipf(shape.zipf_table(len(table) - 2, *shape.PHRASE_LAW), size)

    def _maybe(self, probability: float, part: Ints, fresh: Bools) -> Ints:
        """Leave out an optional part. A reformulation keeps it more often, being about it."""
        there = self.dice.bernoulli(np.where(fresh, probability, shape.KEPT), len(part))
        return np.where(there, part, 0)

    def _place(self, home: Ints, fresh: Bools) -> Ints:
        size = len(home)
        place = np.where(self.dice.bernoulli(shape.HOME, size), home, self._places(size))
        return self._maybe(shape.PLACE, place, fresh)

    def _after(self, fresh: Bools) -> Ints:
        return self._maybe(shape.AFTER, self._phrase(self.words.afters, len(fresh)), fresh)

    def _topical(self, topic: Ints, home: Ints, fresh: Bools) -> Ints:
        """Ask for a word of a topic: "cheap guitar violin lessons austin"."""
        before = self._phrase(self.words.befores, len(topic))
        second = 1 + self._word(topic, shape.SECOND_LAW)
        word = self._word(topic, shape.WORD_LAW)
        parts = np.stack(
            [
                self._maybe(shape.BEFORE, before, fresh),
                word,
                self._maybe(shape.SECOND, second, fresh),
                self._after(fresh),
                self._place(home, fresh),
            ]
        )
        terse = fresh & self.dice.bernoulli(shape.TERSE, len(topic))
        return np.where(terse & (np.arange(len(QueryPart)) != QueryPart.WORD)[:, None], 0, parts)

    def _site(self, fresh: Bools) -> tuple[Ints, ...]:
        """Ask for a site: "guitarbarn", "guitarbarn.example" or "www.guitarbarn.example"."""
        size = len(fresh)
        word, ending = site_parts(self._sites(size), self.words)
        form = self.dice.zipf(shape.cumulative_table(shape.SITE_FORMS), size)
        before = (form == 2).astype(np.int64)
        after = np.where(fresh, form >= 1, self._after(fresh))
        return before, word, self.words.ending + ending, after, np.zeros_like(word)

    def _sites(self, size: int) -> Ints:
        popular = self.dice.zipf(shape.zipf_table(shape.SITES, *shape.SITE_LAW), size)
        rare = self.dice.bernoulli(shape.RARE_SITE, size)
        return np.where(rare, shape.SITES + self.dice.integers(2**40, size), popular)

    def _person(self, home: Ints, fresh: Bools) -> tuple[Ints, ...]:
        """Ask for somebody: "jorin talvek austin"."""
        size, words = len(home), self.words
        given = words.given + self.dice.integers(len(words.words) - words.given, size)
        family = words.family + self.dice.integers(len(words.seconds) - words.family, size)
        after = np.where(fresh, 0, self._after(fresh))
        return np.zeros_like(home), given, family, after, self._place(home, fresh)


# What untidy queries have after their word and at their end; the first is for tidy ones.
GAPS = pl.Series(["", " ", " ", "", "", "", ""])
ENDS = pl.Series(["", "", " ", "?", "!", ",", " ."])

CARD_PREFIX = 400_000_000_000_000  # and nine digits more, then a check digit


def render_queries(parts: Ints, words: QueryVocabulary, dice: BlockRandom) -> pl.Series:
    """Write queries out, a few of them as a dash or a personal identifier instead."""
    size = parts.shape[1]
    place = np.arange(size)
    personal = np.flatnonzero(dice.bernoulli(shape.PERSONAL, size))
    place[personal] = size + np.arange(len(personal))
    place[dice.bernoulli(shape.DASH, size)] = size + len(personal)
    others = [identifier(n, words) for n in dice.integers(10**15, len(personal)).tolist()]
    return _texts(parts, words, dice).append(pl.Series([*others, "-"])).gather(place)


def _texts(parts: Ints, words: QueryVocabulary, dice: BlockRandom) -> pl.Series:
    """Put the parts of queries together."""
    size = parts.shape[1]
    untidy = np.where(dice.bernoulli(shape.UNTIDY, size), 1 + dice.integers(len(GAPS) - 1, size), 0)
    columns = (
        (words.befores, parts[QueryPart.BEFORE]),
        (words.words, parts[QueryPart.WORD]),
        (GAPS, untidy),
        (words.seconds, parts[QueryPart.SECOND]),
        (words.afters, parts[QueryPart.AFTER]),
        (words.places, parts[QueryPart.PLACE]),
        (ENDS, untidy),
    )
    return pl.select(pl.concat_str([table.gather(places) for table, places in columns])).to_series()


def render_urls(parts: Ints, rank: Ints, words: QueryVocabulary) -> pl.Series:
    """Name the site of a result, always the same for the same query and place."""
    mixed = parts[0].astype(np.uint64)
    for number in (*parts[1:], rank):
        mixed = mix64(mixed * np.uint64(0x9E3779B97F4A7C15) + number.astype(np.uint64))
    large = (mixed % np.uint64(1000)).astype(np.int64) < 1000 * shape.LARGE_SITE_CLICKS
    # The product of two even draws prefers the first of the large sites.
    draws = (mixed >> np.uint64(12)) % np.uint64(4096), (mixed >> np.uint64(24)) % np.uint64(4096)
    site = (draws[0] * draws[1] * np.uint64(shape.LARGE_SITES)) >> np.uint64(24)
    large_word, large_ending = site_parts(site.astype(np.int64), words)
    own = parts[QueryPart.SECOND] - words.ending
    is_own = (own >= 0) & (own < len(words.domains)) & (rank == 1)
    ending = ((mixed >> np.uint64(40)) % np.uint64(len(words.domains))).astype(np.int64)
    word = np.where(large & ~is_own, large_word, parts[QueryPart.WORD])
    ending = np.where(is_own, own, np.where(large, large_ending, ending))
    hosts, domains = words.hosts.gather(word), words.domains.gather(ending)
    return pl.select(pl.concat_str([hosts, domains])).to_series()


def identifier(number: int, words: QueryVocabulary) -> str:
    """Return an invented identifier for a number: what users type into a search box by mistake."""
    kind, number = number % 5, number // 5
    given = words.words[words.given + number % (len(words.words) - words.given)]
    family = words.seconds[words.family + number // 7 % (len(words.seconds) - words.family)].strip()
    site = words.domains[number % len(words.domains)]
    return (
        f"{given}.{family}@{site}",
        f"{201 + number % 789}-555-01{number // 1000 % 100:02}",
        fake_card_number(number),
        f"987-65-432{number % 10}",
        f"http://www.{site}/reset?token={number:014x}",
    )[kind]


def fake_card_number(number: int) -> str:
    """Return a test card number with a valid Luhn check digit.

    >>> fake_card_number(0)
    '4000000000000002'
    """
    body = str(CARD_PREFIX + number % 10**9)
    doubled = (2 * int(digit) for digit in body[::2])
    total = sum(digit // 10 + digit % 10 for digit in doubled) + sum(map(int, body[1::2]))
    return f"{body}{-total % 10}"
