"""The words of a language that synthetic queries of the shapes `web` and `shop` are made of.

A term is a number: of a word in the table, of a coined word, or of an invented site. Coined words
and sites are without end, so that the vocabulary of a log grows with the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import chain
from unicodedata import combining, normalize

import numpy as np
import polars as pl

from ..errors import UsageError, did_you_mean
from .distributions import Floats, Hashes, Ints, cumulative_table
from .vocabulary import ENDINGS, PLACE_TOPICS, mix64, ordered_places, read_topics

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da")
_LISTS = (
    "sites", "suffix", "site words", "before", "after", "joins", "in", "street", "clauses",
    "given", "family", "person words", "places",
)  # fmt: skip

COINED, INVENTED = 1 << 40, 1 << 50  # the terms from here on are coined words, invented sites
HOUSE_NUMBERS = 2_000
TOPIC_LAW = (0.8, 3.0)
# Subtrees of places; people add a place to other words more than they ask for one alone.
PLACE_WEIGHT = 0.25
_PLACES = {*PLACE_TOPICS, "island.n.01", "river.n.01", "lake.n.01", "mountain_peak.n.01"}

# Coined words have two to four of these syllables: "talvekar".
_SYLLABLES = (
    "tal mor ves kan dor bil hol fen gar wis lan pel ster zan mur tre bru hax nel cor dal fro gil "
    "hes jor kel lum mav nor pra quin rhi sol tor urm vel wex yar zel bex",
    "a e i o u en er ol is an ar um ee oa ai il am et us ya bo da ke li mo nu pa ro si ta ve wi",
    "vek son din mar lo ski by gard wick tov nu stad ler ford res mont quist zer ton ley man dell "
    "field well ster rix tek net max dex lane more ria via nova nia tia ra ka na",
)
_LAST_SYLLABLES = (
    "", "", "", "", "", "", "", "", "", "er", "s", "an", "ian", "o", "ette", "bach",
    "ova",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class StreetForm:
    """How a street is written: "12 talvek street", "12 rue talvek" or "talvekstraße 12"."""

    term: int  # of the kind of street
    kind_first: bool
    number_first: bool
    glued: bool


@dataclass(frozen=True, repr=False)
class WordTables:
    """The words of a language. A part that may be missing is empty at place 0."""

    language: str
    terms: pl.Series  # "", words of topics, sites, sites joined, given and family names, streets
    topic_table: Floats
    starts: Ints  # of every topic in the terms
    sizes: Ints
    plural: int  # where plurals of these words begin, 0 if there are none
    site: int  # where sites begin in the terms; joined as in an address from `host` on
    host: int
    given: int
    family: int
    sites: int  # how many
    givens: int
    families: int
    unspaced: Ints  # terms that an invented site may be named after
    streets: tuple[StreetForm, ...]
    befores: pl.Series  # "", "www.", "http://www.", phrases, house numbers
    house_before: int
    afters: pl.Series  # "", suffix, ".example", phrases, words of sites, of persons, house numbers
    site_words: int  # where they begin in the afters
    person_words: int
    house_after: int
    joins: pl.Series  # "", " ", then words between two terms
    places: pl.Series  # "", places, then places with "in"
    prepositions: int
    clauses: pl.Series
    endings: pl.Series  # of invented sites

    @property
    def place_count(self) -> int:
        """The number of places, without prepositions."""
        return (len(self.places) - 1) // (1 + self.prepositions)

    @cached_property
    def _host_terms(self) -> pl.Series:
        return pl.Series([fold(text).replace(" ", "-").replace(".", "-") for text in self.terms])

    def render(self, terms: Ints) -> pl.Series:
        """Return the texts of terms."""
        return self._render(terms, self.terms)

    def render_hosts(self, terms: Ints) -> pl.Series:
        """Return terms as parts of an address."""
        return self._render(terms, self._host_terms)

    def _render(self, terms: Ints, table: pl.Series) -> pl.Series:
        coined = (terms >= COINED) & (terms < INVENTED)
        invented = terms >= INVENTED
        texts = [table, coin_words(terms[coined] - COINED), self._sites(terms[invented], table)]
        place = np.where(terms < COINED, terms, 0)
        place[coined] = len(table) + np.arange(int(coined.sum()))
        place[invented] = len(table) + int(coined.sum()) + np.arange(int(invented.sum()))
        return pl.concat(texts).gather(place)

    def _sites(self, terms: Ints, table: pl.Series) -> pl.Series:
        mixed = mix64((terms - INVENTED).astype(np.uint64))
        word = table.gather(self.unspaced[_pick(mixed, 0, len(self.unspaced))])
        ending = self.endings.gather(_pick(mixed, 40, len(self.endings)))
        return pl.select(pl.concat_str([word, ending])).to_series()


def coin_words(numbers: Ints) -> pl.Series:
    """Return words that are in no dictionary, always the same for the same numbers.

    >>> coin_words(np.arange(3)).to_list() == coin_words(np.arange(3)).to_list()
    True
    """
    mixed = mix64(numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    parts = (*map(str.split, _SYLLABLES), _LAST_SYLLABLES)
    texts = [
        pl.Series(part).gather(_pick(mixed, 12 * place, len(part)))
        for place, part in enumerate(parts)
    ]
    return pl.select(pl.concat_str(texts)).to_series()


def _pick(mixed: Hashes, shift: int, size: int) -> Ints:
    """Return an index below `size` from some bits of hashes."""
    return ((mixed >> np.uint64(shift)) % np.uint64(size)).astype(np.int64)


@cache
def load_words(language: str = "en", topics: tuple[str, ...] = ()) -> WordTables:
    """Load the words of a language, of some topics or of all; once.

    Raises:
        UsageError: There are no words of this language.
    """
    if language not in LANGUAGES:
        raise UsageError(
            f'there are no words of the language "{language}" for a synthetic log',
            hint=did_you_mean(language, LANGUAGES),
        )
    lists = _read_lists(language)
    by_topic = read_topics() if language == "en" else _topics_of(lists)
    places = ordered_places(by_topic) if language == "en" else lists["places"]
    used = {name: words for name, words in by_topic.items() if not topics or name in topics}
    return _build_tables(language, used, lists, places)


def _read_lists(language: str) -> dict[str, list[str]]:
    text = files(__package__).joinpath("languages", f"{language}.txt").read_text("utf-8")
    return {name: values for name, *values in (line.split("\t") for line in text.splitlines())}


def _topics_of(lists: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: words for name, words in lists.items() if name not in _LISTS}


def _build_tables(
    language: str, topics: dict[str, list[str]], lists: dict[str, list[str]], places: list[str]
) -> WordTables:
    words = [*chain.from_iterable(topics.values())]
    sites, given, family = lists["sites"], lists["given"], lists["family"]
    streets = lists["street"]
    sizes = np.array([len(words) for words in topics.values()], dtype=np.int64)
    site = 1 + len(words)
    names = site + 2 * len(sites)
    kinds = names + len(given) + len(family)
    numbers = [str(number) for number in range(1, HOUSE_NUMBERS + 1)]
    befores = ["", "www.", "http://www.", *(f"{phrase} " for phrase in lists["before"])]
    afters = ["", lists["suffix"][0], ".example", *_spaced(lists["after"])]
    site_words = len(afters)
    person_words = site_words + len(lists["site words"])
    more_afters = [*_spaced(lists["site words"]), *_spaced(lists["person words"])]
    joins = ["" if word == "+" else f" {word} " for word in lists["joins"]]
    return WordTables(
        language=language,
        terms=pl.Series(
            ["", *words, *sites, *map(_joined, sites), *given, *family, *map(_kind, streets)]
            + ([*map(_pluralize, words)] if language == "en" else [])
        ),
        topic_table=_topic_table([*topics]),
        starts=1 + np.cumsum(sizes) - sizes,
        sizes=sizes,
        plural=kinds + len(streets) if language == "en" else 0,
        site=site,
        host=site + len(sites),
        given=names,
        family=names + len(given),
        sites=len(sites),
        givens=len(given),
        families=len(family),
        unspaced=np.array([n for n, word in enumerate(words, 1) if word.isalpha()], np.int64),
        streets=tuple(_street(form, kinds + n) for n, form in enumerate(streets)),
        befores=pl.Series([*befores, *(f"{number} " for number in numbers)]),
        house_before=len(befores),
        afters=pl.Series([*afters, *more_afters, *_spaced(numbers)]),
        site_words=site_words,
        person_words=person_words,
        house_after=len(afters) + len(more_afters),
        joins=pl.Series(["", " ", *joins]),
        places=pl.Series(
            ["", *_spaced(places)]
            + [f" {word} {place}" for word in lists["in"] for place in places]
        ),
        prepositions=len(lists["in"]),
        clauses=pl.Series([f"{clause} " for clause in lists["clauses"]]),
        endings=pl.Series(ENDINGS.split()),
    )


def _topic_table(names: list[str]) -> Floats:
    exponent, shift = TOPIC_LAW
    weights = (np.arange(1, len(names) + 1) + shift) ** -exponent
    weights[[name in _PLACES for name in names]] *= PLACE_WEIGHT
    return cumulative_table(weights)


def _pluralize(word: str) -> str:
    """Return the plural of an English word, as most people would type it.

    >>> [_pluralize(word) for word in ("box", "glass", "electronics", "berry", "chest of drawers")]
    ['boxes', 'glasses', 'electronics', 'berries', 'chest of drawers']
    """
    if word.endswith(("ss", "x", "ch", "sh")):
        return f"{word}es"
    if word.endswith("s"):  # most often a plural
        return word
    if word.endswith("y") and word[-2:-1] not in "aeou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _joined(site: str) -> str:
    """Return a site's name as in its address: "bankofamerica", "web" for "web.de"."""
    return fold(site.partition(".")[0]).replace(" ", "")


_FOLDED = str.maketrans({"ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "ł": "l"})


def fold(text: str) -> str:
    """Return a text without accents.

    >>> fold("météo straße")
    'meteo strasse'
    """
    plain = normalize("NFD", text.translate(_FOLDED))
    return "".join(letter for letter in plain if not combining(letter))


def _kind(form: str) -> str:
    return form.replace("#", "").replace("~", "").strip()


def _street(form: str, term: int) -> StreetForm:
    """Parse how a street is written: # is the number, ~ the name."""
    return StreetForm(
        term=term,
        kind_first=form.replace("#", "").strip()[0] != "~",
        number_first=form.startswith("#"),
        glued=form.partition("~")[2][:1].isalpha(),
    )


def _spaced(words: list[str]) -> list[str]:
    return [f" {word}" for word in words]
