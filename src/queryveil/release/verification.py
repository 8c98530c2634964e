"""Verification of a release from its public files alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from .._version import __version__
from ..core.bounded import read_json
from ..engine.operations import count_rows
from ..errors import InputError, VerificationError
from .cards import CARD_KEYS, public_figures
from .checks import CheckResult, run_check
from .formats import CARD, PUBLIC_SCHEMA, SIGNATURE, strange_names
from .guarantee import Check, Level
from .metadata import metadata_matches, reads_as
from .noise import noise_fits
from .page import render_card
from .untrusted import as_written, check_columns, check_plain, file_digest, read_data

# The keys and types that a card must have for its checks to be run and reported.
_CARD = {
    "method": str,
    "guarantee": dict,
    "standing": str,
    "release_grade": bool,
    "not_release_grade_because": list,
    "figures": dict,
    "files": dict,
}


def read_public_card(public: Path) -> dict[str, Any]:
    """Read the public card."""
    path = public / "release.json"
    if not path.is_file():
        raise InputError(
            "there is no release here", where=public.parent, hint="name the folder that "
            "`queryveil anonymize --out` wrote",
        )  # fmt: skip
    try:
        card = read_json(path)  # within bounds
        json.loads(path.read_text("utf-8"), object_pairs_hook=_each_once)
        whole = all(isinstance(card[name], kind) for name, kind in _CARD.items())
        promise = card["guarantee"]
        whole = whole and isinstance(promise["checks"], list) and isinstance(promise["model"], str)
    except (OSError, ValueError, KeyError, TypeError, VerificationError):
        whole = False
    if not whole:
        raise VerificationError(
            "the card is damaged: it is no JSON, or parts of it are missing", where=path
        )
    return dict(card)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict; raise for a repeated key: JSON readers differ on which counts."""
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise VerificationError("the card is damaged: a key is repeated")
    return keys


def verify_public(public: Path, *, ours: bool = False) -> list[CheckResult]:
    """Run every check that the card names, and those that hold for every release.

    `ours` is for files that this process has just written: they need no guard.
    """
    card = read_public_card(public)
    plain = check_plain(public)
    if not plain.holds:
        return [plain]
    checks = card["guarantee"]["checks"]
    results = [CheckResult("checks", bool(checks), f"the card names {len(checks):,} checks")]
    results += [plain, _check_names(public, card), _check_keys(card), _check_standing(card)]
    try:
        results.append(_check_files(public, card))
        log, tables = read_data(public, ours=ours)
        if log is None and not tables:
            return [*results, CheckResult("log", False, "the published log is missing")]
        if not ours:
            results.append(_allow_other_version(card, as_written(public, log, tables)))
        if log is not None:
            results.append(check_columns(log, public))
            log = _encoded(log, checks)
            results.append(_check_cells(log))
        results += [
            _check_identifiers(card),
            _check_figures(log, tables, card),
            _check_page(public, card),
            _check_metadata(public, card),
        ]
        results += _check_noise(tables, card)
        results += [_check_table(name, table) for name, table in tables.items()]
        results += [run_check(Check.from_dict(check), log, tables) for check in checks]
    except InputError as error:  # of the guard
        results.append(CheckResult("log", False, f"the files cannot be read: {error.what}"))
    except _UNREADABLE as error:
        text = (str(error).splitlines() or [type(error).__name__])[0][:200]
        results.append(CheckResult("log", False, f"the files cannot be read or checked: {text}"))
    return results


# The errors that a damaged log, or a card with unexpected values, can raise.
_UNREADABLE = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,  # which is no Exception
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)


_IN_ONE_PASS, _LONG = {"slots", "no-clicks", "no-identifiers"}, 20_000_000


def _check_names(public: Path, card: dict[str, Any]) -> CheckResult:
    """Check that all file names are known, and that there is one log: no check reads others."""
    there = {path.name for path in public.iterdir()}
    wrong = strange_names(there | {str(name) for name in card["files"]})
    message = "only files that a release has, and no second log"
    return CheckResult(
        "names", not wrong, f"not so ({', '.join(wrong)}): {message}" if wrong else message
    )


def _check_keys(card: dict[str, Any]) -> CheckResult:
    """Check that the card has all keys that queryveil writes, and no others."""
    wrong = sorted({str(key) for key in card} - CARD_KEYS | CARD_KEYS - card.keys())
    if wrong and card.get("queryveil") != __version__:
        return CheckResult(
            "keys", None, f"the parts of the card ({', '.join(wrong)}) {_unknown(card)}"
        )
    message = "the card has its parts, and no others"
    return CheckResult(
        "keys", not wrong, f"not so ({', '.join(wrong)}): {message}" if wrong else message
    )


def _check_standing(card: dict[str, Any]) -> CheckResult:
    """Check that the standing follows from the model and from the reasons on the card."""
    reasons, model = card["not_release_grade_because"], card["guarantee"]["model"]
    usual = Level.RULE_ONLY if model == "none" else Level.FORMAL
    level = Level.NOT_FOR_PUBLICATION if reasons else usual
    holds = card["standing"] == level and card["release_grade"] is (not reasons)
    message = f"the standing, {level.value}, follows from the guarantee and the reasons against it"
    return CheckResult("standing", holds, message if holds else f"not so on the card: {message}")


