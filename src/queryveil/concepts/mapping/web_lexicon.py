"""The lexicon of brands and web sites: names below concepts of WordNet, and usual senses.

Made by `tools/make_lexicon.py`; SOURCES-web.txt beside the file lists where the names come from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ..taxonomy.arrays import IntArray, StringArray
from ..taxonomy.extension import AddedConcepts, extend_taxonomy
from ..taxonomy.graph import Taxonomy
from ..taxonomy.storage import read_arrays
from .language import Language

# Where a name counts: anywhere in a query, only as a whole query or an address, only in an
# address. "apple" is a brand as a whole query, "weather" only in "weather.com".
ANYWHERE, WHOLE, ADDRESS = range(3)
WEB_PREFIX = "web:"
WEB_SITE = "n#06359193"
_FILE = Path(__file__).parents[1] / "data" / "web.lexicon"


@dataclass(frozen=True, eq=False)
class WebLexicon:
    """Names of brands and web sites.

    Attributes:
        concepts: The concepts that extend WordNet: kinds of sites first, then names.
        aliases: Other spellings, with the name of the concept that they mean.
        alias_use: Where each alias counts.
        frequent: Names that are written by hand, since many people search for them.
        senses: Words whose usual sense on the web is not WordNet's first, with that concept.
    """

    concepts: AddedConcepts
    aliases: tuple[tuple[str, str], ...]
    alias_use: IntArray
    frequent: tuple[str, ...]
    senses: tuple[tuple[str, str], ...]


@cache
def load_web_lexicon() -> WebLexicon:
    """Return the lexicon that comes with the program.

    >>> "gmail" in load_web_lexicon().concepts.labels
    True
    """
    _, arrays = read_arrays(_FILE)
    kinds = _pairs(arrays["categories"])
    names = StringArray(arrays["names"]).series().to_list()
    parents = StringArray(arrays["parents"]).series().gather(arrays["parent of"]).to_list()
    concepts = AddedConcepts(
        [WEB_PREFIX + text for text in [*(f"kind/{kind}" for kind, _ in kinds), *names]],
        [*(kind for kind, _ in kinds), *names],
        [*(above for _, above in kinds), *parents],
        np.concatenate([np.zeros(len(kinds), np.uint8), arrays["use of"]]),
    )
    frequent = StringArray(arrays["names"]).series().filter(arrays["frequent"] > 0)
    return WebLexicon(
        concepts,
        _pairs(arrays["aliases"]),
        arrays["alias use"],
        tuple(frequent),
        _pairs(arrays["senses"]),
    )


def _pairs(texts: IntArray) -> tuple[tuple[str, str], ...]:
    lines = StringArray(texts.astype(np.uint8)).series().str.split_exact("\t", 1).struct.unnest()
    return tuple((str(first), str(second)) for first, second in lines.rows())


def extend_wordnet(wordnet: Taxonomy) -> Taxonomy:
    """Return WordNet with the concepts of brands and web sites below its own."""
    return extend_taxonomy(wordnet, load_web_lexicon().concepts)


def has_web_rules(taxonomy: Taxonomy, language: Language) -> bool:
    """Return whether all rules of the web apply: English queries, and a taxonomy with WordNet."""
    return language.has_tagger and has_web_sites(taxonomy)


def has_web_sites(taxonomy: Taxonomy) -> bool:
    """Return whether a taxonomy has the concept of web sites, as WordNet in any language has."""
    return bool(taxonomy.find_all([WEB_SITE]))


def nearest_concepts(taxonomy: Taxonomy, names: Iterable[str]) -> dict[str, int]:
    """Return the number of each concept, or of the nearest one above it in this taxonomy.

    So names of brands can be mapped to WordNet's nouns alone: "gmail" to electronic mail.
    """
    above = _list_parents()
    asked = set(names)
    numbers = _number_lexicon(taxonomy)
    others = sorted(name for name in asked if name not in numbers and name not in above)
    numbers = {**numbers, **dict(taxonomy.find_all(others))} if others else numbers
    nearest = {}
    for name in asked:
        known = name
        while known not in numbers:
            known = above[known]
        nearest[name] = numbers[known]
    return nearest


@cache
def _list_parents() -> dict[str, str]:
    """Return the name of the concept above each one of the lexicon."""
    concepts = load_web_lexicon().concepts
    return dict(zip(concepts.names, concepts.parents, strict=True))


def _number_lexicon(taxonomy: Taxonomy) -> dict[str, int]:
    """Return the numbers of the lexicon's concepts and their parents, cached by taxonomy."""
    cached = taxonomy.cache.get("numbers of the web lexicon")
    if not isinstance(cached, dict):
        above = _list_parents()
        cached = dict(taxonomy.find_all([*above, *{*above.values()}]))
        taxonomy.cache["numbers of the web lexicon"] = cached
    return cached


def web_concepts(taxonomy: Taxonomy) -> IntArray:
    """Return the concepts of brands, web sites and their kinds."""
    return taxonomy.names.series().str.starts_with(WEB_PREFIX).arg_true().to_numpy()
