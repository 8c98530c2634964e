"""`queryveil.toml`: options of the commands, so that they need not be typed again.

::

    [all]                       # for every command that has the option
    columns = "user=uid,query=q"

    [anonymize]
    method = "frequent-queries"
    n = 50
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from ..core.bounded import MOST_LIST, BoundsError, read_within
from ..errors import InputError, UsageError, did_you_mean

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


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_fraction(text: str) -> float:
    """Read a share.

    >>> parse_fraction("5%"), parse_fraction("0.05")
    (0.05, 0.05)
    """
    share = parse_number(text)
    if not 0 <= share <= 1:
        raise UsageError(f'"{text}" is no share', hint="write 5% or 0.05")
    return share


def parse_number(text: str) -> float:
    """Read a number or a share.

    >>> parse_number("1000"), parse_number("5%")
    (1000.0, 0.05)
    """
    try:
        percent = text.strip().endswith("%")
        value = float(text.strip().rstrip("%")) / (100 if percent else 1)
    except ValueError as error:
        raise UsageError(f'"{text}" is no number', hint="write 1000, 5% or 0.05") from error
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124
        raise UsageError(f'"{text}" is no number', hint="write 1000, 5% or 0.05")
    return value


def parse_sample(text: str) -> float | None:
    """Read how many users, or which share of them: nothing where it is all of them.

    >>> parse_sample("1"), parse_sample("25%"), parse_sample("100%")
    (1.0, 0.25, None)
    """
    if text.strip().endswith("%"):
        share = parse_fraction(text)
        return None if share == 1 else share
    return parse_number(text)


def parse_settings(text: str) -> dict[str, str]:
    """Read settings by their names.

    >>> parse_settings("spark.executor.memory=4g, spark.task.maxFailures=8")
    {'spark.executor.memory': '4g', 'spark.task.maxFailures': '8'}
    """
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    for name, equals, value in parts:
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f'"{name}" is no setting', hint="spark.executor.memory=4g,...")
    return {name.strip(): value.strip() for name, _, value in parts}


def parse_size(text: str) -> int:
    """Read a number of bytes.

    >>> parse_size("20 GB"), parse_size("512k")
    (20000000000, 512000)
    """
    found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", text.lower())
    if not found or not found[1].replace(".", "", 1).isdigit():
        raise UsageError(f'"{text}" is no size', hint="write 500 MB or 20 GB")
    return int(float(found[1]) * _UNITS[found[2]])


def read_user_list(path: Path) -> frozenset[str]:
    """Read a list of users, one a line."""
    try:
        text = read_within(path, MOST_LIST).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    except UnicodeDecodeError as error:
        raise InputError("this is no text in UTF-8", where=path) from error
    except BoundsError as error:
        raise InputError(f"this list is {error}", where=path) from error
    return frozenset(line.strip() for line in text.splitlines() if line.strip())
