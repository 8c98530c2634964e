"""What of a card follows from its method and parameters, and what only its maker can say."""

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
from ..methods.base import Method, get_method
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

# What a promise is worth in numbers; the rest of it is words, which versions may change.
_LONG = 500  # characters of a claim that are shown
_NUMBERS = ("model", "unit", "k", "epsilon", "delta", "given", "checks")
_OF_NOISE = tuple(field.name for field in fields(CountNoise))


def promise_of(method: Method, card: Mapping[str, Any]) -> Guarantee:
    """Return what a method promises, with what the card says of the run around it."""
    return promised(method.guarantee(), card.get("identifiers"))


def follows(card: dict[str, Any]) -> list[CheckResult]:
    """Check all that a card says against its method, made anew from name and parameters."""
    try:
        method = get_method(card["method"]).from_params(card["parameters"])
        promise = promise_of(method, card)
        return [
            _promise(card, promise),
            _parameters(card, method),
            _reasons(card, method, promise),
            _warnings(card, method),
            _data(card, method),
            *_noise(card, method),
        ]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        says = "the card's method and parameters are none that queryveil has"
        return [CheckResult("promise", False, says)]


def _promise(card: dict[str, Any], promise: Guarantee) -> CheckResult:
    """Check that the card promises what its method promises with these parameters."""
    made = json.loads(json.dumps(promise.as_dict()))
    says = f"the promise is that of {card['method']} with these parameters"
    if made == card["guarantee"]:
        return CheckResult("promise", True, says)
    same = all(made[name] == card["guarantee"].get(name) for name in _NUMBERS)
    if same and card.get("queryveil") != __version__:
        return CheckResult("promise", None, f"{says}, in words of another version")
    return CheckResult("promise", False, f"not so: {says}")


