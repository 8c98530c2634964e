"""The words that synthetic queries are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain, product, zip_longest

import numpy as np
import polars as pl

from .distributions import Hashes, Ints

# Where people live and look for things; their topics' words are the places.
PLACE_TOPICS = ("city.n.01", "american_state.n.01", "port.n.01", "country.n.02", "province.n.01")

# Said before and after a word when searching, the most common first.
BEFORE = """
free|cheap|pictures of|how to make|used|history of|what is|buy|best|new|online|types of|how to
|discount|picture of|the|find|antique|american|list of|homemade|wholesale|facts about|where to buy
|famous|custom|local|low cost|top ten|photos of|information on|how do i|national|vintage|what is the
|small|about|cost of|my|home|kids|black|white|funny|modern|information about|natural|big|old|rare
|what causes|how much is|make your own|meaning of|real|learn|unusual|luxury|secondhand|benefits of
"""
AFTER = """
pictures|for sale|reviews|recipes|online|prices|store|history|games|information|lyrics|jobs|2006
|club|supplies|free|parts|guide|clip art|photos|shop|rentals|art|school|service|association|company
|center|directory|news|2005|facts|classes|ideas|training|design|accessories|magazine|kits|software
|repair|videos|books|forum|coupons|price|review|music|catalog|dealers|manufacturers|problems
|treatment|wallpaper|show|plans|society|symptoms|map|auction|for kids|names|museum|tickets
|instructions|posters|gifts|events|outlet|tips|links|products|insurance|of america|equipment
|collection|side effects|schedule|statistics|stickers|calendar|home page|images|cartoons|quotes
|definition|comparison|patterns|salary|warehouse|costumes|league|cleaning|for beginners|trivia
|collectibles|tattoos|contest|blog|safety|vacations|timeline|toys|awards|poems|tours|council|2004
|costs|cards|experts|restoration|anatomy|law|chart|glossary
"""
# A site's name is a word and one of these; no name is taken from a real site.
ENDINGS = """
alley anchor arbor arcade attic barn basket bazaar beacon bench bluff branch bridge brook burrow
cabin cellar circle cliff coast compass corner cottage cove cradle creek dale deck den depot dock
drift dune echo fair falls farm fence field flat forge fountain gallery garden gate glade grange
grove gully hall harbor haven hearth hedge hill hive hollow hub hut island junction kettle ladder
lagoon lane lantern ledge lodge loft market meadow mill mound nest nook oasis orchard outpost
parlor pasture patch path pavilion pier plaza pond porch quarry ranch ridge shack shelf shore spot
spring square stable station steps stop street studio summit tent tower town track trail valley
vault village vista wagon well wharf wheel window works world yard zone
"""
# People are put together from syllables: "jorin talvek".
GIVEN_NAMES = (
    "jo ta mi ke ra lu be so da ni fe va el or pa ha sy ze gri bry",
    "rin la vek dra na mo tis len ra bo lin dy sha win del",
)
FAMILY_NAMES = (
    "tal mor ves kan dor bil hol fen gar wis lan quor pel ster zan mur tre bru hax nel",
    "a e i o u en er ol is an ar um",
    "vek sson din mar lo ski by gard wick tov nu stad ler ford res mont quist zer",
)


@dataclass(frozen=True, repr=False)
class QueryVocabulary:
    """Tables of the parts of a query. A part that may be missing is empty at place 0."""

    topics: tuple[str, ...]
    starts: Ints  # of every topic in the words
    sizes: Ints
    unspaced: Ints  # the words that have no blank, so a site may be named after them
    given: int  # where given names begin in the words
    ending: int  # where endings of sites begin in the seconds
    family: int  # where family names begin in the seconds
    words: pl.Series
    seconds: pl.Series
    places: pl.Series
    befores: pl.Series
    afters: pl.Series
    hosts: pl.Series  # the beginning of an address, for every word
    domains: pl.Series  # the end of an address, for every ending


@cache
def load_vocabulary() -> QueryVocabulary:
    """Load the vocabulary, once."""
    topics = read_topics()
    words = [*chain.from_iterable(topics.values())]
    endings = ENDINGS.split()
    everything = words + _syllables(GIVEN_NAMES)
    sizes = np.array([len(words) for words in topics.values()], dtype=np.int64)
    return QueryVocabulary(
        topics=tuple(topics),
        starts=np.cumsum(sizes) - sizes,
        sizes=sizes,
        unspaced=np.array([i for i, word in enumerate(words) if " " not in word], dtype=np.int64),
        given=len(words),
        ending=1 + len(words),
        family=1 + len(words) + len(endings),
        words=pl.Series(everything),
        seconds=pl.Series(["", *_spaced(words), *endings, *_spaced(_syllables(FAMILY_NAMES))]),
        places=pl.Series(["", *_spaced(ordered_places(topics))]),
        befores=pl.Series(["", "www.", *(f"{phrase} " for phrase in _phrases(BEFORE))]),
        afters=pl.Series(["", ".example", *_spaced(_phrases(AFTER))]),
        hosts=pl.Series([f"http://www.{word.replace(' ', '-')}" for word in everything]),
        domains=pl.Series([f"{ending}.example" for ending in endings]),
    )


def read_topics() -> dict[str, list[str]]:
    """Return the English words of every topic, the most popular first."""
    lines = files(__package__).joinpath("vocabulary.txt").read_text("utf-8").splitlines()
    return {name: words for name, *words in (line.split("\t") for line in lines)}


def ordered_places(topics: dict[str, list[str]]) -> list[str]:
    """Return the places in turns from their topics, so that the popular ones come first."""
    columns = [[word for word in topics[t] if word != t.split(".")[0]] for t in PLACE_TOPICS]
    return [place for row in zip_longest(*columns) for place in row if place]


def _syllables(parts: tuple[str, ...]) -> list[str]:
    return ["".join(syllables) for syllables in product(*map(str.split, parts))]


def _phrases(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split("|")]


def _spaced(words: list[str]) -> list[str]:
    return [f" {word}" for word in words]


def site_parts(site: Ints, words: QueryVocabulary) -> tuple[Ints, Ints]:
    """Name a site by a word and an ending, always the same for the same site."""
    mixed = mix64(site.astype(np.uint64))
    ending = (mixed >> np.uint64(40)) % np.uint64(len(words.domains))
    word = words.unspaced[(mixed % np.uint64(len(words.unspaced))).astype(np.int64)]
    return word, ending.astype(np.int64)


def mix64(number: Hashes) -> Hashes:
    """Mix the bits of numbers (the finish of splitmix64), the same on every machine."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
