"""Read a written release, to measure it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from ..core.folders import read_json_card
from ..dp.losses import Loss
from ..errors import UsageError, VerificationError
from ..log.query_log import QueryLog
from .formats import unescape_formula
from .guarantee import Check, Guarantee
from .release import Release
from .untrusted import read_data
from .verification import read_public_card


def read_release(folder: Path, source: QueryLog) -> Release:
    """Return a release as far as its files hold it; `source` is the log that it was made of.

    Without the private mapping the pseudonyms are not linked to users; some measures need that.
    """
    card, own = (
        read_public_card(folder / "public"),
        read_json_card(folder / "private" / "card.json"),
    )
    try:
        _check_same(own.get("input", {}), source, folder)
        return _release(folder, card, own, source)
    except _OTHER_FORM as error:
        raise VerificationError("a card of this release is damaged", where=folder) from error


# The errors that a card with unexpected values can raise.
_OTHER_FORM = (AttributeError, LookupError, TypeError, ValueError)


def _release(folder: Path, card: dict[str, Any], own: dict[str, Any], source: QueryLog) -> Release:
    mapping = folder / "private" / "mapping.tsv"
    log, tables = read_data(folder / "public", ours=False)
    return Release(
        method=card["method"],
        parameters=card.get("parameters", {}),
        guarantee=_guarantee(card["guarantee"]),
        source=source,
        log=log,
        tables=tables,
        mapping=read_pseudonyms(mapping) if mapping.is_file() else None,
        method_spec=own.get("recipe"),
        identifiers=card.get("identifiers"),
    )


def _check_same(known: dict[str, Any], log: QueryLog, folder: Path) -> None:
    """Raise UsageError for another log than that of the release: its risks would look too low.

    The same rows in another file, compressed or not, are the same log.
    """
    digests = set(known.get("sha256", {}).values())
    if not digests or digests == {source.sha256 for source in log.sources}:
        return
    counted = {"users": log.count_distinct("user"), "queries": log.count_distinct("query")}
    if any(known.get(name) != number for name, number in counted.items()):
        raise UsageError(
            "this release was made of another log",
            where=folder,
            hint="name the very files that it was made of, read in the same way",
        )


def read_pseudonyms(path: Path, names: tuple[str, ...] = ("user", "pseudonym")) -> pl.DataFrame:
    """Return the table of users and pseudonyms, all columns as texts."""
    try:
        table = pl.read_csv(path, separator="\t", infer_schema=False, glob=False)
        return table.with_columns(unescape_formula(pl.col(name)).alias(name) for name in names)
    except (pl.exceptions.PolarsError, OSError):  # their messages would show cells of the mapping
        raise VerificationError("this mapping is damaged", where=path) from None


def _guarantee(card: dict[str, Any]) -> Guarantee:
    known = {field.name for field in fields(Guarantee)}
    values = {name: value for name, value in card.items() if name in known}
    values |= {name: tuple(values.get(name, ())) for name in ("assumptions", "not_covered")}
    values["losses"] = _read_losses(values.get("losses", ()))
    values["checks"] = tuple(Check.from_dict(check) for check in card["checks"])
    return Guarantee(**values)


def _read_losses(stored: Any) -> tuple[Loss, ...]:
    try:
        return tuple(Loss.from_dict(loss) for loss in stored)
    except (KeyError, TypeError, UsageError):
        raise VerificationError("the card is damaged: its losses cannot be read") from None
