"""The option `--sensitive`, checked before any log is opened."""

from __future__ import annotations

from typing import Annotated

import typer

from ..log.sensitive import topics_to_drop


def _check_sensitive(setting: str | None) -> str | None:
    """Check the setting for sensitive topics before any log is opened."""
    if setting is not None:
        topics_to_drop(setting)
    return setting


_HELP = (
    "Rows about health, sexuality, religion, politics, crime or self-harm: keep{}, drop, or "
    "drop:health,crime for some of them."
)
Sensitive = Annotated[
    str, typer.Option(metavar="WORD", help=_HELP.format(""), callback=_check_sensitive)
]
ExtensionSensitive = Annotated[
    str | None,
    typer.Option(
        "--sensitive",
        metavar="WORD",
        help=_HELP.format(" (the default)"),
        callback=_check_sensitive,
    ),
]
