"""Check the options that exclude `anonymize --copy-of`."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError


def check_copy(has_run_options: bool, seed: int | None, sign: Path | None) -> None:
    """Raise an error for options of a run and for a new signature: a copy changes no byte."""
    if sign is not None:
        raise UsageError(
            "--copy-of cannot be combined with --sign: a copy keeps the signature of the original",
            hint="leave --sign out; `queryveil sign DIR` signs the copy afterwards",
        )
    if has_run_options or seed is not None:
        raise UsageError(
            "--copy-of cannot be combined with a method, --extend, --identifiers, --sensitive, "
            "--detectors or --seed: a copy has the bytes of the original",
            hint="leave them out, or leave --copy-of out for a new release that is charged again",
        )


def check_copied_format(source: Path, output_format: str) -> None:
    """Raise an error if the source has no log in the requested format."""
    if output_format != "parquet" and not (source / "public" / f"log.{output_format}").exists():
        raise UsageError(
            f"--copy-of cannot be combined with --output-format {output_format}: the release has "
            "no log in this format",
            where=source,
            hint="leave --output-format out",
        )


def check_groups_of(groups_of: Path | None, extend: Path | None, copy_of: Path | None) -> None:
    """Raise an error if --groups-of is used without a new release."""
    if groups_of is not None and (extend is not None or copy_of is not None):
        raise UsageError(
            f"--groups-of cannot be combined with "
            f"{'--extend' if extend is not None else '--copy-of'}",
            hint="--groups-of is for a new release of the microaggregation family",
        )
