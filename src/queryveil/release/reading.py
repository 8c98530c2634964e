"""Read a written release back, to measure it."""

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
    """Give a release as its method gave it, as far as files tell; `source` is the log it is of.

    Without the private mapping nobody can tell whose log is whose: some measures need that.
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


# What a card with other than queryveil's values can raise.
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
    """Refuse another log than that of the release: its figures would say that all is well.

    The same rows in another file, packed or not, are the same log.
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
    """Return who has which pseudonym, and whatever else stands there, as texts."""
    try:
        table = pl.read_csv(path, separator="\t", infer_schema=False, glob=False)
        return table.with_columns(unescape_formula(pl.col(name)).alias(name) for name in names)
    except (pl.exceptions.PolarsError, OSError):  # which would show cells of it
        raise VerificationError("this mapping is damaged", where=path) from None


def _guarantee(card: dict[str, Any]) -> Guarantee:
    known = {field.name for field in fields(Guarantee)}
    told = {name: value for name, value in card.items() if name in known}
    told |= {name: tuple(told.get(name, ())) for name in ("assumptions", "not_covered")}
    told["losses"] = _losses(told.get("losses", ()))
    return Guarantee(**told | {"checks": tuple(Check.from_dict(one) for one in card["checks"])})


def _losses(told: Any) -> tuple[Loss, ...]:
    try:
        return tuple(Loss.from_dict(one) for one in told)
    except (KeyError, TypeError, UsageError):
        raise VerificationError("the card is damaged: its losses are none") from None
