"""Small files that somebody else may have made: read within bounds of size and depth.

A card, a journal or a list may come from anybody. A file of a gigabyte, a pipe that never ends or
JSON that is nested a million deep must end in an error, not in a stop of the machine.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

MOST_BYTES = 16 << 20  # a card or a state file has some kilobytes
MOST_LIST = 1 << 30  # a list of users or of queries, one a line
MOST_DEPTH = 64
# A string that is not closed ends with the text, so that each sign is looked at once.
_SIGNS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class BoundsError(ValueError):
    """A file is larger, or nested deeper, than anything that queryveil writes."""


def parse_json(text: str | bytes, *, depth: int = MOST_DEPTH) -> Any:
    """Return what a JSON text says; one that is nested too deep is a `ValueError` too.

    >>> parse_json('{"k": [5]}')
    {'k': [5]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    queryveil.core.bounded.BoundsError: nested more than 64 deep
    """
    whole = text.decode("utf-8") if isinstance(text, bytes) else text
    check_depth(whole, depth)
    return json.loads(whole)


def check_depth(text: str, most: int = MOST_DEPTH) -> None:
    """Refuse a text whose brackets, outside of quotation marks, are nested too deep."""
    level = 0
    for found in _SIGNS.finditer(text):
        level += _STEPS.get(found[0], 0)
        if level > most:
            raise BoundsError(f"nested more than {most:,} deep")


def read_json(path: Path, *, most: int = MOST_BYTES, depth: int = MOST_DEPTH) -> Any:
    """Return what a file of JSON says.

    Raises an `OSError` where it cannot be read, and a `ValueError` where it is no JSON, no plain
    file, too large or nested too deep.
    """
    return parse_json(read_within(path, most, plain=True), depth=depth)


def read_within(path: Path, most: int = MOST_BYTES, *, plain: bool = False) -> bytes:
    """Return the bytes of a file, or refuse a larger one; `plain` refuses pipes and devices."""
    kind = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    handle = os.open(path, kind | (getattr(os, "O_NONBLOCK", 0) if plain else 0))
    with os.fdopen(handle, "rb") as file:
        if plain and not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BoundsError("this is no plain file")
        data = file.read(most + 1)
    if len(data) > most:
        raise BoundsError(f"larger than {most:,} bytes")
    return data
