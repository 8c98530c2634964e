"""What `anonymize --copy-of` cannot follow."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError


def check_copy(says_how: bool, seed: int | None, sign: Path | None) -> None:
    """Refuse what says how to draw, and a new signature: a copy draws and adds nothing."""
    if sign is not None:
        raise UsageError(
            "--copy-of with --sign: a copy has the signature that it is of, or none",
            hint="leave --sign out; `queryveil sign DIR` signs the copy afterwards",
        )
    if says_how or seed is not None:
        raise UsageError(
            "--copy-of with a method, --append, --identifiers or --seed: a copy has the bytes "
            "that it is of",
            hint="leave them out, or leave --copy-of out to draw and pay anew",
        )


def check_form(source: Path, form: str) -> None:
    """Refuse a form that the source has not, if one is asked for."""
    if form != "parquet" and not (source / "public" / f"log.{form}").exists():
        raise UsageError(
            f"--copy-of with --write {form}, and there is no log of this form to copy",
            where=source,
            hint="leave --write out",
        )
