"""Verify a release: its files, and what its card must state given the method and parameters."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .._version import __version__
from ..core.bounded import read_json
from ..core.progress import NoProgress, Progress
from ..errors import InputError, QueryveilError, UnknownVersionError, UsageError, VerificationError
from ..methods.base import METHODS, Method
from ..release.cards import CARD_KEYS
from ..release.checks import CheckResult
from ..release.formats import data_of
from ..release.guarantee import SEEDED, Guarantee, standing_of, words_of
from ..release.identifiers import promised
from ..release.noise import CountNoise
from ..release.signing import read_public_key, signature_of
from ..release.verification import read_public_card, verify_public
from ..release.writing import archive_public
from .repeated_releases import warnings_of_folder

_LONG = 500  # characters of a claim that are shown
# Fields that define a guarantee; the others are texts, which versions may reword.
_NUMBERS = ("model", "unit", "k", "epsilon", "delta", "given", "checks")
_NOISE_FIELDS = tuple(field.name for field in fields(CountNoise))


def promise_of(method: Method, card: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of a method, given the identifier setting on the card."""
    return promised(method.guarantee(), card.get("identifiers"))


def follows(card: dict[str, Any]) -> list[CheckResult]:
    """Check a card against its method, which is rebuilt from its name and parameters."""
    try:
        method = METHODS.find(card["method"]).from_params(card["parameters"])
        guarantee = promise_of(method, card)
        return [
            _check_guarantee(card, guarantee),
            _check_parameters(card, method),
            _check_reasons(card, method, guarantee),
            _check_warnings(card, method),
            _check_data(card, method),
            *_check_noise(card, method),
        ]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        message = "queryveil has no method with the name and parameters on the card"
        return [CheckResult("promise", False, message)]


def _check_guarantee(card: dict[str, Any], guarantee: Guarantee) -> CheckResult:
    """Check that the card states the guarantee of its method with these parameters."""
    expected = json.loads(json.dumps(guarantee.as_dict()))
    of_method = f"that of {card['method']} with these parameters"
    if expected == card["guarantee"]:
        return CheckResult("promise", True, f"the guarantee is {of_method}")
    same_numbers = all(expected[name] == card["guarantee"].get(name) for name in _NUMBERS)
    if same_numbers and card.get("queryveil") != __version__:
        message = f"the guarantee is {of_method}, but worded by another version"
        return CheckResult("promise", None, message)
    return CheckResult("promise", False, f"the guarantee is not {of_method}")


