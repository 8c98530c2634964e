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

from ..errors import InputError, UsageError, did_you_mean

__all__ = ["DEFAULT_CONFIG", "load_config"]

DEFAULT_CONFIG = Path("queryveil.toml")


def load_config(path: Path | None, commands: dict[str, set[str]]) -> dict[str, dict[str, Any]]:
    """Read the options by command, refusing names that no command knows."""
    if path is None:
        if not DEFAULT_CONFIG.is_file():
            return {}
        path = DEFAULT_CONFIG
    tables = _read(path)
    everywhere = _table(tables.pop("all", {}), set().union(*commands.values()), "all", path)
    found = {
        command: {name: value for name, value in everywhere.items() if name in known}
        for command, known in commands.items()
    }
    for command, table in tables.items():
        if command not in commands:
            hint = did_you_mean(command, [*commands, "all"])
            raise UsageError(f"there is no command [{command}]", where=path, hint=hint)
        found[command] |= _table(table, commands[command], command, path)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is no TOML ({error})", where=path) from error


def _table(table: Any, known: set[str], section: str, path: Path) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UsageError(f'"{section}" stands outside a table', where=path, hint="begin with [all]")
    options = {}
    for name, value in table.items():
        key = _KEYS.get(name, name.replace("-", "_"))
        if key not in known:
            choices = [option.replace("_", "-") for option in known]
            raise UsageError(
                f'[{section}] has no option "{name}"', where=path, hint=did_you_mean(name, choices)
            )
        options[key] = value if isinstance(value, (bool, list)) else str(value)
    return options


_KEYS = {"log": "paths", "json": "as_json"}
