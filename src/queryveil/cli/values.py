"""Values as people write them: shares, sizes, dates, lists."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.bounded import MOST_LIST, BoundsError, read_within
from ..errors import InputError, UsageError

__all__ = [
    "parse_fraction",
    "parse_number",
    "parse_sample",
    "parse_settings",
    "parse_size",
    "read_user_list",
]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_fraction(text: str) -> float:
    """Read a share.

    >>> read_share("5%"), read_share("0.05")
    (0.05, 0.05)
    """
    share = parse_number(text)
    if not 0 <= share <= 1:
        raise UsageError(f'"{text}" is no share', hint="write 5% or 0.05")
    return share


def parse_number(text: str) -> float:
    """Read a number or a share.

    >>> read_amount("1000"), read_amount("5%")
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

    >>> read_sample("1"), read_sample("25%"), read_sample("100%")
    (1.0, 0.25, None)
    """
    if text.strip().endswith("%"):
        share = parse_fraction(text)
        return None if share == 1 else share
    return parse_number(text)


def parse_settings(text: str) -> dict[str, str]:
    """Read settings by their names.

    >>> read_settings("spark.executor.memory=4g, spark.task.maxFailures=8")
    {'spark.executor.memory': '4g', 'spark.task.maxFailures': '8'}
    """
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    for name, equals, value in parts:
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f'"{name}" is no setting', hint="spark.executor.memory=4g,...")
    return {name.strip(): value.strip() for name, _, value in parts}


def parse_size(text: str) -> int:
    """Read a number of bytes.

    >>> read_size("20 GB"), read_size("512k")
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
