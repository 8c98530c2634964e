"""Describe a method and its options for help texts."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.parameters import Parameter, format_value
from ..methods.base import METHODS, Method

_VALUES = {int: "N", float: "NUMBER", str: "TEXT"}


def find_method(words: Sequence[str]) -> type[Method] | None:
    """Return the method that a command line names with --method; None if it names none.

    Raises:
        UsageError: There is no such method.
    """
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name == "--method":
            return METHODS.find((value if equals else following).partition(":")[0])
    return None


def list_method_titles() -> list[tuple[str, str]]:
    """Return the names of the methods with their titles."""
    return [(name, _sentence(method.title)) for name, method in METHODS.items()]


def describe_method_options(method: type[Method]) -> list[tuple[str, str]]:
    """Return the options of a method with their meanings, ranges and defaults."""
    return [(name_option(p), describe_parameter(p)) for p in method.user_parameters()]


def name_option(declared: Parameter) -> str:
    """Return an option with a placeholder for its value.

    >>> name_option(Parameter("k", int, 5, ""))
    '--k N'
    """
    if declared.type is bool:
        return f"{declared.option}, --no-{declared.option.removeprefix('--')}"
    return f"{declared.option} {name_value(declared)}"


def name_value(declared: Parameter) -> str:
    """Return the placeholder for the value of an option."""
    return "WORD" if declared.choices else _VALUES[declared.type]


def describe_parameter(declared: Parameter, *, with_default: bool = True) -> str:
    """Return the meaning of a parameter, its allowed values and its default.

    >>> describe_parameter(Parameter("k", int, 5, "group size", min=2))
    'Group size. A whole number from 2; default 5.'
    """
    default = declared.default
    shown = ("no", "yes")[default] if declared.type is bool else format_value(default)
    has_range = declared.type not in (bool, str) or bool(declared.choices)
    facts = [declared.allowed] if has_range else []
    if with_default and shown:
        facts.append(f"default {shown}")
    return " ".join(map(_sentence, [declared.help, "; ".join(facts)] if facts else [declared.help]))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
