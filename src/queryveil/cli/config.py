"""Read `queryveil.toml`, which has options of the commands, and parse values of options.

::

    [all]                       # for every command that has the option
    columns = "user=uid,query=q"

    [anonymize]
    method = "frequent-queries"
    min-users = 50
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from ..core.bounded import MAX_LIST, BoundsError, read_within
from ..core.records import Json
from ..errors import InputError, UsageError, did_you_mean

# An option of the config file: a text as it would be typed, a flag, or several texts.
OptionValue: TypeAlias = str | bool | list[str]
# An option of a method on the command line: a text, a flag, or not used.
MethodValue: TypeAlias = str | bool | None
DEFAULT_CONFIG = Path("queryveil.toml")
_MAX_BYTES = 64 << 10  # tomllib takes quadratic time in the dots of a key
# Options that [all] does not set, because they mean another thing: columns of a table, not a log.
_NOT_FROM_ALL = {("taxonomy import", "columns")}


def load_config(
    path: Path | None, commands: dict[str, dict[str, str]]
) -> dict[str, dict[str, OptionValue]]:
    """Read the options of each command; raise an error for an unknown name.

    Args:
        commands: For each command its options as typed, and their parameter names.
    """
    if path is None:
        if not DEFAULT_CONFIG.is_file():
            return {}
        path = DEFAULT_CONFIG
    tables = _read_tables(path)
    every = {option: name for known in commands.values() for option, name in known.items()}
    shared = _parse_table(tables.pop("all", {}), every, "all", path)
    options = {
        command: {
            name: shared[name]
            for name in known.values()
            if name in shared and (command, name) not in _NOT_FROM_ALL
        }
        for command, known in commands.items()
    }
    for command, table in tables.items():
        if command not in commands:
            hint = did_you_mean(command, [*commands, "all"])
            raise UsageError(f"there is no command [{command}]", where=path, hint=hint)
        options[command] |= _parse_table(table, commands[command], command, path)
    return options


def _read_tables(path: Path) -> dict[str, dict[str, Json]]:
    try:
        text = read_within(path, _MAX_BYTES).decode("utf-8")
        tables = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    except (ValueError, RecursionError) as error:
        hint = 'texts stand between quotation marks, as in encoding = "cp1252"'
        raise InputError(f"this is not valid TOML ({error})", where=path, hint=hint) from error
    for name, table in tables.items():
        if not isinstance(table, dict):
            message = f'"{name}" is outside a table'
            raise UsageError(message, where=path, hint="begin with [all]")
    return tables


def _parse_table(
    table: Mapping[str, Json], known: dict[str, str], section: str, path: Path
) -> dict[str, OptionValue]:
    options = {}
    for name, value in table.items():
        option = name.replace("_", "-")
        if option not in known:
            raise UsageError(
                f'[{section}] has no option "{name}"', where=path, hint=did_you_mean(option, known)
            )
        if isinstance(value, dict) and any(isinstance(v, dict | list) for v in value.values()):
            message = f"[{section}] {name} is a table of tables"
            raise UsageError(message, where=path, hint='write columns = {user = "uid"}')
        options[known[option]] = _parse_value(value, known[option] in ("log", "sweep"))
    return options


def _parse_value(value: Json, several: bool) -> OptionValue:
    if several:
        return [str(item) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, dict):  # columns = {user = "uid", query = "q"}
        return ",".join(f"{name}={column}" for name, column in value.items())
    return value if isinstance(value, bool) else str(value)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_fraction(text: str) -> float:
    """Parse a fraction between 0 and 1.

    >>> parse_fraction("5%"), parse_fraction("0.05")
    (0.05, 0.05)
    """
    fraction = parse_number(text)
    if not 0 <= fraction <= 1:
        raise UsageError(f'"{text}" is not between 0 and 1', hint="write 5% or 0.05")
    return fraction


def parse_number(text: str) -> float:
    """Parse a number or a percentage.

    >>> parse_number("1000"), parse_number("5%")
    (1000.0, 0.05)
    """
    try:
        percent = text.strip().endswith("%")
        value = float(text.strip().rstrip("%")) / (100 if percent else 1)
    except ValueError as error:
        raise UsageError(f'"{text}" is not a number', hint="write 1000, 5% or 0.05") from error
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124
        raise UsageError(f'"{text}" is not a number', hint="write 1000, 5% or 0.05")
    return value


def parse_sample(text: str) -> float | None:
    """Parse a number or a fraction of users; return None for all of them.

    >>> parse_sample("1"), parse_sample("25%"), parse_sample("100%")
    (1.0, 0.25, None)
    """
    if text.strip().endswith("%"):
        fraction = parse_fraction(text)
        return None if fraction == 1 else fraction
    return parse_number(text)


def parse_settings(text: str) -> dict[str, str]:
    """Parse settings of the form name=value, separated by commas.

    >>> parse_settings("spark.executor.memory=4g, spark.task.maxFailures=8")
    {'spark.executor.memory': '4g', 'spark.task.maxFailures': '8'}
    """
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    for name, equals, value in parts:
        if not equals or not name.strip() or not value.strip():
            raise UsageError(
                f'"{name}" is not a setting of the form name=value',
                hint="spark.executor.memory=4g,...",
            )
    return {name.strip(): value.strip() for name, _, value in parts}


def parse_size(text: str) -> int:
    """Parse a number of bytes.

    >>> parse_size("20 GB"), parse_size("512k")
    (20000000000, 512000)
    """
    match = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", text.lower())
    if not match or not match[1].replace(".", "", 1).isdigit():
        raise UsageError(f'"{text}" is not a size', hint="write 500 MB or 20 GB")
    return int(float(match[1]) * _UNITS[match[2]])


def read_user_list(path: Path) -> frozenset[str]:
    """Read a list of users, one per line."""
    try:
        text = read_within(path, MAX_LIST).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    except UnicodeDecodeError as error:
        raise InputError("this is no text in UTF-8", where=path) from error
    except BoundsError as error:
        raise InputError(f"this list is {error}", where=path) from error
    return frozenset(line.strip() for line in text.splitlines() if line.strip())
