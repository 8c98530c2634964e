"""The second search by detectors: in the output of a method, before it is released.

A method that gets a log without flagged queries may still release parts of queries, names of
concepts or entries of a public list that a detector flags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..log.detectors import DETECTORS, DetectorUse, describe_uses, texts_of_detectors
from .guarantee import Check, Guarantee
from .release import Release
from .removal import remove_texts

CHECK = "no-detected-texts"
_REASON = "released text is flagged by a detector"


def add_detector_check(guarantee: Guarantee, uses: Sequence[DetectorUse]) -> Guarantee:
    """Return a guarantee with the check of detectors, and with what it assumes of them."""
    if not uses:
        return guarantee
    assumed = (
        f"the answers of the detectors ({', '.join(map(str, uses))}) depend on one text alone: not "
        "on other texts, their order, chance or earlier answers"
    )
    return replace(
        guarantee,
        assumptions=(*guarantee.assumptions, assumed),
        checks=(*guarantee.checks, Check(CHECK, {"detectors": [use.to_dict() for use in uses]})),
    )


def without_detected(release: Release, names: Sequence[str]) -> Release:
    """Return a release without texts that these detectors flag; URLs are not searched."""
    if not names:
        return release
    uses = describe_uses(names)
    guarantee = add_detector_check(release.guarantee, uses)
    labeled = replace(release, detectors=uses, guarantee=guarantee)
    detectors = [DETECTORS.find(name) for name in names]
    return remove_texts(labeled, partial(texts_of_detectors, detectors=detectors), _REASON)