def _unknown(card: dict[str, Any]) -> str:
    version = str(card.get("queryveil"))[:20]
    return f"is of version {version}, which queryveil {__version__} cannot compare"


def _allow_other_version(card: dict[str, Any], result: CheckResult) -> CheckResult:
    """Return the result; one without a decision if another version wrote the files."""
    if result.holds or card.get("queryveil") == __version__:
        return result
    return CheckResult(result.check, None, f"the form of its files {_unknown(card)}")


def _check_files(public: Path, card: dict[str, Any]) -> CheckResult:
    expected = {str(name): str(digest) for name, digest in card["files"].items()}
    present = {path.name for path in public.iterdir()} - {CARD, SIGNATURE}
    wrong = sorted(present ^ expected.keys())
    wrong += [
        name
        for name in sorted(present & expected.keys())
        if file_digest(public / name) != expected[name]
    ]
    message = f"files differ from the card: {', '.join(wrong)}" if wrong else "files are as written"
    return CheckResult("files", not wrong, message)


def _encoded(log: pl.LazyFrame, checks: list[Any]) -> pl.LazyFrame:
    """Read the log once, with texts as categories, so that every check compares integers.

    A very long log whose checks read it in one pass stays on the disk, to save memory.
    """
    if all(check.get("check") in _IN_ONE_PASS for check in checks) and count_rows(log) > _LONG:
        return log
    texts = [name for name, dtype in PUBLIC_SCHEMA.items() if dtype == pl.String]
    categories = [pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in texts]
    return log.with_columns(categories).collect(engine="streaming").lazy()


def _check_cells(log: pl.LazyFrame) -> CheckResult:
    """Check that no required cell is empty: the other checks do not count empty cells."""
    empty = pl.col("user").is_null() | pl.col("query").is_null()
    rows = count_rows(log.filter(empty | (pl.col("rank").is_not_null() & pl.col("url").is_null())))
    message = "every row has a user and a query, and no rank stands without its URL"
    return CheckResult(
        "cells", rows == 0, message if not rows else f"not so in {rows:,} rows: {message}"
    )


def _check_identifiers(card: dict[str, Any]) -> CheckResult:
    """Check that a card for publication has a setting that removes identifiers."""
    setting = card.get("identifiers")
    if "identifiers" not in card and card.get("queryveil") != __version__:
        return CheckResult("identifiers", None, "another version did not look for identifiers")
    holds = setting in ("drop", "mask") or not card["release_grade"]
    message = f"identifiers: {setting or 'nobody looked for them'}"
    wrong = f"identifiers were let through, so this is not for publication ({message})"
    return CheckResult("identifiers", holds, message if holds else wrong)


def _check_page(public: Path, card: dict[str, Any]) -> CheckResult:
    """Check that the page follows from the card; a page of another version is not compared."""
    if card.get("queryveil") != __version__:
        return CheckResult("page", None, f"the page {_unknown(card)}")
    holds = reads_as(public / "report.html", render_card(card))
    message = "the page says what the card says"
    return CheckResult("page", holds, message if holds else f"not so: {message}")


def _check_metadata(public: Path, card: dict[str, Any]) -> CheckResult:
    """Check that the metadata follows from the card; see `_check_page` for other versions."""
    if card.get("queryveil") != __version__:
        return CheckResult("metadata", None, f"what describes it for other tools {_unknown(card)}")
    holds = metadata_matches(card, public)
    message = "the descriptions for other tools say what the card says"
    return CheckResult("metadata", holds, message if holds else f"not so: {message}")


def _check_noise(tables: dict[str, pl.DataFrame], card: dict[str, Any]) -> list[CheckResult]:
    """Check that the noise on the card follows from the tables; see `_check_page`."""
    if card.get("queryveil") != __version__:
        return [CheckResult("noise", None, f"what is said of the noise {_unknown(card)}")]
    holds = noise_fits(card, tables)
    message = "what the card message of the noise follows from the tables"
    if holds and not tables:
        return []
    return [CheckResult("noise", holds, message if holds else f"not so: {message}")]


def _check_table(name: str, table: pl.DataFrame) -> CheckResult:
    """Check that a table has no empty cell, no repeated key, and the order of its counts."""
    texts = [column for column in table.columns if column != "count"]
    order = table.sort("count", *texts, descending=[True, *(False for _ in texts)])
    whole = not sum(table.null_count().row(0)) and table.select(texts).is_unique().all()
    message = f"each key of {name}.tsv stands once, the greatest count first"
    holds = bool(whole and order.equals(table))
    return CheckResult("table", holds, message if holds else f"not so: {message}")


def _check_figures(
    log: pl.LazyFrame | None, tables: dict[str, pl.DataFrame], card: dict[str, Any]
) -> CheckResult:
    figures = public_figures(log, tables)
    holds = figures == card["figures"]
    message = "figures on the card follow from the files"
    return CheckResult(
        "figures", holds, message if holds else f"the files give other figures: {figures}"
    )
