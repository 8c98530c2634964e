"""What the queries of the shapes `web` and `shop` are about.

A query is six parts, each a number: "cheap" "guitar" "and" "violin" "lessons" "in austin". A
reformulation draws one part anew and carries the others forward. `wording.py` renders the texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from . import distributions as common
from .distributions import (
    BlockRandom,
    Bools,
    Floats,
    Ints,
    cumulative_table,
    last_true_index,
    zipf_table,
)
from .shapes import LogShape
from .words import COINED, HOUSE_NUMBERS, INVENTED, WordTables


class WebIntent(IntEnum):
    """What a query asks for."""

    TOPIC = 0
    SITE = 1
    PERSON = 2
    STREET = 3
    SENTENCE = 4


class WebPart(IntEnum):
    """The parts of a query in the order of writing."""

    BEFORE = 0
    WORD = 1
    JOIN = 2
    SECOND = 3
    AFTER = 4
    PLACE = 5


# The part that a reformulation changes, by what is asked for; one of six at random.
_CHANGED = np.array(
    [
        [part if part != WebPart.JOIN else WebPart.SECOND for part in WebPart],
        [WebPart.AFTER] * 6,
        [WebPart.AFTER] * 3 + [WebPart.SECOND] * 2 + [WebPart.PLACE],
        [WebPart.PLACE] * 6,
        [WebPart.WORD] * 6,
    ]
)

STREETS = 0.004  # of new queries: an invented address of a house
WORD_LAW, SECOND_LAW = (0.9, 3.0), (0.5, 3.0)  # how unevenly words of a topic are asked for
TERSE = 0.25  # of topical queries: one word alone
BEFORE, SECOND, AFTER = 0.3, 0.5, 0.5
JOINED = 0.45  # of second words: after a word such as "and"
GLUED = 0.06  # of second words: typed without a blank
PLURAL = 0.3  # of words of topics, in languages that have the forms
WITH_PREPOSITION = 0.4  # of places
KEPT = 0.85  # of reformulations: the part is exchanged or added, else it is removed

# Sites: well-known ones, popular invented ones, and ones that hardly anybody else asks for.
SITE_KINDS = (0.58, 0.1, 0.32)
SITE_LAW, INVENTED_LAW, INVENTED_SITES = (1.4, 0.9), (0.9, 5.0), 20_000
FAVORITES = 3  # sites that a user comes back to
FAVORITE = 0.78  # of queries for sites
ADDRESS_FORMS = (0.5, 0.46, 0.04)  # name.com, www.name.com, http://www.name.com
SITE_WORD = 0.1  # "ebay motors"

# New words: some are in fashion, most are one user's.
FASHION, FASHION_LAW, FASHION_WORDS = 0.25, (0.9, 3.0), 20_000
NEW_NUMBERS = 1 << 31

# Persons: frequent names, which many people have, or a coined family name.
COINED_FAMILY = 0.3
NAME_LAW = (0.5, 5.0)
CELEBRITY, CELEBRITY_LAW, CELEBRITIES = 0.45, (0.9, 3.0), 3_000
PERSON_WORD = 0.2


@dataclass(frozen=True)
class WebUsers:
    """What the users of a block are interested in, where they live, and the sites they visit."""

    topics: Ints  # one row per user
    many: Ints  # how many of them count
    home: Ints
    sites: Ints  # one row per user, in order of visits
    forms: Ints  # how the user writes each of them


@dataclass(frozen=True)
class WebQueryWriter:
    """Draws the parts of queries for a block of users."""

    shape: LogShape
    words: WordTables
    dice: BlockRandom

    def draw_users(self, users: int) -> WebUsers:
        """Draw what users are interested in, where they live and which sites they visit."""
        max_topics = len(common.TOPICS_OF_USER)
        return WebUsers(
            topics=self._topics(users * max_topics).reshape(users, max_topics),
            many=1 + self.dice.zipf(cumulative_table(common.TOPICS_OF_USER), users),
            home=self._places(users),
            sites=self._sites(users * FAVORITES).reshape(users, FAVORITES),
            forms=self._forms(users * FAVORITES).reshape(users, FAVORITES),
        )

    def draw_intents(self, fresh: Bools) -> Ints:
        """Draw what new queries ask for; a reformulation asks for the same."""
        shape = self.shape
        special = (shape.navigational, shape.persons, STREETS, shape.sentences)
        topical = max(0.0, 1 - sum(special))
        drawn = self.dice.zipf(cumulative_table((topical, *special)), len(fresh))
        return np.asarray(drawn[last_true_index(fresh)])

    def draw_parts(self, user: Ints, fresh: Bools, people: WebUsers) -> tuple[Ints, Ints]:
        """Draw new queries in the order of sending: intents, and a row per part."""
        size = len(user)
        intent = self.draw_intents(fresh)
        topic = self._interests(user, people)[last_true_index(fresh)]
        home = people.home[user]
        parts = np.zeros((len(WebPart), size), dtype=np.int64)
        rows = [np.flatnonzero(intent == kind) for kind in WebIntent]
        topics, sites, persons, streets, sentences = rows
        parts[:, topics] = self._topical(topic[topics], home[topics], fresh[topics])
        parts[:, sites] = self._site(user[sites], fresh[sites], people)
        parts[:, persons] = self._person(home[persons], fresh[persons])
        parts[:, streets] = self._street(home[streets])
        # A sentence is rendered from one number.
        parts[WebPart.WORD, sentences] = self.dice.integers(1 << 40, len(sentences))
        changed = _CHANGED[intent, self.dice.integers(len(WebPart), size)]
        carried = self._carried(parts, fresh, changed)
        # A frequent name has no place: nobody in particular is meant.
        frequent = (intent == WebIntent.PERSON) & (carried[WebPart.SECOND] < COINED)
        carried[WebPart.PLACE, frequent] = 0
        return intent, carried

    def _carried(self, parts: Ints, fresh: Bools, changed: Ints) -> Ints:
        """Carry the parts that a reformulation does not change over from the query before."""
        follows = np.where(changed == WebPart.SECOND, WebPart.JOIN, changed)
        carried = np.stack(
            [
                parts[part][last_true_index(fresh | (changed == part) | (follows == part))]
                for part in WebPart
            ]
        )
        twice = carried[WebPart.SECOND] == carried[WebPart.WORD]  # not "guitar guitar"
        carried[WebPart.SECOND, twice] = 0
        carried[WebPart.JOIN, carried[WebPart.SECOND] == 0] = 0
        # Nor "www." without ".com".
        plain = (carried[WebPart.BEFORE] <= 2) & ((carried[WebPart.AFTER] - 1) > 1)
        carried[WebPart.BEFORE, plain] = 0
        return carried

    def _topics(self, size: int) -> Ints:
        return self.dice.zipf(self.words.topic_table, size)

    def _places(self, size: int) -> Ints:
        return 1 + self.dice.zipf(zipf_table(self.words.place_count, *common.PLACE_LAW), size)

    def _interests(self, user: Ints, people: WebUsers) -> Ints:
        """Draw a topic for every query, mostly one of the user's own."""
        size = len(user)
        own = people.topics[user, self.dice.integers(people.many[user], size)]
        return np.where(self.dice.bernoulli(common.OWN_TOPIC, size), own, self._topics(size))

    def _maybe(self, probability: float, part: Ints, fresh: Bools) -> Ints:
        """Leave out an optional part. A reformulation keeps it more often, being about it."""
        there = self.dice.bernoulli(np.where(fresh, probability, KEPT), len(part))
        return np.where(there, part, 0)

    def _word(self, topic: Ints, law: tuple[float, float]) -> Ints:
        """Draw a word of a topic, or a new one."""
        table = zipf_table(int(self.words.sizes.max()), *law)
        rank = self.dice.zipf(table, len(topic), self.words.sizes[topic])
        new = self.dice.bernoulli(self.shape.new_words, len(topic))
        word = self.words.starts[topic] + rank
        if self.words.plural:
            many = self.dice.bernoulli(PLURAL, len(topic))
            word = np.where(many, self.words.plural - 1 + word, word)
        return np.where(new, self._coined(len(topic)), word)

    def _coined(self, size: int) -> Ints:
        known = self.dice.zipf(zipf_table(FASHION_WORDS, *FASHION_LAW), size)
        own = FASHION_WORDS + self.dice.integers(NEW_NUMBERS, size)
        return COINED + np.where(self.dice.bernoulli(FASHION, size), known, own)

    def _phrase(self, first: int, last: int, size: int) -> Ints:
        """Draw a phrase of a part of a table, the earlier ones more often."""
        return first + self.dice.zipf(zipf_table(last - first, *common.PHRASE_LAW), size)

    def _after(self, fresh: Bools) -> Ints:
        return self._maybe(AFTER, self._phrase(3, self.words.site_words, len(fresh)), fresh)

    def _place(self, home: Ints, fresh: Bools) -> Ints:
        size = len(home)
        place = np.where(self.dice.bernoulli(common.HOME, size), home, self._places(size))
        word = 1 + self.dice.integers(self.words.prepositions, size)
        shift = np.where(self.dice.bernoulli(WITH_PREPOSITION, size), word, 0)
        return self._maybe(self.shape.places, place + shift * self.words.place_count, fresh)

    def _topical(self, topic: Ints, home: Ints, fresh: Bools) -> Ints:
        """Ask for a word of a topic: "cheap guitar and violin lessons in austin"."""
        size = len(topic)
        before = self._phrase(3, self.words.house_before, size)
        second = self._maybe(SECOND, self._word(topic, SECOND_LAW), fresh)
        join = self._phrase(2, len(self.words.joins), size)
        how = self.dice.zipf(cumulative_table((GLUED, 1 - GLUED - JOINED, JOINED)), size)
        join = np.where(how == 2, join, how)
        parts = np.stack(
            [
                self._maybe(BEFORE, before, fresh),
                self._word(topic, WORD_LAW),
                join,
                second,
                self._after(fresh),
                self._place(home, fresh),
            ]
        )
        terse = fresh & self.dice.bernoulli(TERSE, size)
        return np.where(terse & (np.arange(len(WebPart)) != WebPart.WORD)[:, None], 0, parts)

    def _sites(self, size: int) -> Ints:
        """Draw sites: a number of a well-known one, or the term of an invented one."""
        kind = self.dice.zipf(cumulative_table(SITE_KINDS), size)
        known = self.dice.zipf(zipf_table(self.words.sites, *SITE_LAW), size)
        popular = self.dice.zipf(zipf_table(INVENTED_SITES, *INVENTED_LAW), size)
        rare = INVENTED_SITES + self.dice.integers(1 << 40, size)
        return np.where(kind == 0, known, INVENTED + np.where(kind == 1, popular, rare))

    def _forms(self, size: int) -> Ints:
        """Draw how a site is written: 0 as a name, 1 to 3 as an address."""
        address = 1 + self.dice.zipf(cumulative_table(ADDRESS_FORMS), size)
        return np.where(self.dice.bernoulli(self.shape.addresses, size), address, 0)

    def _site(self, user: Ints, fresh: Bools, people: WebUsers) -> tuple[Ints, ...]:
        """Ask for a site: "ebay", "ebay.com", "www.guitarbarn.example" or "ebay login"."""
        size = len(user)
        pick = self.dice.zipf(_FAVORITE_TABLE, size)
        again = self.dice.bernoulli(FAVORITE, size)
        site = np.where(again, people.sites[user, pick], self._sites(size))
        form = np.where(again, people.forms[user, pick], self._forms(size))
        known = site < INVENTED
        term = np.where(known, site + np.where(form > 0, self.words.host, self.words.site), site)
        more = self._phrase(self.words.site_words, self.words.person_words, size)
        more = self._maybe(SITE_WORD, more, fresh)
        suffix = np.where(known, 1, 2)
        after = np.where(fresh & (form > 0), suffix, np.where(again & fresh, 0, more))
        nothing = np.zeros_like(term)
        return np.maximum(form - 1, 0), term, nothing, nothing, after, nothing

    def _person(self, home: Ints, fresh: Bools) -> tuple[Ints, ...]:
        """Ask for somebody: "mary johnson pictures", "jose talvekar austin"."""
        size, words = len(home), self.words
        given = words.given + self.dice.zipf(zipf_table(words.givens, *NAME_LAW), size)
        family = words.family + self.dice.zipf(zipf_table(words.families, *NAME_LAW), size)
        coined = self.dice.bernoulli(COINED_FAMILY, size)
        own = COINED + FASHION_WORDS + self.dice.integers(NEW_NUMBERS, size)
        # Many ask for the same few persons.
        famous = self.dice.bernoulli(CELEBRITY, size)
        number = self.dice.zipf(zipf_table(CELEBRITIES, *CELEBRITY_LAW), size)
        given = np.where(famous, words.given + number * 7 % words.givens, given)
        family = np.where(famous, words.family + number * 31 % words.families, family)
        more = self._phrase(words.person_words, words.house_after, size)
        return (
            np.zeros_like(home),
            given,
            np.ones_like(home),
            np.where(coined & ~famous, own, family),
            self._maybe(PERSON_WORD, more, fresh),
            self._place(home, fresh),
        )

    def _street(self, home: Ints) -> tuple[Ints, ...]:
        """Ask for a house in an invented street: "112 talvekar street austin"."""
        size, words = len(home), self.words
        form = self.dice.integers(len(words.streets), size)
        kind, kind_first, number_first, glued = (
            np.array([getattr(street, name) for street in words.streets])[form]
            for name in ("term", "kind_first", "number_first", "glued")
        )
        name = COINED + FASHION_WORDS + self.dice.integers(NEW_NUMBERS, size)
        number = self.dice.integers(HOUSE_NUMBERS, size)
        return (
            np.where(number_first, words.house_before + number, 0),
            np.where(kind_first, kind, name),
            np.where(glued, 0, 1),
            np.where(kind_first, name, kind),
            np.where(number_first, 0, words.house_after + number),
            home,
        )


_FAVORITE_TABLE: Floats = zipf_table(FAVORITES, 0.8, 0.0)
