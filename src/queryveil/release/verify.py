"""Re-check a release from its public files alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl

from ..engine import count
from ..errors import InputError, VerificationError
from ..version import __version__
from .cards import figures_of
from .checks import Finding, run_check
from .formats import LOG_KINDS, read_public_log
from .guarantee import Check
from .metadata import as_written, metadata_fits
from .page import page
from .tables import read_public_tables

__all__ = ["file_digest", "load_card", "verify_public"]

# What a release's card must have for its checks to be run and told.
_CARD = {
    "method": str,
    "guarantee": dict,
    "release_grade": bool,
    "figures": dict,
    "files": dict,
}


def load_card(public: Path) -> dict[str, Any]:
    """Read the public card."""
    path = public / "release.json"
    if not path.is_file():
        raise InputError(
            "there is no release here", where=public.parent, hint="name the folder that "
            "`queryveil anonymize --out` wrote",
        )  # fmt: skip
    try:
        card = json.loads(path.read_text("utf-8"))
        whole = all(isinstance(card[name], kind) for name, kind in _CARD.items())
        promise = card["guarantee"]
        whole = whole and isinstance(promise["checks"], list) and isinstance(promise["model"], str)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise VerificationError(
            "the card is damaged: it is no JSON, or parts of it are missing", where=path
        )
    return dict(card)


def verify_public(public: Path) -> list[Finding]:
    """Run every check that the card names, and those that hold for every release."""
    card = load_card(public)
    checks = card["guarantee"]["checks"]
    findings = [Finding("checks", bool(checks), f"the card names {len(checks):,} checks")]
    try:
        findings.append(_files(public, card))
        log, tables = read_public_log(public), read_public_tables(public)
        if log is None and not tables:
            return [*findings, Finding("log", False, "the published log is missing")]
        if log is not None:
            findings.append(_columns(log))
            log = _encoded(log)
            findings.append(_cells(log))
        findings += [_figures(log, tables, card), _page(public, card), _metadata(public, card)]
        findings += [_rows_of(name, table) for name, table in tables.items()]
        findings += [run_check(Check.from_dict(check), log, tables) for check in checks]
    except _UNREADABLE as error:
        text = (str(error).splitlines() or [type(error).__name__])[0][:200]
        findings.append(Finding("log", False, f"the files cannot be read or checked: {text}"))
    return findings


# What a damaged log, or a card with other than queryveil's values, can raise on the way.
_UNREADABLE = (
    pl.exceptions.PolarsError,
    ArithmeticError,
    AttributeError,
    KeyError,
    OSError,
    TypeError,
    ValueError,
)


def file_digest(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(public: Path, card: dict[str, Any]) -> Finding:
    expected = {str(name): str(digest) for name, digest in card["files"].items()}
    found = {path.name for path in public.iterdir()} - {"release.json"}
    wrong = sorted(found ^ expected.keys())
    wrong += [n for n in sorted(found & expected.keys()) if _changed(public / n, expected[n])]
    says = f"files differ from the card: {', '.join(wrong)}" if wrong else "files are as written"
    return Finding("files", not wrong, says)


def _changed(path: Path, digest: str) -> bool:
    # A link is no file of the release: packed, it would carry a path of the owner's machine.
    return path.is_symlink() or not path.is_file() or file_digest(path) != digest


def _encoded(log: pl.LazyFrame) -> pl.LazyFrame:
    """Read the log once, texts as numbers, so that every check counts numbers."""
    texts = [name for name, kind in LOG_KINDS.items() if kind == pl.String]
    kinds = [pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in texts]
    return log.with_columns(kinds).collect(engine="streaming").lazy()


def _cells(log: pl.LazyFrame) -> Finding:
    """No check counts an empty cell, so none may stand where it would matter."""
    empty = pl.col("user").is_null() | pl.col("query").is_null()
    rows = count(log.filter(empty | (pl.col("rank").is_not_null() & pl.col("url").is_null())))
    says = "every row has a user and a query, and no rank stands without its URL"
    return Finding("cells", rows == 0, says if not rows else f"not so in {rows:,} rows: {says}")


def _page(public: Path, card: dict[str, Any]) -> Finding:
    """The page for people says what the card says; another version may draw it otherwise."""
    if card.get("queryveil") != __version__:
        return Finding("page", True, "the page was drawn by another version and is not compared")
    holds = (public / "report.html").read_text("utf-8") == as_written(page(card))
    says = "the page says what the card says"
    return Finding("page", holds, says if holds else f"not so: {says}")


def _metadata(public: Path, card: dict[str, Any]) -> Finding:
    """The descriptions for other tools say what the card says; see `_page` for other versions."""
    if card.get("queryveil") != __version__:
        return Finding("metadata", True, "the descriptions for other tools are not compared")
    holds = metadata_fits(card, public)
    says = "the descriptions for other tools say what the card says"
    return Finding("metadata", holds, says if holds else f"not so: {says}")


def _columns(log: pl.LazyFrame) -> Finding:
    names = log.collect_schema().names()
    holds = names == list(LOG_KINDS)
    return Finding("columns", holds, f"columns are {', '.join(names)}")


def _rows_of(name: str, table: pl.DataFrame) -> Finding:
    """Every cell of a table is filled, each key stands once, and the order is that of the rows."""
    texts = [column for column in table.columns if column != "count"]
    order = table.sort("count", *texts, descending=[True, *(False for _ in texts)])
    whole = not sum(table.null_count().row(0)) and table.select(texts).is_unique().all()
    says = f"each key of {name}.tsv stands once, the greatest count first"
    holds = bool(whole and order.equals(table))
    return Finding("table", holds, says if holds else f"not so: {says}")


def _figures(
    log: pl.LazyFrame | None, tables: dict[str, pl.DataFrame], card: dict[str, Any]
) -> Finding:
    found = figures_of(log, tables)
    holds = found == card["figures"]
    says = "figures on the card follow from the files"
    return Finding("figures", holds, says if holds else f"the files give other figures: {found}")
