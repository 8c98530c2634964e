"""Which concepts may stand for a query: the domains that a text such as `disease,sport` names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import ParameterError
from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy
from .domains import Domain, build_domain
from .topics import Topics, default_topics, select_topics, topic_preset

ALL = "all"
# The settings of Sanchez et al. 2018: the domain, and the topics of the profiles.
PRESETS = {
    "A": ("sanchez4", "sanchez19"),
    "B": ("n#00002137", "sanchez19"),
    "C": ("n#00002137", "sanchez4"),
}
_SETS = ("sanchez4", "sanchez19", "lexicographer", "branches")


def parse_domain(text: str) -> list[str]:
    """Give the names in the text of a domain; a preset is what it stands for."""
    text = PRESETS[text][0] if text in PRESETS else text
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ParameterError("--domain is empty", hint=f"{ALL}, a concept, or several with commas")
    if len(set(names)) < len(names):
        raise ParameterError(f'a concept stands twice in --domain "{text}"', hint="name it once")
    return names


def is_split_by_topic(text: str) -> bool:
    """Tell whether each topic has a domain of its own, so that replacements keep the topic."""
    names = parse_domain(text)
    return len(names) > 1 or names[0] in _SETS


@dataclass(frozen=True, eq=False)
class DomainSet:
    """One domain or several, and the topics that profiles are drawn over.

    `of` has for every concept of the taxonomy the number of its domain, or -1.
    """

    taxonomy: Taxonomy
    domains: list[Domain]
    domain_of_concept: IntArray
    topics: Topics

    @cached_property
    def starts(self) -> IntArray:
        """Where the concepts of each domain begin if all stand in a row, and their number."""
        return np.concatenate([[0], np.cumsum([len(domain) for domain in self.domains])])

    @cached_property
    def concepts(self) -> IntArray:
        """The concepts of all domains in a row."""
        return np.concatenate([domain.concepts for domain in self.domains])

    @cached_property
    def index_of(self) -> IntArray:
        """For every concept of the taxonomy, its place in that row, or -1."""
        found = np.full(len(self.taxonomy), -1, np.int64)
        for number, domain in enumerate(self.domains):
            mine = self.domain_of_concept == number
            found[mine] = self.starts[number] + domain.index_of[mine]
        return found

    def describe(self) -> str:
        """Say what the domains are."""
        names = ", ".join(f"{d.title} ({len(d):,} concepts)" for d in self.domains[:20])
        return f"queries are replaced within {names}, of {self.taxonomy.title}"


def open_domains(taxonomy: Taxonomy, text: str, topics: str) -> DomainSet:
    """Find the domains that a text names, and the topics; the last ones are kept."""
    kept = taxonomy.cache.get("domains")
    if isinstance(kept, tuple) and kept[0] == (text, topics) and isinstance(kept[1], DomainSet):
        return kept[1]
    made = _made(taxonomy, text, topics)
    taxonomy.cache["domains"] = ((text, topics), made)
    return made


def _made(taxonomy: Taxonomy, text: str, topics: str) -> DomainSet:
    tops = _tops(taxonomy, parse_domain(text))
    chosen = _topics(taxonomy, text, topics, tops)
    split = chosen if len(set(chosen.topic_of.tolist())) > 1 else None
    domains, of = list[Domain](), np.full(len(taxonomy), -1, np.int64)
    for number, top in enumerate(tops):  # of overlapping ones the first has a concept
        if (of[taxonomy.descendants(top)] >= 0).all():
            raise ParameterError(
                f'"{taxonomy.label(top)}" in --domain lies within what stands before it',
                hint="name the narrower concept first, or leave it out",
            )
        domains.append(build_domain(taxonomy, top, split, without=of >= 0))
        of[domains[number].index_of >= 0] = number
    return DomainSet(taxonomy, domains, of, chosen)


def _tops(taxonomy: Taxonomy, names: list[str]) -> list[int]:
    if names == [ALL]:
        return [0]
    if len(names) == 1 and names[0] in _SETS:
        found = topic_preset(taxonomy, names[0])
        if found.roots is None:
            raise ParameterError(
                f'the topics "{names[0]}" are no concepts, so they are no domains',
                hint="name concepts: disease,sport",
            )
        return list(found.roots)
    tops = [_widest(taxonomy, name) for name in names]
    if len(set(tops)) < len(tops):
        raise ParameterError(f'two names in --domain "{",".join(names)}" mean the same concept')
    return tops


def _widest(taxonomy: Taxonomy, name: str) -> int:
    """Give of all meanings of a label the one that most concepts lie below."""
    meanings = taxonomy.lookup(name)
    if len(meanings) < 2:
        return taxonomy.find(name)
    return max(meanings, key=lambda concept: len(taxonomy.descendants(concept)))


def _topics(taxonomy: Taxonomy, text: str, topics: str, tops: list[int]) -> Topics:
    if topics == "auto" and text in PRESETS:
        topics = PRESETS[text][1]
    if topics in _SETS:
        return topic_preset(taxonomy, topics)
    if topics != "auto":
        return select_topics(taxonomy, [_widest(taxonomy, name) for name in parse_domain(topics)])
    if len(tops) > 1:
        return select_topics(taxonomy, tops)
    children = taxonomy.children(tops[0]).tolist()
    return default_topics(taxonomy) if not tops[0] or not children else select_topics(
        taxonomy, children
    )  # fmt: skip
