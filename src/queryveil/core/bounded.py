"""Read small files of unknown origin within bounds of size and depth.

A card, a journal or a list may come from anybody. A file of a gigabyte, a pipe that never ends or
JSON that is nested a million levels deep must raise an error and not exhaust the machine.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

MAX_BYTES = 16 << 20  # a card or a state file has a few kilobytes
MAX_LIST = 1 << 30  # a list of users or of queries, one per line
MAX_DEPTH = 64
# An unclosed string extends to the end of the text, so that the scan takes linear time.
_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_LEVEL_CHANGES = {"[": 1, "{": 1, "]": -1, "}": -1}


class BoundsError(ValueError):
    """Signal a file that is larger, or nested deeper, than any file that queryveil writes."""


def parse_json(text: str | bytes, *, depth: int = MAX_DEPTH) -> Any:
    """Return the value of a JSON text; raise a `ValueError` also where it is nested too deep.

    >>> parse_json('{"k": [5]}')
    {'k': [5]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    queryveil.core.bounded.BoundsError: nested more than 64 deep
    """
    decoded = text.decode("utf-8") if isinstance(text, bytes) else text
    check_depth(decoded, depth)
    return json.loads(decoded)


def check_depth(text: str, max_depth: int = MAX_DEPTH) -> None:
    """Raise a `BoundsError` if brackets outside of JSON strings are nested too deep."""
    level = 0
    for match in _STRINGS_AND_BRACKETS.finditer(text):
        level += _LEVEL_CHANGES.get(match[0], 0)
        if level > max_depth:
            raise BoundsError(f"nested more than {max_depth:,} deep")


def read_json(path: Path, *, most: int = MAX_BYTES, depth: int = MAX_DEPTH) -> Any:
    """Return the value of a JSON file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not JSON, not a regular file, larger than `most` bytes or nested too deep.
    """
    return parse_json(read_within(path, most, plain=True), depth=depth)


def read_within(path: Path, max_bytes: int = MAX_BYTES, *, plain: bool = False) -> bytes:
    """Return the bytes of a file; raise a `BoundsError` if it is larger than `max_bytes`.

    With `plain`, pipes and devices are refused as well.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    if plain:  # opening a pipe must not wait for a writer
        flags |= getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as file:
        if plain and not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BoundsError("this is not a regular file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise BoundsError(f"larger than {max_bytes:,} bytes")
    return data
