"""What the queries are about.

A query is five parts, each a place in a table of the vocabulary: "cheap" "guitar" "violin"
"lessons" "austin". A reformulation draws one part anew and carries the others forward. Texts are
put together only at the end (``wording.py``), so everything before works on whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import polars as pl

from . import distributions as shape
from .distributions import BlockRandom, Bools, Ints, last_true_index
from .vocabulary import QueryVocabulary, site_parts


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
        most = len(shape.TOPICS_OF_USER)
        return UserTraits(
            topics=self._topics(users * most).reshape(users, most),
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

    def _maybe(self, share: float, part: Ints, fresh: Bools) -> Ints:
        """Leave out an optional part. A reformulation keeps it more often, being about it."""
        there = self.dice.bernoulli(np.where(fresh, share, shape.KEPT), len(part))
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
