"""Sign a release, so that readers can detect a changed copy."""

from __future__ import annotations

from pathlib import Path

from ..core.progress import Progress
from ..errors import OutputError, VerificationError
from ..release.formats import SIGNATURE
from ..release.signing import Signer, key_place, make_key, public_key_of
from .verification import verify


def make_signing_key(path: str | Path | None = None) -> str:
    """Generate a key pair, write the private key and return the public key.

    The private key is written to `path`, or else to the home folder.
    """
    return make_key(Path(path) if path is not None else key_place())


def show_signing_key(path: str | Path | None = None) -> str:
    """Return the public key that belongs to a private key."""
    return public_key_of(Path(path) if path is not None else key_place())


def sign(
    folder: str | Path,
    key: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> str:
    """Sign the public files of a release that verifies, and return the public key.

    Args:
        key: File of the private key; else the one in the home folder.
        overwrite: Whether to replace an earlier signature.
    """
    path = Path(folder)
    public = path / "public" if (path / "public").is_dir() else path
    if (public / SIGNATURE).exists() and not overwrite:
        raise OutputError(
            "this release is signed already", where=public, hint="`overwrite=True` signs it again"
        )
    report = verify(path, progress=progress, signed=False)
    if not report:
        problems = [*report.messages(False), *report.messages(None)]
        raise VerificationError(
            "a release that does not verify cannot be signed: " + "; ".join(problems), where=path
        )
    return Signer.read(Path(key) if key is not None else key_place()).sign(public)
