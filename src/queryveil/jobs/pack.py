"""Archive what may be published, after a last look."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ..core.progress import Progress
from ..errors import UnknownVersionError, UsageError, VerificationError
from ..release.pack import archive_public
from .verify import verify

__all__ = ["pack"]


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
    broken = [finding["says"] for finding in findings if finding["holds"] is False]
    if broken:
        text = "; ".join(broken)
        raise VerificationError(f"this release does not keep its promise: {text}", where=folder)
    unknown = [finding["says"] for finding in findings if finding["holds"] is None]
    if unknown:
        raise UnknownVersionError(
            "; ".join(unknown), where=folder, hint="pack it with the version that wrote it"
        )
