"""The parameters and the numbers of a guarantee in words, without the notation of a language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.parameters import Parameter
from ..core.records import Scalar
from ..log.detectors import DetectorUse
from .explanations import explain_probability

_SMALL = 1e-3  # smaller numbers are also written as "one in ..."
_IDENTIFIERS = {
    "drop": "queries that look like a personal identifier were left out, and such URLs blanked",
    "mask": "what looks like a personal identifier was masked in queries, and such URLs blanked",
    "keep": "what looks like a personal identifier was let through unchanged",
}


_DETECTORS = "queries that these detectors flag as identifiers were left out as well"


@dataclass(frozen=True)
class ParameterView:
    """A parameter as a page shows it; `help` is empty if nothing is known about it."""

    name: str
    value: str
    help: str


def describe_parameters(
    values: Mapping[str, Scalar],
    declared: Sequence[Parameter],
    identifiers: str | None,
    sensitive: str | None = None,
    detectors: Sequence[DetectorUse] = (),
) -> tuple[ParameterView, ...]:
    """Return the parameters on a card, explained by the declarations of the method.

    A parameter without a declaration, as that of a method that is not installed, has no help.
    """
    known = {parameter.name: parameter for parameter in declared}
    views = [_describe_parameter(name, value, known.get(name)) for name, value in values.items()]
    if identifiers:
        views.append(ParameterView("identifiers", identifiers, _IDENTIFIERS.get(identifiers, "")))
    if sensitive:
        views.append(ParameterView("sensitive", sensitive, _describe_sensitive(sensitive)))
    if detectors:
        views.append(ParameterView("detectors", ", ".join(map(str, detectors)), _DETECTORS))
    return tuple(views)


def _describe_sensitive(setting: str) -> str:
    word, _, topics = setting.partition(":")
    if word != "drop":
        return "queries of sensitive topics were treated as all others"
    about = (
        topics.replace(",", ", ") or "health, sexuality, religion, politics, crime and self-harm"
    )
    return f"queries about {about} were left out where our lists of words find them"


def _describe_parameter(name: str, value: Scalar, declared: Parameter | None) -> ParameterView:
    text = describe_value(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    unit = declared.unit if declared is not None and is_number else ""
    if unit and value == 1:
        unit = unit.removesuffix("s")
    help_text = "" if declared is None else _write_names(declared.help)
    return ParameterView(name.replace("_", "-"), f"{text} {unit}".rstrip(), help_text)


def _write_names(text: str) -> str:
    """Return a text with the names of parameters as the page writes them, without backticks."""
    return re.sub("`(.*?)`", lambda name: name[1].replace("_", "-"), text)


def describe_value(value: Scalar) -> str:
    """Return a value in words.

    >>> [describe_value(value) for value in (True, None, "", 12345, 0.4, 1.0)]
    ['yes', 'not set', 'not set', '12,345', '0.4', '1']
    >>> describe_value(1e-9), describe_value(0.0)
    ('one in a billion (1e-9)', '0')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == "":
        return "not set"
    if isinstance(value, int):
        return f"{value:,}"
    return _describe_float(value) if isinstance(value, float) else value


def _describe_float(value: float) -> str:
    if 0 < value < _SMALL:
        return f"{explain_probability(value)} ({_power(value)})"
    text = f"{value:,.10g}"
    return _power(value) if "e" in text else text


def _power(value: float) -> str:
    """Return a number as a short power of ten: 1e-9, not 1e-09."""
    digits, _, exponent = f"{value:.3g}".partition("e")
    return f"{digits}e{int(exponent)}" if exponent else digits
