"""Verify a release: its files, and what its card must state given the method and parameters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..concepts.loaders.registry import BUILT_IN
from ..core.arguments import guided
from ..core.progress import NoProgress, Progress
from ..core.records import Record
from ..errors import QueryveilError, UnknownVersionError, UsageError, VerificationError
from ..log.opening import LogLike, open_log
from ..methods.base import METHODS, Method, declared_parameters
from ..release.cards import PublicCard
from ..release.check_results import CheckResult
from ..release.detectors import add_detector_check
from ..release.formats import data_of
from ..release.guarantee import SEEDED, Guarantee, Level, standing_of
from ..release.identifiers import promised
from ..release.noise import CountNoise
from ..release.sensitive import add_topic_check
from ..release.signing import read_public_key, signature_of
from ..release.verification import check_folder, read_public_card, verify_public
from ..release.writing import archive_public
from .folder_checks import check_parts, check_private, check_same_card
from .repeated_releases import warnings_of_folder
from .source_verification import check_against_log

_LONG = 500  # characters of a claim that are shown
# Fields that define a guarantee; the others are texts, which versions may reword.
_NUMBERS = ("model", "unit", "k", "epsilon", "delta", "given", "checks")


@dataclass(frozen=True, repr=False)
class VerificationReport(Record):
    """The outcome of all checks of a release; it is falsy unless every check holds.

    Attributes:
        holds: None if no check fails but only another version of queryveil can run all of them.
        summary: The standing in one sentence.
        because: The reasons against publication.
        claims: What only the data owner can know, and no check can show.
        warnings: What the ledger knows of other releases of the same users.
    """

    shown = ("holds", "method", "standing")
    schema_number = 1

    holds: bool | None
    method: str
    model: str
    standing: Level
    summary: str
    release_grade: bool
    because: tuple[str, ...]
    findings: tuple[CheckResult, ...]
    claims: tuple[str, ...]
    warnings: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds is True

    def messages(self, holds: bool | None) -> list[str]:
        """Return the messages of the checks with this outcome."""
        return [finding.message for finding in self.findings if finding.holds is holds]


def promise_of(method: Method, card: PublicCard) -> Guarantee:
    """Return the guarantee of a method with the screening that the card names."""
    searched = promised(method.guarantee(), card.identifiers)
    return add_detector_check(add_topic_check(searched, card.sensitive), card.detectors)


def follows(card: PublicCard) -> list[CheckResult]:
    """Check a card against its method, which is rebuilt from its name and parameters."""
    if card.distribution is not None and card.method not in METHODS:
        return [CheckResult("promise", False, _describe_missing(card))]
    try:
        method = METHODS.find(card.method).from_params(dict(card.parameters))
        guarantee = promise_of(method, card)
        return [
            *_check_distribution(card),
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


def _describe_missing(card: PublicCard) -> str:
    return (
        f"the method {card.method} is not installed, so that nothing of its guarantee can be "
        f"checked: install {card.distribution}, if you trust it, and verify again"
    )


def _check_distribution(card: PublicCard) -> list[CheckResult]:
    """Check that the distribution that provides the method is the one on the card."""
    stated, installed = card.distribution, METHODS.distribution(card.method)
    if stated is None and installed is None:
        return []
    if stated == installed:
        message = f"the method is that of {stated}, which is installed here"
        return [CheckResult("distribution", True, message)]
    if stated is not None and installed is not None and stated.name == installed.name:
        message = f"the method is that of {stated}, and here is {installed}"
        return [CheckResult("distribution", None, message)]
    message = f"the method is not that of the distribution on the card ({stated or 'queryveil'})"
    return [CheckResult("distribution", False, message)]


def _check_guarantee(card: PublicCard, guarantee: Guarantee) -> CheckResult:
    """Check that the card states the guarantee of its method with these parameters."""
    of_method = f"that of {card.method} with these parameters"
    if guarantee.to_dict() == card.guarantee.to_dict():
        return CheckResult("promise", True, f"the guarantee is {of_method}")
    expected, stated = (
        [value for name, value in compared.to_dict().items() if name in _NUMBERS]
        for compared in (guarantee, card.guarantee)
    )
    if expected == stated and not card.is_of_this_version:
        message = f"the guarantee is {of_method}, but worded by another version"
        return CheckResult("promise", None, message)
    return CheckResult("promise", False, f"the guarantee is not {of_method}")


def _check_parameters(card: PublicCard, method: Method) -> CheckResult:
    """Check that the card has all parameters, as the method reads them."""
    if method.params() == card.parameters:
        message = f"the card has all parameters of {card.method}"
        return CheckResult("parameters", True, message)
    message = f"the parameters are not those of {card.method}"
    return _fail_or_unknown("parameters", card, message)


def _fail_or_unknown(check: str, card: PublicCard, message: str) -> CheckResult:
    """Return a failure, or an unknown outcome if another version wrote the card."""
    if not card.is_of_this_version:
        return CheckResult(check, None, f"{message} in this version, and another version wrote it")
    return CheckResult(check, False, message)


def _check_reasons(card: PublicCard, method: Method, guarantee: Guarantee) -> CheckResult:
    """Check that the card has each reason against publication that its parameters imply."""
    expected = standing_of(guarantee, method.reasons_not_to_publish()).because
    missing = [reason for reason in expected if reason not in card.not_release_grade_because]
    message = "the card has all reasons against publication that follow from its parameters"
    if missing:
        message = f"the card lacks a reason against publication ({missing[0]})"
    return CheckResult("reasons", not missing, message)


def _check_warnings(card: PublicCard, method: Method) -> CheckResult:
    """Check that the card has each warning that its parameters imply."""
    missing = [text for text in method.warnings() if text not in card.warnings]
    message = "the card has all warnings that follow from its parameters"
    if missing:
        message = f"the card lacks a warning ({missing[0]})"
    return CheckResult("warnings", not missing, message)


def _check_data(card: PublicCard, method: Method) -> CheckResult:
    """Check that there is no data file that the guarantee does not cover."""
    unexpected = sorted(data_of(card.files) - method.output_files())
    message = f"the data files are those of {card.method}"
    if unexpected:
        message = f"these are no data files of {card.method}: {', '.join(unexpected)}"
    return CheckResult("data", not unexpected, message)


def _check_noise(card: PublicCard, method: Method) -> list[CheckResult]:
    """Check the scale of the noise, if it follows from the card alone."""
    expected = _expect_noise(card, method)
    if expected is None or not (expected or card.noise.tables):
        return []
    if tuple(table.noise for table in card.noise.tables) == tuple(expected):
        message = f"the scale of the noise is that of {card.method} with these parameters"
        return [CheckResult("scale", True, message)]
    message = f"the scale of the noise is not that of {card.method} with these parameters"
    return [_fail_or_unknown("scale", card, message)]


def _expect_noise(card: PublicCard, method: Method) -> tuple[CountNoise, ...] | None:
    """Return the noise of each table; None if it does not follow from the card."""
    rows = {name.removesuffix(".tsv"): rows for name, rows in card.figures.tables.items()}
    if not rows:
        return ()  # the release is a log
    return method.table_noise(rows)


def _shorten(text: str) -> str:
    """Shorten a long claim, and state how many characters were cut."""
    excess = len(text) - _LONG
    return text if excess <= 0 else f"{text[:_LONG]} … and {excess:,} more characters on the card"


def claims_of(card: PublicCard, *, counted: bool = False) -> list[str]:
    """Return the claims of a card that cannot be checked on the files.

    Args:
        counted: Whether the users of each text were counted in the log.
    """
    try:
        return [_shorten(str(claim)) for claim in _list_claims(card, counted)]
    except (QueryveilError, LookupError, TypeError, AttributeError, ValueError):
        return ["all of it: queryveil writes no such card"]


def _list_claims(card: PublicCard, counted: bool) -> Iterator[str]:
    method = METHODS.find(card.method).from_params(dict(card.parameters))
    yield "that the method was run correctly, on a log with the stated number of users"
    if SEEDED not in card.not_release_grade_because:
        yield "that no fixed seed was used"
    if "min_users" in card.parameters and not counted:
        min_users = card.parameters["min_users"]
        yield f"that at least {min_users} users of the log sent each text (min_users)"
    if method.input_files() or card.parameters.get("taxonomy", "wordnet") not in BUILT_IN:
        yield "the names and contents of the files that the parameters refer to"
    expected = standing_of(promise_of(method, card), method.reasons_not_to_publish()).because
    for reason in card.not_release_grade_because:
        if reason not in (*expected, SEEDED):
            yield f"against publication: {reason}"
    for text in card.warnings:
        if text not in method.warnings():
            yield f"warning: {text}"
    if _expect_noise(card, method) is None:
        yield "the scale of the noise"
    for text in (*card.notes, *card.noise.statements):
        yield f"note: {text}"


@guided
def verify(
    folder: str | Path,
    *,
    signer: str | None = None,
    signed: bool = True,
    log: LogLike | None = None,
    progress: Progress | None = None,
) -> VerificationReport:
    """Run all checks of a release on its public files, and check who can read the private ones.

    Args:
        folder: The folder that was written, or a copy of its `public/` alone.
        signer: Public key of the required signer.
        signed: Whether to check the signature.
        log: The log of the release, for its data owner: the users of each text, click and time,
            and the share of each member of a group, are counted again in it.
        progress: Receives the stages of the work.

    Returns:
        The outcome of every check; it is falsy unless all of them hold.

    Raises:
        InputError: There is no such folder.
        VerificationError: The public card is damaged, or has parts that a card does not have.
        UsageError: Nothing on the card can be counted in the log, or it is another log.

    >>> import tempfile
    >>> import queryveil as qv
    >>> folder = tempfile.mkdtemp() + "/release"
    >>> _ = qv.anonymize(qv.make_log(50), qv.FrequentQueries(min_users=5)).write(folder)
    >>> bool(verify(folder))
    True
    """
    path, signer = Path(folder), None if signer is None else read_public_key(signer)
    check_folder(path)
    public = path / "public" if (path / "public").is_dir() else path
    with (progress or NoProgress()).stage("verify"):
        card = read_public_card(public)
        findings = verify_public(public, declared=declared_parameters(card.method))
    findings += follows(card)
    if public != path:
        findings.append(check_parts(path))
    if signed:
        findings.append(signature_of(public, signer))
    if log is not None:
        opened = open_log(log, {}, progress=progress)
        findings += check_against_log(path, card, opened, progress or NoProgress())
    if (private := path / "private").is_dir():
        findings.append(check_private(private))
        findings.append(check_same_card(private / "card.json", card))
    return VerificationReport(
        holds=_combine(findings),
        method=card.method,
        model=card.guarantee.model,
        standing=card.standing,
        summary=card.standing_summary,
        release_grade=card.release_grade,
        because=card.not_release_grade_because,
        findings=tuple(findings),
        claims=tuple(claims_of(card, counted=log is not None)),
        warnings=tuple(warnings_of_folder(path)),
    )


def _combine(findings: Sequence[CheckResult]) -> bool | None:
    """Return False if a check fails, None if none fails but one is unknown, else True."""
    outcomes = {finding.holds for finding in findings}
    return False if False in outcomes else None if None in outcomes else True


@guided
def pack(
    folder: str | Path,
    archive: str | Path | None = None,
    *,
    overwrite: bool = False,
    not_for_publication: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Archive the public files of a release that verifies, as .tar.gz.

    Args:
        folder: The folder of the release.
        archive: The archive to write; else beside the folder, with its name.
        overwrite: Whether an existing archive is replaced.
        not_for_publication: Whether to pack a release that is not for publication.
        progress: Receives the stages of the work.

    Returns:
        The path of the archive.

    Raises:
        VerificationError: The release does not verify.
        UsageError: The release is not for publication.

    >>> pack("no-release")
    Traceback (most recent call last):
    queryveil.errors.InputError: no-release: there is no such folder. \
Hint: name what `anonymize_to_folder()` wrote
    """
    report = verify(folder, progress=progress)
    # The private files are not packed, so who can read them does not matter here.
    findings = [finding for finding in report.findings if finding.check != "private"]
    _require_holds(findings, Path(folder))
    if not (report.release_grade or not_for_publication):
        raise UsageError(
            "this release is not for publication: " + "; ".join(report.because),
            where=folder,
            hint="remove these reasons, or pack it nevertheless with `not_for_publication=True`",
        )
    if not report.release_grade:
        warnings.warn("this release is marked as not for publication", stacklevel=2)
    for text in report.warnings:
        warnings.warn(text, stacklevel=2)
    return archive_public(Path(folder), None if archive is None else Path(archive), overwrite)


def _require_holds(findings: Sequence[CheckResult], folder: Path) -> None:
    """Raise an error if a check fails, or if this version cannot run it."""
    failures = [finding.message for finding in findings if finding.holds is False]
    if failures:
        text = "; ".join(failures)
        raise VerificationError(f"this release does not verify: {text}", where=folder)
    unknown = [finding.message for finding in findings if finding.holds is None]
    if unknown:
        raise UnknownVersionError(
            "; ".join(unknown), where=folder, hint="pack it with the version that wrote it"
        )
