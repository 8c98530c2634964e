"""Show messages of the library in the terms of the command line.

Errors and warnings name parameters and functions as Python does, in backticks. A command shows the
option or the command instead::

    `min_users`             --min-users
    `ledger="NAME"`         --ledger NAME
    `overwrite=True`        --overwrite
    `profile()`             `queryveil profile`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import typer

from ..errors import UsageError
from ..measures.base import MEASURES
from ..methods.base import METHODS

_QUOTED = re.compile(r"`([^`\n]+)`")
_PARAMETER = re.compile(r"([a-z][a-z0-9_]*)(?:=(.+))?")
_COMMANDS = {
    "METHODS": "methods",
    "MEASURES": "measures",
    "anonymize_to_folder()": "anonymize --out",
    "compare()": "compare",
    "import_taxonomy()": "taxonomy import",
    "measure()": "measure",
    "plan()": "plan",
    "profile()": "profile",
    "set_ledger_limit()": "ledger limit",
    "write_synthetic_log()": "synth",
}
_SHELL_SIGNS = frozenset(" ;|&")  # a shell would not hand these on as they are
# Flags whose name is not that of the keyword with "no-".
_NEGATED = {"include_mapping": "--no-mapping"}


def name_options(text: str, parameter: str | None = None) -> str:
    """Return a message with options and commands in place of names in backticks.

    A name that is no option stays as it is, unless it is `parameter`, which the error is about.
    """

    def replace(match: re.Match[str]) -> str:
        quoted = match[1]
        if quoted in _COMMANDS:
            return f"`queryveil {_COMMANDS[quoted]}`"
        parts = _PARAMETER.fullmatch(quoted)
        if parts is None or not (parts[1] == parameter or parts[1] in _options()):
            return match[0]
        return _format_option(parts[1], parts[2])

    return _QUOTED.sub(replace, text)


def _format_option(name: str, value: str | None) -> str:
    option = _options().get(name, "--" + name.replace("_", "-"))
    if value is None or value == "True":
        return option
    if value == "False":
        return _NEGATED.get(name, f"--no-{option.removeprefix('--')}")
    return f"{option} {_format_value(value)}"


def _format_value(value: str) -> str:
    """Return a literal of Python as an argument; a placeholder such as `N` stays.

    >>> _format_value('"mask"'), _format_value("{'a': 'b'}"), _format_value("N")
    ('mask', 'a=b', 'N')
    """
    try:
        literal: Any = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    if isinstance(literal, dict):
        return ",".join(f"{key}={item}" for key, item in literal.items())
    return f'"{literal}"' if _SHELL_SIGNS.intersection(str(literal)) else str(literal)


@cache
def _options() -> dict[str, str]:
    """Return the names of parameters with their options, of all commands, methods and measures."""
    # Only after an error, when all commands are loaded: they import this module.
    from .app import app  # noqa: PLC0415
    from .plugins import add_commands  # noqa: PLC0415

    with suppress(UsageError):  # a plug-in with a bad name has an error of its own
        add_commands(app)
    known = {name: "--" + name.replace("_", "-") for name in _NEGATED}
    for kind in (*METHODS.values(), *MEASURES.values()):
        known |= {declared.name: declared.option for declared in kind.user_parameters()}
    for option in _walk_options(typer.main.get_command(app)):
        known[option.removeprefix("--").replace("-", "_")] = option
    # A flag such as --no-resume is the keyword `resume`.
    return known | {
        name.removeprefix("no_"): option.replace("--no-", "--")
        for name, option in known.items()
        if name.startswith("no_")
    }


def _walk_options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from (option for option in parameter.opts if option.startswith("--"))
    for inner in getattr(command, "commands", {}).values():
        yield from _walk_options(inner)
