"""Archive what may be published, after a last look."""

from __future__ import annotations

import warnings
from pathlib import Path

from ..engine import Progress
from ..errors import VerificationError
from ..release import archive_public
from .verify import verify

__all__ = ["pack"]


def pack(
    folder: str | Path,
    archive: str | Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Archive `public/` of a release that still keeps its promise, as .tar.gz."""
    found = verify(folder, progress=progress)
    # Who can read the private files is the owner's matter: they are not packed.
    wrong = [f for f in found["findings"] if not f["holds"] and f["check"] != "private"]
    if wrong:
        broken = "; ".join(finding["says"] for finding in wrong)
        raise VerificationError(f"this release does not keep its promise: {broken}", where=folder)
    if not found["release_grade"]:
        warnings.warn("this release is marked as not for publication", stacklevel=2)
    return archive_public(Path(folder), None if archive is None else Path(archive), force)