def _check_parameters(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that the card has all parameters, as the method reads them."""
    if json.loads(json.dumps(method.params())) == card["parameters"]:
        message = f"the card has all parameters of {card['method']}"
        return CheckResult("parameters", True, message)
    message = f"the parameters are not those of {card['method']}"
    return _fail_or_unknown("parameters", card, message)


def _fail_or_unknown(check: str, card: dict[str, Any], message: str) -> CheckResult:
    """Return a failure, or an unknown outcome if another version wrote the card."""
    if card.get("queryveil") != __version__:
        return CheckResult(check, None, f"{message} in this version, and another version wrote it")
    return CheckResult(check, False, message)


def _check_reasons(card: dict[str, Any], method: Method, guarantee: Guarantee) -> CheckResult:
    """Check that the card has each reason against publication that its parameters imply."""
    expected = standing_of(guarantee, method.reasons_not_to_publish()).because
    missing = [reason for reason in expected if reason not in card["not_release_grade_because"]]
    message = "the card has all reasons against publication that follow from its parameters"
    if missing:
        message = f"the card lacks a reason against publication ({missing[0]})"
    return CheckResult("reasons", not missing, message)


def _check_warnings(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that the card has each warning that its parameters imply."""
    missing = [text for text in method.warnings() if text not in card["warnings"]]
    message = "the card has all warnings that follow from its parameters"
    if missing:
        message = f"the card lacks a warning ({missing[0]})"
    return CheckResult("warnings", not missing, message)


def _check_data(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that there is no data file that the guarantee does not cover."""
    unexpected = sorted(data_of(card["files"]) - method.output_files())
    message = f"the data files are those of {card['method']}"
    if unexpected:
        message = f"these are no data files of {card['method']}: {', '.join(unexpected)}"
    return CheckResult("data", not unexpected, message)


def _check_noise(card: dict[str, Any], method: Method) -> list[CheckResult]:
    """Check the scale of the noise, if it follows from the card alone."""
    expected = _expect_noise(card, method)
    if expected is None or not (expected or card["noise"]["tables"]):
        return []
    stated = [
        {name: noise.get(name) for name in _NOISE_FIELDS} for noise in card["noise"]["tables"]
    ]
    if stated == json.loads(json.dumps([asdict(noise) for noise in expected])):
        message = f"the scale of the noise is that of {card['method']} with these parameters"
        return [CheckResult("scale", True, message)]
    message = f"the scale of the noise is not that of {card['method']} with these parameters"
    return [_fail_or_unknown("scale", card, message)]


def _expect_noise(card: dict[str, Any], method: Method) -> tuple[CountNoise, ...] | None:
    """Return the noise of each table; None if it does not follow from the card."""
    rows = {name.removesuffix(".tsv"): n for name, n in card["figures"].items() if "." in name}
    if not rows:
        return ()  # the release is a log
    return method.table_noise(rows)


def _shorten(text: str) -> str:
    """Shorten a long claim, and state how many characters were cut."""
    excess = len(text) - _LONG
    return text if excess <= 0 else f"{text[:_LONG]} … and {excess:,} more characters on the card"


def claims_of(card: dict[str, Any]) -> list[str]:
    """Return the claims of a card that cannot be checked on the files."""
    try:
        return [_shorten(str(claim)) for claim in _list_claims(card)]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError):
        return ["all of it: queryveil writes no such card"]


def _list_claims(card: dict[str, Any]) -> Iterator[str]:
    method = METHODS.find(card["method"]).from_params(card["parameters"])
    yield "that the method was run correctly, on a log with the stated number of users"
    if SEEDED not in card["not_release_grade_because"]:
        yield "that no fixed seed was used"
    if "min_users" in card["parameters"]:
        min_users = card["parameters"]["min_users"]
        yield f"that at least {min_users} users of the log sent each text (min_users)"
    if method.input_files() or card["parameters"].get("taxonomy", "wordnet") != "wordnet":
        yield "the names and contents of the files that the parameters refer to"
    expected = standing_of(promise_of(method, card), method.reasons_not_to_publish()).because
    for reason in card["not_release_grade_because"]:
        if reason not in (*expected, SEEDED):
            yield f"against publication: {reason}"
    for text in card["warnings"]:
        if text not in method.warnings():
            yield f"warning: {text}"
    noise = card["noise"]
    if _expect_noise(card, method) is None:
        yield "the scale of the noise"
    for text in (*card["notes"], *noise["statements"]):
        yield f"note: {text}"


_PARTS = ("public", "private")


def verify(
    folder: str | Path,
    *,
    signer: str | None = None,
    signed: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run all checks of a release on its public files, and check who can read the private ones.

    In the result, `holds` is None if no check fails but only another version of queryveil can
    run all of them. `claims` are statements that only the data owner can know.

    Args:
        folder: The folder that was written, or a copy of its `public/` alone.
        signer: Public key of the required signer.
        signed: Whether to check the signature.
    """
    path, signer = Path(folder), None if signer is None else read_public_key(signer)
    if not path.is_dir():
        message = "this is a file, not a folder" if path.exists() else "there is no such folder"
        raise InputError(message, where=path, hint="name what `anonymize --out` wrote")
    public = path / "public" if (path / "public").is_dir() else path
    with (progress or NoProgress()).stage("verify"):
        checks = [asdict(check) for check in verify_public(public)]
    card = read_public_card(public)
    checks += [asdict(check) for check in follows(card)]
    if public != path:
        checks.append(_check_folder(path))
    if signed:
        checks.append(asdict(signature_of(public, signer)))
    if (private := path / "private").is_dir():
        checks.append(_check_private(private))
        checks.append(_check_same_card(private / "card.json", card))
    return {
        "holds": _combine(checks),
        "method": card["method"],
        "model": card["guarantee"]["model"],
        "standing": card["standing"],
        "words": _summarize_standing(card),
        "release_grade": card["release_grade"],
        "because": card["not_release_grade_because"],
        "findings": checks,
        "claims": claims_of(card),
        "warnings": warnings_of_folder(path),
    }


def _summarize_standing(card: dict[str, Any]) -> str:
    """Return the standing as a sentence; a forged card gets a sentence that says so."""
    try:
        return words_of(card["guarantee"], card["standing"])
    except (LookupError, TypeError, ValueError):
        return "nothing: the card contradicts itself"


def _combine(checks: list[dict[str, Any]]) -> bool | None:
    """Return False if a check fails, None if none fails but one is unknown, else True."""
    outcomes = {check["holds"] for check in checks}
    return False if False in outcomes else None if None in outcomes else True


def _check_folder(folder: Path) -> dict[str, Any]:
    """Check that the folder has no other files, which readers could take for checked ones."""
    others = sorted(path.name for path in folder.iterdir() if path.name not in _PARTS)
    others += [name for name in _PARTS if (folder / name).exists() and not _is_plain(folder / name)]
    message = "the folder has no files other than public and private ones"
    if others:
        message = f"these do not belong to a release: {', '.join(others)}"
    return {"check": "folder", "holds": not others, "message": message}


def _is_plain(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _check_private(folder: Path) -> dict[str, Any]:
    """Check that only the data owner can read the private files."""
    open_to_others = [
        path.name for path in (folder, *folder.iterdir()) if path.lstat().st_mode & 0o077
    ]
    names = ", ".join(sorted(open_to_others))
    message = "only the owner can read the private files"
    if names:
        message = f"others can read these private files: {names}"
    return {"check": "private", "holds": not open_to_others, "message": message}


def _check_same_card(path: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Check that the public card agrees with the private card."""
    try:
        private_card = read_json(path)
        missing = private_card.keys() & CARD_KEYS - card.keys()
        differing = {key for key in card if private_card.get(key, ...) != card[key]}
        changed = sorted(differing | missing)
    except FileNotFoundError:
        changed = ["all: the private card is missing"]
    except (OSError, ValueError, AttributeError):
        changed = ["all: the private card is damaged"]
    message = "the public card is as written"
    if changed:
        message = f"the public card differs from the private card: {', '.join(changed)}"
    return {"check": "card", "holds": not changed, "message": message}


def pack(
    folder: str | Path,
    archive: str | Path | None = None,
    *,
    overwrite: bool = False,
    not_for_publication: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Archive the public files of a release that verifies, as .tar.gz.

    An archive is meant to be published. A release that is not for publication is therefore
    refused, unless `not_for_publication` is set.
    """
    verification = verify(folder, progress=progress)
    # The private files are not packed, so who can read them does not matter here.
    checks = [check for check in verification["findings"] if check["check"] != "private"]
    _require_holds(checks, Path(folder))
    if not (verification["release_grade"] or not_for_publication):
        raise UsageError(
            "this release is not for publication: " + "; ".join(verification["because"]),
            where=folder,
            hint="remove these reasons, or pack it nevertheless with --not-for-publication",
        )
    if not verification["release_grade"]:
        warnings.warn("this release is marked as not for publication", stacklevel=2)
    for text in verification["warnings"]:
        warnings.warn(text, stacklevel=2)
    return archive_public(Path(folder), None if archive is None else Path(archive), overwrite)


def _require_holds(checks: list[dict[str, Any]], folder: Path) -> None:
    """Raise an error if a check fails, or if this version cannot run it."""
    failures = [check["message"] for check in checks if check["holds"] is False]
    if failures:
        text = "; ".join(failures)
        raise VerificationError(f"this release does not verify: {text}", where=folder)
    unknown = [check["message"] for check in checks if check["holds"] is None]
    if unknown:
        raise UnknownVersionError(
            "; ".join(unknown), where=folder, hint="pack it with the version that wrote it"
        )