def _parameters(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that every parameter is there, as the method reads it."""
    holds: bool | None = json.loads(json.dumps(method.params())) == card["parameters"]
    says = f"the parameters are those of {card['method']}, all of them"
    if not holds and card.get("queryveil") != __version__:
        return CheckResult("parameters", None, f"not known of another version: {says}")
    return CheckResult("parameters", holds, says if holds else f"not so: {says}")


def _reasons(card: dict[str, Any], method: Method, promise: Guarantee) -> CheckResult:
    """Check that each reason against publication that follows is on the card."""
    expected = standing_of(promise, method.unfit()).because
    missing = [why for why in expected if why not in card["not_release_grade_because"]]
    says = "what speaks against publication is on the card, as far as parameters show it"
    return CheckResult("reasons", not missing, f"not so ({missing[0]})" if missing else says)


def _warnings(card: dict[str, Any], method: Method) -> CheckResult:
    missing = [text for text in method.warnings() if text not in card["warnings"]]
    says = "the warnings that its parameters need are on the card"
    return CheckResult("warnings", not missing, f"not so: {says}" if missing else says)


def _data(card: dict[str, Any], method: Method) -> CheckResult:
    """Check that no data file is there that the promise says nothing about."""
    strange = sorted(data_of(card["files"]) - method.gives())
    says = f"the data files are those that {card['method']} gives"
    return CheckResult(
        "data", not strange, f"not so ({', '.join(strange)}): {says}" if strange else says
    )


def _noise(card: dict[str, Any], method: Method) -> list[CheckResult]:
    """Check that noise is as large as the method makes it, where the card alone shows that."""
    expected = _noises(card, method)
    if expected is None or not (expected or card["noise"]["tables"]):
        return []
    shown = [{name: one.get(name) for name in _OF_NOISE} for one in card["noise"]["tables"]]
    holds: bool | None = shown == json.loads(json.dumps([asdict(one) for one in expected]))
    says = f"the noise is as large as {card['method']} makes it with these parameters"
    if not holds and card.get("queryveil") != __version__:
        return [CheckResult("scale", None, f"not known of another version: {says}")]
    return [CheckResult("scale", holds, says if holds else f"not so: {says}")]


def _noises(card: dict[str, Any], method: Method) -> tuple[CountNoise, ...] | None:
    rows = {name.removesuffix(".tsv"): n for name, n in card["figures"].items() if "." in name}
    if not rows:
        return ()  # the release is a log
    return method.noises(rows)


def _shortened(text: str) -> str:
    """Keep a claim within what a screen shows, and say that there is more."""
    more = len(text) - _LONG
    return text if more <= 0 else f"{text[:_LONG]} … and {more:,} more characters on the card"


def claims_of(card: dict[str, Any]) -> list[str]:
    """Return what stands on a card and cannot be seen from the files: its maker says so."""
    try:
        return [_shortened(str(claim)) for claim in _claims(card)]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError):
        return ["all of it: the card is none that queryveil writes"]


def _claims(card: dict[str, Any]) -> Iterator[str]:
    method = get_method(card["method"]).from_params(card["parameters"])
    yield "that the method was run as it should be, on a log of as many people as it says"
    if SEEDED not in card["not_release_grade_because"]:
        yield "that no fixed seed was used"
    if "min_users" in card["parameters"]:
        least = card["parameters"]["min_users"]
        yield f"that at least {least} users of the log sent each text (min_users)"
    if method.input_files() or card["parameters"].get("taxonomy", "wordnet") != "wordnet":
        yield "what is in the files that the parameters name, and what these are called"
    expected = standing_of(promise_of(method, card), method.unfit()).because
    for why in card["not_release_grade_because"]:
        if why not in (*expected, SEEDED):
            yield f"against publication: {why}"
    for text in card["warnings"]:
        if text not in method.warnings():
            yield f"warning: {text}"
    noise = card["noise"]
    if _noises(card, method) is None:
        yield "how large the noise is"
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
    """Run every check of a release on its public files, and look who can read the private ones.

    Takes the folder that was written, or a copy of its `public/` alone. `holds` is None where
    nothing fails and another version of queryveil would be needed to compare all; `claims` are
    what only the maker of the release can know. `signer` is the public key of who must have
    signed it; with `signed` false no signature is looked at.
    """
    path, signer = Path(folder), None if signer is None else read_public_key(signer)
    if not path.is_dir():
        what = "this is a file, not a folder" if path.exists() else "there is no such folder"
        raise InputError(what, where=path, hint="name what `anonymize --out` wrote")
    public = path / "public" if (path / "public").is_dir() else path
    with (progress or NoProgress()).stage("verify"):
        findings = [asdict(finding) for finding in verify_public(public)]
    card = read_public_card(public)
    findings += [asdict(finding) for finding in follows(card)]
    if public != path:
        findings.append(_folder(path))
    if signed:
        findings.append(asdict(signature_of(public, signer)))
    if (private := path / "private").is_dir():
        findings.append(_private(private))
        findings.append(_same_card(private / "card.json", card))
    return {
        "holds": _together(findings),
        "method": card["method"],
        "model": card["guarantee"]["model"],
        "standing": card["standing"],
        "words": _words(card),
        "release_grade": card["release_grade"],
        "because": card["not_release_grade_because"],
        "findings": findings,
        "claims": claims_of(card),
        "warnings": warnings_of_folder(path),
    }


def _words(card: dict[str, Any]) -> str:
    """Return what the standing says, or that a forged one says nothing."""
    try:
        return words_of(card["guarantee"], card["standing"])
    except (LookupError, TypeError, ValueError):
        return "nothing: the card contradicts itself"


def _together(findings: list[dict[str, Any]]) -> bool | None:
    """Return False if anything fails, None if nothing does and something cannot be told."""
    found = {finding["holds"] for finding in findings}
    return False if False in found else None if None in found else True


def _folder(folder: Path) -> dict[str, Any]:
    """Tell whether anything stands beside what was checked: a reader could take it for that."""
    beside = sorted(path.name for path in folder.iterdir() if path.name not in _PARTS)
    beside += [name for name in _PARTS if (folder / name).exists() and not _is_plain(folder / name)]
    says = f"these do not belong to a release: {', '.join(beside)}"
    says = says if beside else "nothing stands beside the public and private files"
    return {"check": "folder", "holds": not beside, "message": says}


def _is_plain(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _private(folder: Path) -> dict[str, Any]:
    open_to_others = [
        path.name for path in (folder, *folder.iterdir()) if path.lstat().st_mode & 0o077
    ]
    names = ", ".join(sorted(open_to_others))
    says = f"others can read: {names}" if names else "private files are the owner's alone"
    return {"check": "private", "holds": not open_to_others, "message": says}


def _same_card(path: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Tell whether the public card still says what the owner's says."""
    try:
        written = read_json(path)
        left_out = written.keys() & CARD_KEYS - card.keys()
        changed = sorted({key for key in card if written.get(key, ...) != card[key]} | left_out)
    except FileNotFoundError:
        changed = ["all: the owner's card is missing"]
    except (OSError, ValueError, AttributeError):
        changed = ["all: the owner's card is damaged"]
    says = f"the public card differs from the owner's: {', '.join(changed)}"
    return {
        "check": "card",
        "holds": not changed,
        "message": says if changed else "the public card is as written",
    }


def pack(
    folder: str | Path,
    archive: str | Path | None = None,
    *,
    force: bool = False,
    not_for_publication: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Archive `public/` of a release that still keeps its promise, as .tar.gz.

    One that is not for publication is refused, unless `not_for_publication` says that this is
    known: an archive is what gets published.
    """
    found = verify(folder, progress=progress)
    # Who can read the private files is the owner's matter: they are not packed.
    others = [finding for finding in found["findings"] if finding["check"] != "private"]
    _check(others, Path(folder))
    if not (found["release_grade"] or not_for_publication):
        raise UsageError(
            "this release is not for publication: " + "; ".join(found["because"]),
            where=folder,
            hint="make one without these reasons; --not-for-publication packs it all the same",
        )
    if not found["release_grade"]:
        warnings.warn("this release is marked as not for publication", stacklevel=2)
    for text in found["warnings"]:
        warnings.warn(text, stacklevel=2)
    return archive_public(Path(folder), None if archive is None else Path(archive), force)


def _check(findings: list[dict[str, Any]], folder: Path) -> None:
    """Refuse what fails, and what this version cannot compare."""
    broken = [finding["message"] for finding in findings if finding["holds"] is False]
    if broken:
        text = "; ".join(broken)
        raise VerificationError(f"this release does not keep its promise: {text}", where=folder)
    unknown = [finding["message"] for finding in findings if finding["holds"] is None]
    if unknown:
        raise UnknownVersionError(
            "; ".join(unknown), where=folder, hint="pack it with the version that wrote it"
        )
