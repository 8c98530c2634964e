"""The second search for sensitive topics: in the output of a method, before it is released.

A method that gets a log without sensitive topics may still release them: parts of queries, names of
concepts that it draws, entries of a public list. As with identifiers, whether a text is left out
depends on that text alone: equal logs stay equal, thresholds hold, and for differential privacy it
is post-processing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..log.sensitive import texts_of_topics, topics_to_drop
from .guarantee import Check, Guarantee
from .release import Release
from .removal import remove_texts

CHECK = "no-sensitive-topics"
_REASON = "released text is of a sensitive topic"


def add_topic_check(guarantee: Guarantee, setting: str | None) -> Guarantee:
    """Return a guarantee with the check and the limits of dropping sensitive topics."""
    topics = topics_to_drop(setting or "keep")
    if not topics:
        return guarantee
    missed = (
        f"queries about {', '.join(topics)} that our lists of words do not find: rare or "
        "misspelled words, names, hints; about four of ten are missed"
    )
    return replace(
        guarantee,
        not_covered=(*guarantee.not_covered, missed),
        checks=(*guarantee.checks, Check(CHECK, {"topics": list(topics)})),
    )


def without_topics(release: Release, setting: str) -> Release:
    """Return a release without texts of the sensitive topics that the setting drops."""
    topics = topics_to_drop(setting)
    guarantee = add_topic_check(release.guarantee, setting)
    labeled = replace(release, sensitive=setting, guarantee=guarantee)
    if not topics:
        return labeled
    return remove_texts(labeled, partial(texts_of_topics, topics=topics), _REASON)
