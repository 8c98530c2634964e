"""Explain a wrong command line in one or two lines: the problem, and a hint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from ..errors import UsageError

# Typer has its own copy of Click in some versions: this is the class that it raises.
CommandLineError: type[Exception] = typer.BadParameter.__mro__[1]

_KINDS = {"integer": "a whole number", "number": "a number", "boolean": "yes or no"}


def explain_unknown_command(word: str, commands: Sequence[str], path: str) -> UsageError:
    """Return the error for a word that is not a command."""
    near = get_close_matches(word, commands, n=1, cutoff=0.6)
    if near:
        hint = f'did you mean "{near[0]}"?'
    elif Path(word).exists() or Path(word).suffix:
        hint = f"the command comes first: {path} profile {word}"
    else:
        hint = f"commands: {', '.join(sorted(commands))}"
    return UsageError(f'there is no command "{word}"', hint=hint)


def explain_usage(error: Any, ctx: Any, words: Sequence[str]) -> UsageError:
    """Return the error of queryveil for one of the parser."""
    kind, parameter = type(error).__name__, getattr(error, "param", None)
    see = f"see `{ctx.command_path} -h`"
    if kind == "NoSuchOption":
        return _unknown_option(error.option_name, ctx)
    if kind == "MissingParameter" and parameter is not None:
        name, metavar = _name(parameter), parameter.metavar
        example = f": {name} {metavar}" if name.startswith("-") and metavar else ""
        hint = f"{_help_of(parameter)}{example}" if _help_of(parameter) else see
        return UsageError(f"{name} is missing", hint=hint)
    if kind == "BadParameter" and parameter is not None:
        return _bad_value(error, parameter, words)
    if kind == "BadOptionUsage":
        option = str(error.option_name)
        matching = [p for p in ctx.command.get_params(ctx) if option in p.opts]
        return UsageError(
            f"{option} needs a value", hint=_help_of(matching[0]) if matching else see
        )
    if extra := re.search(r"unexpected extra arguments? \((.*)\)", str(error.message)):
        return UsageError(f'"{extra[1]}" is not expected here', hint=see)
    message = str(error.message).rstrip(".")
    return UsageError(f"{message[:1].lower()}{message[1:]}", hint=see)


def _unknown_option(option: str, ctx: Any) -> UsageError:
    group = getattr(ctx.command, "commands", None)
    if group:
        having = [name for name, inner in group.items() if option in _options_of(inner)]
        if having:
            example = having[0] if "anonymize" not in having else "anonymize"
            return UsageError(
                f"{option} is an option of a command",
                hint=f"options come after the command: {ctx.command_path} {example} {option}",
            )
    near = get_close_matches(option, _options_of(ctx.command), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else f"see `{ctx.command_path} -h`"
    return UsageError(f"{ctx.command_path} has no option {option}", hint=hint)


def _options_of(command: Any) -> list[str]:
    return [
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("-")
    ]


def _bad_value(error: Any, parameter: Any, words: Sequence[str]) -> UsageError:
    name, message = _name(parameter), str(error.message).rstrip(".")
    value = _value_after(parameter, words)
    what = f"{name} has a wrong value" if value is None else f'{name} cannot be "{value}"'
    allowed = re.search(r"valid (integer|number|boolean)", message)
    must = f"it must be {_KINDS[allowed[1]]}" if allowed else message[:1].lower() + message[1:]
    if allowed and allowed[1] == "number" and re.fullmatch(r"-?\d+,\d+", value or ""):
        must = f"{must}, with a point: {str(value).replace(',', '.')}"
    return UsageError(what, hint=f"{must}: {_help_of(parameter)}" if _help_of(parameter) else must)


def _value_after(parameter: Any, words: Sequence[str]) -> str | None:
    """Return the text that was typed for an option."""
    for word, following in zip(words, [*words[1:], None], strict=True):
        name, equals, value = word.partition("=")
        if name in parameter.opts:
            return value if equals else following
    return None


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(max(parameter.opts, key=len))


def _help_of(parameter: Any) -> str:
    text = (parameter.help or "").rstrip(".")
    return f"{text[:1].lower()}{text[1:]}" if text[1:2].islower() else text
