"""Verification of a release from its public files alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from .._version import __version__
from ..core.parameters import Parameter
from ..engine.operations import count_rows
from ..errors import InputError
from .cards import Figures, PublicCard, public_figures, read_card
from .check_results import CheckResult
from .checks import requires_kinds, run_check
from .formats import CARD, SIGNATURE, strange_names
from .guarantee import Check, Level
from .metadata import metadata_matches, reads_as
from .page import render_card
from .samples import Samples, take_samples
from .text_checks import Tables
from .untrusted import as_written, check_columns, check_plain, file_digest, read_data


def check_folder(path: Path) -> None:
    """Raise an error if the folder of a release is a file, or does not exist."""
    if path.is_dir():
        return
    message = "this is a file, not a folder" if path.exists() else "there is no such folder"
    is_archive = path.is_file() and path.name.endswith((".tar.gz", ".tgz", ".zip"))
    hint = (
        "unpack it, and name the folder"
        if is_archive
        else "name what `anonymize_to_folder()` wrote"
    )
    raise InputError(message, where=path, hint=hint)


def read_public_card(public: Path) -> PublicCard:
    """Read the public card of a release.

    Raises:
        InputError: There is no release.
        VerificationError: The card is damaged, or has parts that a card does not have.
    """
    path = public / CARD
    if not path.is_file():
        folder = public.parent if public.name == "public" else public
        raise InputError(
            "there is no release here", where=folder, hint="name the folder that "
            "`anonymize_to_folder()` wrote",
        )  # fmt: skip
    return read_card(path, PublicCard)


def verify_public(
    public: Path, *, ours: bool = False, declared: Sequence[Parameter] | None = ()
) -> list[CheckResult]:
    """Run every check that the card names, and those that hold for every release.

    Args:
        ours: Whether this process has just written the files: they need no guard.
        declared: The declarations of the method's parameters, with which the page explains them;
            None if the method is not known here, so that the page cannot be compared.
    """
    card = read_public_card(public)
    plain = check_plain(public)
    if not plain.holds:
        return [plain]
    checks = card.guarantee.checks
    results = [CheckResult("checks", bool(checks), f"the card names {len(checks):,} checks")]
    results += [plain, _check_names(public, card), _check_standing(card)]
    try:
        results.append(_check_files(public, card))
        log, tables = read_data(public, ours=ours)
        if log is None and not tables:
            return [*results, CheckResult("log", False, "the published log is missing")]
        samples = take_samples(log, tables)
        if not ours:
            results.append(_allow_other_version(card, as_written(public, log, tables)))
        if log is not None:
            kinds = requires_kinds(checks)
            results.append(check_columns(log, public, with_kinds=kinds))
            log = _encoded(log, checks)
            results.append(_check_cells(log))
        results += [
            _check_identifiers(card),
            _check_figures(log, tables, card),
            _check_page(public, card, samples, declared),
            _check_metadata(public, card),
        ]
        results += _check_noise(tables, card)
        results += [_check_table(name, table) for name, table in tables.items()]
        results += [run_check(check, log, tables) for check in checks]
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


_FILTERS = {"no-identifiers", "no-sensitive-topics", "no-detected-texts"}
_IN_ONE_PASS, _LONG = {"slots", "no-clicks", "row-kinds", *_FILTERS}, 20_000_000


def _check_names(public: Path, card: PublicCard) -> CheckResult:
    """Check that all file names are known, and that there is one log: no check reads others."""
    there = {path.name for path in public.iterdir()}
    wrong = strange_names(there | set(card.files))
    message = "only files that a release has, and no second log"
    return CheckResult(
        "names", not wrong, f"not so ({', '.join(wrong)}): {message}" if wrong else message
    )


def _check_standing(card: PublicCard) -> CheckResult:
    """Check that the standing follows from the model and from the reasons on the card."""
    reasons = card.not_release_grade_because
    usual = Level.RULE_ONLY if card.guarantee.model == "none" else Level.FORMAL
    level = Level.NOT_FOR_PUBLICATION if reasons else usual
    holds = card.standing is level and card.release_grade is (not reasons)
    message = f"the standing, {level.value}, follows from the guarantee and the reasons against it"
    return CheckResult("standing", holds, message if holds else f"not so on the card: {message}")


def _unknown(card: PublicCard) -> str:
    return f"is of version {card.queryveil[:20]}, which queryveil {__version__} cannot compare"


def _allow_other_version(card: PublicCard, result: CheckResult) -> CheckResult:
    """Return the result; one without a decision if another version wrote the files."""
    if result.holds or card.is_of_this_version:
        return result
    return CheckResult(result.check, None, f"the form of its files {_unknown(card)}")


def _check_files(public: Path, card: PublicCard) -> CheckResult:
    expected = card.files
    present = {path.name for path in public.iterdir()} - {CARD, SIGNATURE}
    wrong = sorted(present ^ expected.keys())
    wrong += [
        name
        for name in sorted(present & expected.keys())
        if file_digest(public / name) != expected[name]
    ]
    message = f"files differ from the card: {', '.join(wrong)}" if wrong else "files are as written"
    return CheckResult("files", not wrong, message)


def _encoded(log: pl.LazyFrame, checks: Sequence[Check]) -> pl.LazyFrame:
    """Read the log once, with texts as categories, so that every check compares integers.

    A very long log whose checks read it in one pass stays on the disk, to save memory.
    """
    if all(check.check in _IN_ONE_PASS for check in checks) and count_rows(log) > _LONG:
        return log
    texts = [name for name, dtype in log.collect_schema().items() if dtype == pl.String]
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


def _check_identifiers(card: PublicCard) -> CheckResult:
    """Check that a card for publication has a setting that removes identifiers."""
    holds = card.identifiers in ("drop", "mask") or not card.release_grade
    message = f"identifiers: {card.identifiers or 'nobody looked for them'}"
    wrong = f"identifiers were let through, so this is not for publication ({message})"
    return CheckResult("identifiers", holds, message if holds else wrong)


def _check_page(
    public: Path, card: PublicCard, samples: Samples, declared: Sequence[Parameter] | None
) -> CheckResult:
    """Check that the page follows from card and files; that of another version is not compared."""
    if not card.is_of_this_version:
        return CheckResult("page", None, f"the page {_unknown(card)}")
    if declared is None:
        message = "the page explains the parameters of a method that is not installed here"
        return CheckResult("page", None, message)
    holds = reads_as(public / "report.html", render_card(card, samples, declared))
    message = "the page has what the card and the files have"
    return CheckResult("page", holds, message if holds else f"not so: {message}")


def _check_metadata(public: Path, card: PublicCard) -> CheckResult:
    """Check that the metadata follows from the card; see `_check_page` for other versions."""
    if not card.is_of_this_version:
        return CheckResult("metadata", None, f"what describes it for other tools {_unknown(card)}")
    holds = metadata_matches(card, public)
    message = "the descriptions for other tools have what the card has"
    return CheckResult("metadata", holds, message if holds else f"not so: {message}")


def _check_noise(tables: Tables, card: PublicCard) -> list[CheckResult]:
    """Check that the noise on the card follows from the tables; see `_check_page`."""
    if not card.is_of_this_version:
        return [CheckResult("noise", None, f"what is said of the noise {_unknown(card)}")]
    holds = card.noise.follows_from(tables)
    message = "the description of the noise on the card follows from the tables"
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


def _check_figures(log: pl.LazyFrame | None, tables: Tables, card: PublicCard) -> CheckResult:
    figures = public_figures(log, tables)
    holds = figures == card.figures
    message = "figures on the card follow from the files"
    return CheckResult("figures", holds, message if holds else _compare(figures, card.figures))


_TITLES = {
    "ids": "pseudonyms",
    "queries": "distinct queries",
    "urls": "distinct URLs",
    "parts": "distinct parts of queries",
}


def _compare(counted: Figures, stated: Figures) -> str:
    """Return the figures that differ, as counted in the files and as the card states them."""
    files, card = counted.to_dict(), stated.to_dict()
    differences = [
        f"{_TITLES.get(name, name)} {files.get(name, 0):,} (card: {card.get(name, 0):,})"
        for name in dict.fromkeys([*files, *card])
        if files.get(name) != card.get(name)
    ]
    return f"the files give other figures: {', '.join(differences)}"
