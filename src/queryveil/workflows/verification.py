"""What of a card follows from its method and parameters, and what only its maker can say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from .._version import __version__
from ..errors import QueryveilError
from ..methods.base import Method
from ..methods.registry import get_method
from ..release.checks import CheckResult
from ..release.guarantee import Guarantee
from ..release.identifiers import promised
from ..release.names import data_of
from ..release.noise import CountNoise
from ..release.standing import SEEDED, standing_of

# What a promise is worth in numbers; the rest of it is words, which versions may change.
_LONG = 500  # characters of a claim that are shown
_NUMBERS = ("model", "unit", "k", "epsilon", "delta", "given", "checks")
_OF_NOISE = tuple(field.name for field in fields(CountNoise))


def promise_of(method: Method, card: Mapping[str, Any]) -> Guarantee:
    """Return what a method promises, with what the card says of the run around it."""
    return promised(method.guarantee(), card.get("identifiers"))


def follows(card: dict[str, Any]) -> list[CheckResult]:
    """Check all that a card says against its method, made anew from name and parameters."""
    try:
        method = get_method(card["method"]).from_params(card["parameters"])
        promise = promise_of(method, card)
        return [
            _promise(card, promise),
            _parameters(card, method),
            _reasons(card, method, promise),
            _warnings(card, method),
            _data(card, method),
            *_noise(card, method),
        ]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        says = "the card's method and parameters are none that queryveil has"
        return [CheckResult("promise", False, says)]


def _promise(card: dict[str, Any], promise: Guarantee) -> CheckResult:
    """Check that the card promises what its method promises with these parameters."""
    made = json.loads(json.dumps(promise.as_dict()))
    says = f"the promise is that of {card['method']} with these parameters"
    if made == card["guarantee"]:
        return CheckResult("promise", True, says)
    same = all(made[name] == card["guarantee"].get(name) for name in _NUMBERS)
    if same and card.get("queryveil") != __version__:
        return CheckResult("promise", None, f"{says}, in words of another version")
    return CheckResult("promise", False, f"not so: {says}")


def _parameters(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that every parameter is there, as the method reads it."""
    holds: bool | None = json.loads(json.dumps(method.params())) == card["parameters"]
    says = f"the parameters are those of {card['method']}, all of them"
    if not holds and card.get("queryveil") != __version__:
        return CheckResult("parameters", None, f"not known of another version: {says}")
    return CheckResult("parameters", holds, says if holds else f"not so: {says}")


def _reasons(card: dict[str, Any], method: Method, promise: Guarantee) -> CheckResult:
    """Check that each reason against publication that follows is on the card."""
    expected = standing_of(promise, method.unfit()).because
    missing = [why for why in expected if why not in card["not_release_grade_because"]]
    says = "what speaks against publication is on the card, as far as parameters show it"
    return CheckResult("reasons", not missing, f"not so ({missing[0]})" if missing else says)


def _warnings(card: dict[str, Any], method: Method) -> CheckResult:
    missing = [text for text in method.warnings() if text not in card["warnings"]]
    says = "the warnings that its parameters need are on the card"
    return CheckResult("warnings", not missing, f"not so: {says}" if missing else says)


def _data(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that no data file is there that the promise says nothing about."""
    strange = sorted(data_of(card["files"]) - method.gives())
    says = f"the data files are those that {card['method']} gives"
    return CheckResult(
        "data", not strange, f"not so ({', '.join(strange)}): {says}" if strange else says
    )


def _noise(card: dict[str, Any], method: Method) -> list[CheckResult]:
    """Check that noise is as large as the method makes it, where the card alone shows that."""
    expected = _noises(card, method)
    if expected is None or not (expected or card["noise"]["tables"]):
        return []
    shown = [{name: one.get(name) for name in _OF_NOISE} for one in card["noise"]["tables"]]
    holds: bool | None = shown == json.loads(json.dumps([asdict(one) for one in expected]))
    says = f"the noise is as large as {card['method']} makes it with these parameters"
    if not holds and card.get("queryveil") != __version__:
        return [CheckResult("scale", None, f"not known of another version: {says}")]
    return [CheckResult("scale", holds, says if holds else f"not so: {says}")]


def _noises(card: dict[str, Any], method: Method) -> tuple[CountNoise, ...] | None:
    rows = {name.removesuffix(".tsv"): n for name, n in card["figures"].items() if "." in name}
    if not rows:
        return ()  # the release is a log
    return method.noises(rows)


def _shortened(text: str) -> str:
    """Keep a claim within what a screen shows, and say that there is more."""
    more = len(text) - _LONG
    return text if more <= 0 else f"{text[:_LONG]} … and {more:,} more characters on the card"


def claims_of(card: dict[str, Any]) -> list[str]:
    """Return what stands on a card and cannot be seen from the files: its maker says so."""
    try:
        return [_shortened(str(claim)) for claim in _claims(card)]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError):
        return ["all of it: the card is none that queryveil writes"]


def _claims(card: dict[str, Any]) -> Iterator[str]:
    method = get_method(card["method"]).from_params(card["parameters"])
    yield "that the method was run as it should be, on a log of as many people as it says"
    if SEEDED not in card["not_release_grade_because"]:
        yield "that no fixed seed was used"
    if "min_users" in card["parameters"]:
        least = card["parameters"]["min_users"]
        yield f"that at least {least} users of the log sent each text (min_users)"
    if method.input_files() or card["parameters"].get("taxonomy", "wordnet") != "wordnet":
        yield "what is in the files that the parameters name, and what these are called"
    expected = standing_of(promise_of(method, card), method.unfit()).because
    for why in card["not_release_grade_because"]:
        if why not in (*expected, SEEDED):
            yield f"against publication: {why}"
    for text in card["warnings"]:
        if text not in method.warnings():
            yield f"warning: {text}"
    noise = card["noise"]
    if _noises(card, method) is None:
        yield "how large the noise is"
    for text in (*card["notes"], *noise["says"]):
        yield f"note: {text}"
