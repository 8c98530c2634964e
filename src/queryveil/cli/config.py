"""`queryveil.toml`: options of the commands, so that they need not be typed again.

::

    [all]                       # for every command that has the option
    columns = "user=uid,query=q"

    [anonymize]
    method = "frequent-queries"
    n = 50
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ..core.bounded import read_within
from ..errors import InputError, UsageError, did_you_mean

__all__ = ["DEFAULT_CONFIG", "load_config"]

DEFAULT_CONFIG = Path("queryveil.toml")
_MOST_BYTES = 64 << 10  # reading a key takes the square of its dots
# What [all] does not reach, since it means another thing there: columns of a table, not of a log.
_APART = {("taxonomy import", "columns")}


def load_config(
    path: Path | None, commands: dict[str, dict[str, str]]
) -> dict[str, dict[str, Any]]:
    """Read the options by command, refusing names that no command knows.

    `commands` gives each command's options as they are typed, and the names behind them.
    """
    if path is None:
        if not DEFAULT_CONFIG.is_file():
            return {}
        path = DEFAULT_CONFIG
    tables = _read(path)
    every = {option: name for known in commands.values() for option, name in known.items()}
    everywhere = _table(tables.pop("all", {}), every, "all", path)
    found = {
        command: {
            name: everywhere[name]
            for name in known.values()
            if name in everywhere and (command, name) not in _APART
        }
        for command, known in commands.items()
    }
    for command, table in tables.items():
        if command not in commands:
            hint = did_you_mean(command, [*commands, "all"])
            raise UsageError(f"there is no command [{command}]", where=path, hint=hint)
        found[command] |= _table(table, commands[command], command, path)
    return found


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        text = read_within(path, _MOST_BYTES).decode("utf-8")
        tables = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no TOML ({error})", where=path) from error
    for name, table in tables.items():
        if not isinstance(table, dict):
            what = f'"{name}" stands outside a table'
            raise UsageError(what, where=path, hint="begin with [all]")
    return tables


def _table(
    table: dict[str, Any], known: dict[str, str], section: str, path: Path
) -> dict[str, Any]:
    options = {}
    for name, value in table.items():
        option = name.replace("_", "-")
        if option not in known:
            raise UsageError(
                f'[{section}] has no option "{name}"', where=path, hint=did_you_mean(option, known)
            )
        if isinstance(value, dict) and any(isinstance(v, dict | list) for v in value.values()):
            what = f"[{section}] {name} is a table of tables"
            raise UsageError(what, where=path, hint='write columns = {user = "uid"}')
        options[known[option]] = _value(value, known[option] in ("log", "sweep"))
    return options


def _value(value: Any, several: bool) -> Any:
    if several:
        return [str(one) for one in (value if isinstance(value, list) else [value])]
    if isinstance(value, dict):  # columns = {user = "uid", query = "q"}
        return ",".join(f"{name}={column}" for name, column in value.items())
    return value if isinstance(value, bool) else str(value)
