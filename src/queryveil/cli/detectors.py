"""The option `--detectors`, checked before any log is opened."""

from __future__ import annotations

from typing import Annotated

import typer

from ..log.detectors import parse_detectors
from .help import RARE


def _check_detectors(names: str | None) -> str | None:
    """Check the names of detectors before any log is opened."""
    if names is not None:
        parse_detectors(names)
    return names


Detectors = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        rich_help_panel=RARE,
        help="Installed detectors of others; what they flag counts as an identifier.",
        callback=_check_detectors,
    ),
]
