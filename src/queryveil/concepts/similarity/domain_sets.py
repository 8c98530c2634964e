"""Sets of domains of replacement concepts, parsed from a text such as `disease,sport`."""

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
_TOPIC_PRESETS = ("sanchez4", "sanchez19", "lexicographer", "branches")


def parse_domain(text: str) -> list[str]:
    """Return the names in a domain text, in which a preset is expanded."""
    text = PRESETS[text][0] if text in PRESETS else text
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ParameterError("`domain` is empty", hint=f"{ALL}, or concepts separated by commas")
    if len(set(names)) < len(names):
        raise ParameterError(f'a concept occurs twice in `domain` "{text}"', hint="name it once")
    return names


def is_split_by_topic(text: str) -> bool:
    """Return whether each topic is a separate domain, so that replacements keep the topic."""
    names = parse_domain(text)
    return len(names) > 1 or names[0] in _TOPIC_PRESETS


@dataclass(frozen=True, eq=False)
class DomainSet:
    """One domain or several, and the topics of the profiles.

    `domain_of_concept` has for every concept of the taxonomy the number of its domain, or -1.
    """

    taxonomy: Taxonomy
    domains: list[Domain]
    domain_of_concept: IntArray
    topics: Topics

    @cached_property
    def starts(self) -> IntArray:
        """The index in `concepts` where each domain starts, and the total number of concepts."""
        return np.concatenate([[0], np.cumsum([len(domain) for domain in self.domains])])

    @cached_property
    def concepts(self) -> IntArray:
        """The concepts of all domains, concatenated."""
        return np.concatenate([domain.concepts for domain in self.domains])

    @cached_property
    def index_of(self) -> IntArray:
        """For every concept of the taxonomy, its index in `concepts`, or -1."""
        indices = np.full(len(self.taxonomy), -1, np.int64)
        for number, domain in enumerate(self.domains):
            members = self.domain_of_concept == number
            indices[members] = self.starts[number] + domain.index_of[members]
        return indices

    def describe(self) -> str:
        """Return a sentence that names the domains."""
        names = ", ".join(f"{d.title} ({len(d):,} concepts)" for d in self.domains[:20])
        return f"queries are replaced within {names}, of {self.taxonomy.title}"


def open_domains(taxonomy: Taxonomy, text: str, topics: str) -> DomainSet:
    """Return the domains and topics that the texts name; the last result is cached."""
    cached = taxonomy.cache.get("domains")
    if (
        isinstance(cached, tuple)
        and cached[0] == (text, topics)
        and isinstance(cached[1], DomainSet)
    ):
        return cached[1]
    domains = _build_domain_set(taxonomy, text, topics)
    taxonomy.cache["domains"] = ((text, topics), domains)
    return domains


def _build_domain_set(taxonomy: Taxonomy, text: str, topics: str) -> DomainSet:
    roots = _find_roots(taxonomy, parse_domain(text))
    chosen = _build_topics(taxonomy, text, topics, roots)
    split = chosen if len(set(chosen.topic_of.tolist())) > 1 else None
    domains, domain_of_concept = list[Domain](), np.full(len(taxonomy), -1, np.int64)
    for number, root in enumerate(roots):  # a concept of several domains belongs to the first
        if (domain_of_concept[taxonomy.descendants(root)] >= 0).all():
            raise ParameterError(
                f'"{taxonomy.label(root)}" in `domain` lies within the concepts before it',
                hint="name the narrower concept first, or leave it out",
            )
        domains.append(build_domain(taxonomy, root, split, without=domain_of_concept >= 0))
        domain_of_concept[domains[number].index_of >= 0] = number
    return DomainSet(taxonomy, domains, domain_of_concept, chosen)


def _find_roots(taxonomy: Taxonomy, names: list[str]) -> list[int]:
    if names == [ALL]:
        return [0]
    if len(names) == 1 and names[0] in _TOPIC_PRESETS:
        topics = topic_preset(taxonomy, names[0])
        if topics.roots is None:
            raise ParameterError(
                f'the topics "{names[0]}" are not concepts, so they cannot be domains',
                hint="name concepts: disease,sport",
            )
        return list(topics.roots)
    roots = [_find_widest(taxonomy, name) for name in names]
    if len(set(roots)) < len(roots):
        raise ParameterError(f'two names in `domain` "{",".join(names)}" mean the same concept')
    return roots


def _find_widest(taxonomy: Taxonomy, name: str) -> int:
    """Return the meaning of a label that has the largest number of concepts below it."""
    meanings = taxonomy.lookup(name)
    if len(meanings) < 2:
        return taxonomy.find(name)
    return max(meanings, key=lambda concept: len(taxonomy.descendants(concept)))


def _build_topics(taxonomy: Taxonomy, text: str, topics: str, roots: list[int]) -> Topics:
    if topics == "auto" and text in PRESETS:
        topics = PRESETS[text][1]
    if topics in _TOPIC_PRESETS:
        return topic_preset(taxonomy, topics)
    if topics != "auto":
        return select_topics(
            taxonomy, [_find_widest(taxonomy, name) for name in parse_domain(topics)]
        )
    if len(roots) > 1:
        return select_topics(taxonomy, roots)
    children = taxonomy.children(roots[0]).tolist()
    if not roots[0] or not children:
        return default_topics(taxonomy)
    return select_topics(taxonomy, children)
