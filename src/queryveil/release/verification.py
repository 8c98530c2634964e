"""Re-check a release from its public files alone."""

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

# What a release's card must have for its checks to be run and told.
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
    """Refuse a name that stands twice: readers differ in which of the two they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise VerificationError("the card is damaged: a name stands in it twice")
    return found


def verify_public(public: Path, *, ours: bool = False) -> list[CheckResult]:
    """Run every check that the card names, and those that hold for every release.

    `ours` is for files that this process has just written: they need no guard.
    """
    card = read_public_card(public)
    plain = check_plain(public)
    if not plain.holds:
        return [plain]
    checks = card["guarantee"]["checks"]
    findings = [CheckResult("checks", bool(checks), f"the card names {len(checks):,} checks")]
    findings += [plain, _names(public, card), _keys(card), _claimed(card)]
    try:
        findings.append(_files(public, card))
        log, tables = read_data(public, ours=ours)
        if log is None and not tables:
            return [*findings, CheckResult("log", False, "the published log is missing")]
        if not ours:
            findings.append(_told_by(card, as_written(public, log, tables)))
        if log is not None:
            findings.append(check_columns(log, public))
            log = _encoded(log, checks)
            findings.append(_cells(log))
        findings += [
            _setting(card),
            _figures(log, tables, card),
            _page(public, card),
            _metadata(public, card),
        ]
        findings += _noise(tables, card)
        findings += [_rows_of(name, table) for name, table in tables.items()]
        findings += [run_check(Check.from_dict(check), log, tables) for check in checks]
    except InputError as error:  # of the guard
        findings.append(CheckResult("log", False, f"the files cannot be read: {error.what}"))
    except _UNREADABLE as error:
        text = (str(error).splitlines() or [type(error).__name__])[0][:200]
        findings.append(CheckResult("log", False, f"the files cannot be read or checked: {text}"))
    return findings


# What a damaged log, or a card with other than queryveil's values, can raise on the way.
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


def _names(public: Path, card: dict[str, Any]) -> CheckResult:
    """Only names that a release can have, and one log: no check looks at anything else."""
    there = {path.name for path in public.iterdir()}
    wrong = strange_names(there | {str(name) for name in card["files"]})
    says = "only files that a release has, and no second log"
    return CheckResult(
        "names", not wrong, f"not so ({', '.join(wrong)}): {says}" if wrong else says
    )


def _keys(card: dict[str, Any]) -> CheckResult:
    """Nothing stands on the card that no queryveil writes, and nothing is left out."""
    wrong = sorted({str(key) for key in card} - CARD_KEYS | CARD_KEYS - card.keys())
    if wrong and card.get("queryveil") != __version__:
        return CheckResult(
            "keys", None, f"the parts of the card ({', '.join(wrong)}) {_unknown(card)}"
        )
    says = "the card has its parts, and no others"
    return CheckResult("keys", not wrong, f"not so ({', '.join(wrong)}): {says}" if wrong else says)


def _claimed(card: dict[str, Any]) -> CheckResult:
    """The standing follows from the model and from the reasons on the card."""
    reasons, model = card["not_release_grade_because"], card["guarantee"]["model"]
    usual = Level.RULE_ONLY if model == "none" else Level.FORMAL
    level = Level.NOT_FOR_PUBLICATION if reasons else usual
    holds = card["standing"] == level and card["release_grade"] is (not reasons)
    says = f"the standing, {level.value}, follows from the guarantee and the reasons against it"
    return CheckResult("standing", holds, says if holds else f"not so on the card: {says}")


def _unknown(card: dict[str, Any]) -> str:
    version = str(card.get("queryveil"))[:20]
    return f"is of version {version}, which queryveil {__version__} cannot compare"


def _told_by(card: dict[str, Any], finding: CheckResult) -> CheckResult:
    """Return what was found, or None for a file of another version that looks otherwise."""
    if finding.holds or card.get("queryveil") == __version__:
        return finding
    return CheckResult(finding.check, None, f"the form of its files {_unknown(card)}")


def _files(public: Path, card: dict[str, Any]) -> CheckResult:
    expected = {str(name): str(digest) for name, digest in card["files"].items()}
    found = {path.name for path in public.iterdir()} - {CARD, SIGNATURE}
    wrong = sorted(found ^ expected.keys())
    wrong += [n for n in sorted(found & expected.keys()) if _changed(public / n, expected[n])]
    says = f"files differ from the card: {', '.join(wrong)}" if wrong else "files are as written"
    return CheckResult("files", not wrong, says)


def _changed(path: Path, digest: str) -> bool:
    return file_digest(path) != digest


def _encoded(log: pl.LazyFrame, checks: list[Any]) -> pl.LazyFrame:
    """Read the log once, texts as numbers, so that every check counts numbers.

    A very long log whose checks read it in one pass is left where it is.
    """
    if all(one.get("check") in _IN_ONE_PASS for one in checks) and count_rows(log) > _LONG:
        return log
    texts = [name for name, kind in PUBLIC_SCHEMA.items() if kind == pl.String]
    kinds = [pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in texts]
    return log.with_columns(kinds).collect(engine="streaming").lazy()


def _cells(log: pl.LazyFrame) -> CheckResult:
    """No check counts an empty cell, so none may stand where it would matter."""
    empty = pl.col("user").is_null() | pl.col("query").is_null()
    rows = count_rows(log.filter(empty | (pl.col("rank").is_not_null() & pl.col("url").is_null())))
    says = "every row has a user and a query, and no rank stands without its URL"
    return CheckResult("cells", rows == 0, says if not rows else f"not so in {rows:,} rows: {says}")


def _setting(card: dict[str, Any]) -> CheckResult:
    """The card says what became of identifiers, and is for publication only if they are gone."""
    setting = card.get("identifiers")
    if "identifiers" not in card and card.get("queryveil") != __version__:
        return CheckResult("identifiers", None, "another version did not look for identifiers")
    holds = setting in ("drop", "mask") or not card["release_grade"]
    says = f"identifiers: {setting or 'nobody looked for them'}"
    wrong = f"identifiers were let through, so this is not for publication ({says})"
    return CheckResult("identifiers", holds, says if holds else wrong)


def _page(public: Path, card: dict[str, Any]) -> CheckResult:
    """The page for people says what the card says; another version may draw it otherwise."""
    if card.get("queryveil") != __version__:
        return CheckResult("page", None, f"the page {_unknown(card)}")
    holds = reads_as(public / "report.html", render_card(card))
    says = "the page says what the card says"
    return CheckResult("page", holds, says if holds else f"not so: {says}")


def _metadata(public: Path, card: dict[str, Any]) -> CheckResult:
    """The descriptions for other tools say what the card says; see `_page` for other versions."""
    if card.get("queryveil") != __version__:
        return CheckResult("metadata", None, f"what describes it for other tools {_unknown(card)}")
    holds = metadata_matches(card, public)
    says = "the descriptions for other tools say what the card says"
    return CheckResult("metadata", holds, says if holds else f"not so: {says}")


def _noise(tables: dict[str, pl.DataFrame], card: dict[str, Any]) -> list[CheckResult]:
    """What is said of the noise follows from the tables; see `_page` for other versions."""
    if card.get("queryveil") != __version__:
        return [CheckResult("noise", None, f"what is said of the noise {_unknown(card)}")]
    holds = noise_fits(card, tables)
    says = "what the card says of the noise follows from the tables"
    if holds and not tables:
        return []
    return [CheckResult("noise", holds, says if holds else f"not so: {says}")]


def _rows_of(name: str, table: pl.DataFrame) -> CheckResult:
    """Every cell of a table is filled, each key stands once, and the order is that of the rows."""
    texts = [column for column in table.columns if column != "count"]
    order = table.sort("count", *texts, descending=[True, *(False for _ in texts)])
    whole = not sum(table.null_count().row(0)) and table.select(texts).is_unique().all()
    says = f"each key of {name}.tsv stands once, the greatest count first"
    holds = bool(whole and order.equals(table))
    return CheckResult("table", holds, says if holds else f"not so: {says}")


def _figures(
    log: pl.LazyFrame | None, tables: dict[str, pl.DataFrame], card: dict[str, Any]
) -> CheckResult:
    found = public_figures(log, tables)
    holds = found == card["figures"]
    says = "figures on the card follow from the files"
    return CheckResult(
        "figures", holds, says if holds else f"the files give other figures: {found}"
    )
