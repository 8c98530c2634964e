"""The files beside the public card that say the same in forms other tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .croissant import croissant
from .deployment import deployment

__all__ = ["as_written", "metadata", "metadata_fits"]

_MAKERS = {"croissant.json": croissant, "dp-deployment.json": deployment}


def metadata(card: dict[str, Any]) -> dict[str, str]:
    """Give the text of each file by its name; the card alone decides all of it."""
    made = {name: maker(card) for name, maker in _MAKERS.items()}
    return {
        name: json.dumps(what, indent=2, ensure_ascii=False) + "\n"
        for name, what in made.items()
        if what is not None
    }


def metadata_fits(card: dict[str, Any], public: Path) -> bool:
    """Tell whether the files that stand there are those of the card, no more and no less."""
    expected = {name: as_written(text) for name, text in metadata(card).items()}
    paths = [path for name in _MAKERS if (path := public / name).exists()]
    return {path.name: path.read_text("utf-8") for path in paths} == expected


def as_written(text: str) -> str:
    """Give a text as it stands in a file: what is no text, in a file's name, as an escape."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
