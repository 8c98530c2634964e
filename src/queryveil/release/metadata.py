"""The files beside the public card that say the same in forms other tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .croissant import croissant_metadata
from .deployment import deployment
from .noise import about_texts
from .tables import PUBLIC_TABLES

__all__ = ["metadata_files", "metadata_matches", "reads_as"]

_MAKERS = {"croissant.json": croissant_metadata, "dp-deployment.json": deployment}
_ABOUT = tuple(f"{name}.about.txt" for name in PUBLIC_TABLES)


def metadata_files(card: dict[str, Any]) -> dict[str, str]:
    """Give the text of each file by its name; the card alone decides all of it."""
    made = {name: maker(card) for name, maker in _MAKERS.items()}
    return {
        name: json.dumps(what, indent=2, ensure_ascii=False) + "\n"
        for name, what in made.items()
        if what is not None
    } | about_texts(card)


def metadata_matches(card: dict[str, Any], public: Path) -> bool:
    """Tell whether the files that stand there are those of the card, no more and no less."""
    expected = metadata_files(card)
    there = {name for name in (*_MAKERS, *_ABOUT) if (public / name).exists()}
    same = all(reads_as(public / name, text) for name, text in expected.items() if name in there)
    return same and there == expected.keys()


def reads_as(path: Path, text: str) -> bool:
    """Return whether a file holds a text; what is no text, in a file's name, is an escape there."""
    data = text.encode("utf-8", errors="backslashreplace")
    too_long = path.stat().st_size > 2 * len(data)  # as another system may end lines by two signs
    return not too_long and path.read_text("utf-8") == data.decode("utf-8")
