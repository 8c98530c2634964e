"""Sign a release, so that a changed copy of it is seen."""

from __future__ import annotations

from pathlib import Path

from ..core.progress import Progress
from ..errors import OutputError, VerificationError
from ..release.formats import SIGNATURE
from ..release.signing import Signer, key_place, make_key, public_key_of
from .verification import verify


def make_signing_key(path: str | Path | None = None) -> str:
    """Make a key pair, and return the public key; the private one lies at `path`, else at home."""
    return make_key(Path(path) if path is not None else key_place())


def show_signing_key(path: str | Path | None = None) -> str:
    """Return the public key of a private one."""
    return public_key_of(Path(path) if path is not None else key_place())


def sign(
    folder: str | Path,
    key: str | Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> str:
    """Sign the public files of a release that holds, and return the public key.

    `key` is the file of a private key, else the one at home. With `force` an earlier signature
    is replaced.
    """
    place = Path(folder)
    public = place / "public" if (place / "public").is_dir() else place
    if (public / SIGNATURE).exists() and not force:
        raise OutputError("this is signed already", where=public, hint="--force signs it anew")
    found = verify(place, progress=progress, signed=False)
    wrong = [finding["message"] for finding in found["findings"] if finding["holds"] is not True]
    if wrong:
        raise VerificationError(
            "only what holds is signed, and this does not: " + "; ".join(wrong), where=place
        )
    return Signer.read(Path(key) if key is not None else key_place()).sign(public)
