"""The option `--identifiers`, checked before any log is opened."""

from __future__ import annotations

from typing import Annotated

import typer

from ..log.screening import check_setting


def _check_identifiers(setting: str | None) -> str | None:
    """Check the setting for identifiers before any log is opened."""
    if setting is not None:
        check_setting(setting)
    return setting


Identifiers = Annotated[
    str,
    typer.Option(
        metavar="WORD",
        help="Rows with a name, e-mail address, phone number or the like: drop, mask or keep.",
        callback=_check_identifiers,
    ),
]
ExtensionIdentifiers = Annotated[
    str | None,
    typer.Option(
        "--identifiers",
        metavar="WORD",
        help="Rows with a name, e-mail address, phone number or the like: drop (the default), mask "
        "or keep.",
        callback=_check_identifiers,
    ),
]
