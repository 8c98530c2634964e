"""Small results of long searches, kept between runs as hints.

A hint saves time and decides nothing: whoever takes one up checks it first. So a damaged or
foreign file does no harm, and one that cannot be written is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from ..core.bounded import read_within
from ..errors import OutputError
from .files import atomic_file

__all__ = ["load_hint", "save_hint"]


def load_hint(key: str) -> float | None:
    """Give the number that was kept under this key, if there is one."""
    try:
        return float(read_within(_place(key), 100, plain=True))
    except (OSError, ValueError, RuntimeError):  # RuntimeError: nobody's home
        return None


def save_hint(key: str, value: float) -> None:
    """Keep a number under this key, if that is possible."""
    with contextlib.suppress(OSError, OutputError, RuntimeError):
        place = _place(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(place) as part:
            part.write_text(repr(value), encoding="utf-8")


def _place(key: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "queryveil" / hashlib.sha256(key.encode()).hexdigest()[:32]
