"""What to know before using a release, in words, from its public card alone."""

from __future__ import annotations

import json
from typing import Any

from .noise import about_noise
from .standing import words_of

__all__ = ["describe_release", "format_parameters", "releases_log", "responsible_ai_fields"]

_NUMBERS = ("k", "epsilon", "delta", "per_query_epsilon")


def releases_log(card: dict[str, Any]) -> bool:
    """Tell whether the release gives users' logs, and not only statistics."""
    return any(name.startswith("log.") for name in card["files"])


def describe_release(card: dict[str, Any]) -> str:
    """Say what the release is and what it promises, first of all if it must not be published."""
    what = "A log of web searches" if releases_log(card) else "Statistics of a log of web searches"
    unfit = " ".join(f"Not for publication: {why}." for why in card["not_release_grade_because"])
    claim = "" if unfit else f" {_claim(card)}."
    promise = f"{what}, released with the method {card['method']}.{claim}"
    return f"{unfit} {promise} {card['guarantee']['says']}".lstrip()


def _claim(card: dict[str, Any]) -> str:
    """Say what the release may claim, as a sentence without its end."""
    words = words_of(card["guarantee"], card["standing"])
    return words[:1].upper() + words[1:]


def format_parameters(card: dict[str, Any]) -> str:
    """Write the parameters on one line."""
    told = [f"{name}={json.dumps(x, ensure_ascii=False)}" for name, x in card["parameters"].items()]
    return ", ".join(told)


def responsible_ai_fields(card: dict[str, Any]) -> dict[str, Any]:
    """Give the responsible-AI fields of a Croissant description."""
    promise, unfit = card["guarantee"], card["not_release_grade_because"]
    numbers = "".join(f", {n} {promise[n]}" for n in _NUMBERS if promise[n] is not None)
    use = "logs of pseudonyms" if releases_log(card) else "counts, which are nobody's log"
    return {
        "rai:dataCollection": "What people searched for, as it was logged. How, where and when "
        "that was, the publisher knows and this file does not.",
        "rai:dataCollectionMissingData": "What was left out is not told: how much it is could tell "
        "whether a person is in the log.",
        "rai:dataManipulationProtocol": f"queryveil {card['queryveil']}, method {card['method']}"
        f" ({format_parameters(card)}). {promise['says']}",
        "rai:personalSensitiveInformation": [
            "Queries can tell of anything: health, belief, money, names, places.",
            f"Standing: {card['standing']}. {_claim(card)}.",
            f"Promise: {promise['model']}{numbers}; the unit is a {promise['unit']}'s whole log.",
            *([f"Only given that public is: {promise['given']}"] if promise["given"] else []),
            *(f"Assumed: {text}" for text in promise["assumptions"]),
        ],
        "rai:dataLimitations": [
            *(f"Not for publication: {why}" for why in unfit),
            *(f"Not covered by the promise: {text}" for text in promise["not_covered"]),
            *card["warnings"],
            *card["notes"],
            *(
                f"{name}: {text}" if name else text
                for name, says in about_noise(card).items()
                for text in says
            ),
        ],
        "rai:dataBiases": "Protection falls on what is rare: it is left out, made coarser or lost "
        "in noise. So rare interests and small groups weigh less here than in the log.",
        "rai:dataUseCases": "None in public: this release is not for publication."
        if unfit
        else f"Studies of how people search that can do with {use}.",
        "rai:dataSocialImpact": "What is true of many people can be learned from it, also about "
        "people who are not in the log.",
    }
