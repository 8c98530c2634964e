"""Groups of commands that are not part of the main application, from entry points.

A distribution adds `queryveil NAME ...` by an entry point that names a Typer application::

    [project.entry-points."queryveil.commands"]
    peers = "queryveil.peers.cli:app"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from ..core.registry import Registry
from ..errors import UsageError


def _fault_of(_name: str, item: Any) -> str | None:
    return None if isinstance(item, typer.Typer) else "it is not a Typer application"


COMMANDS: Registry[typer.Typer] = Registry(
    "group of commands", "queryveil.commands", lambda: {}, _fault_of
)


def add_commands(app: typer.Typer) -> None:
    """Add the groups of commands of all distributions to an application that has its own.

    Adding them again changes nothing.

    Raises:
        UsageError: A group has the name of a command that the application has.
    """
    own = _command_names(app)
    added = [group.typer_instance for group in app.registered_groups]
    for name, commands in COMMANDS.items():
        if commands in added:
            continue
        if name in own:
            raise UsageError(
                f'a plug-in has commands "{name}", which is a command of queryveil',
                hint="uninstall the plug-in, or ask its authors for another name",
            )
        app.add_typer(commands, name=name)


def names_own_command(app: typer.Typer, words: Sequence[str]) -> bool:
    """Return whether a command line names a command of the application itself.

    Then other groups of commands, whose import takes time, are not needed.
    """
    return len(words) > 0 and words[0] in _command_names(app)


def _command_names(app: typer.Typer) -> set[str]:
    commands = app.registered_commands
    names = {command.name or getattr(command.callback, "__name__", "") for command in commands}
    for group in app.registered_groups:
        if isinstance(group.name, str):
            names.add(group.name)
        elif group.typer_instance is not None:
            names |= _command_names(group.typer_instance)
    return {name.replace("_", "-") for name in names}
