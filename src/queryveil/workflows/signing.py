"""Sign a release, so that readers can detect a changed copy."""

from __future__ import annotations

from pathlib import Path

from ..core.arguments import guided
from ..core.progress import Progress
from ..errors import OutputError, VerificationError
from ..release.formats import SIGNATURE
from ..release.signing import Signer, key_place, make_key, public_key_of
from .verification import verify


@guided
def make_signing_key(path: str | Path | None = None) -> str:
    """Generate a key pair, write the private key and return the public key.

    Args:
        path: File of the private key, readable by its owner alone; else one in the home folder.

    Returns:
        The public key, for those who check signatures.

    Raises:
        OutputError: There is a key already.

    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/key"
    >>> make_signing_key(file) == show_signing_key(file)
    True
    """
    return make_key(Path(path) if path is not None else key_place())


@guided
def show_signing_key(path: str | Path | None = None) -> str:
    """Return the public key that belongs to a private key.

    Args:
        path: File of the private key; else the one in the home folder.

    Returns:
        The public key.

    Raises:
        InputError: There is no such key.

    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/key"
    >>> show_signing_key(file) if make_signing_key(file) is None else "a public key"
    'a public key'
    """
    return public_key_of(Path(path) if path is not None else key_place())


@guided
def sign(
    folder: str | Path,
    key: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> str:
    """Sign the public files of a release that verifies, and return the public key.

    Args:
        folder: The folder of the release.
        key: File of the private key; else the one in the home folder.
        overwrite: Whether to replace an earlier signature.
        progress: Receives the stages of the work.

    Returns:
        The public key, for those who check the signature.

    Raises:
        VerificationError: The release does not verify.
        OutputError: It is signed already.

    >>> import tempfile
    >>> import queryveil as qv
    >>> folder = tempfile.mkdtemp()
    >>> _ = qv.anonymize(qv.make_log(50), qv.FrequentQueries(min_users=5)).write(f"{folder}/out")
    >>> key = make_signing_key(f"{folder}/key")
    >>> sign(f"{folder}/out", f"{folder}/key") == key
    True
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
