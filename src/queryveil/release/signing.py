"""An optional signature over the bytes of the public files, to detect a forged copy.

Ed25519 signs a list of names and digests. It contains no time, no host and no user name.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.bounded import read_json, read_within
from ..core.files import atomic_file
from ..errors import InputError, OutputError, UsageError
from .check_results import CheckResult
from .formats import SIGNATURE
from .untrusted import check_plain, file_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


UNSIGNED = "unsigned: a change of all files together cannot be detected"
_PREFIX = "queryveil-ed25519:"
_FIRST_LINE = "queryveil release, signed files, version 1"
_MAX_BYTES = 1 << 16  # of a signature file, or of a public key
_PARTS = {"version", "key", "signature"}


def manifest(public: Path) -> bytes:
    """Return the signed bytes: digest and name of each public file but the signature itself."""
    names = sorted(path.name for path in public.iterdir() if path.name != SIGNATURE)
    lines = [f"{file_digest(public / name)}  {name}" for name in names]
    return ("\n".join([_FIRST_LINE, *lines]) + "\n").encode("utf-8", errors="surrogateescape")


def key_place() -> Path:
    """Return the default path of the signing key of this account."""
    configured = Path(os.environ.get("XDG_DATA_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".local" / "share"
    return base / "queryveil" / "signing-key.pem"


def make_key(path: Path) -> str:
    """Create a key pair; write the private key with mode 600, and return the public key."""
    keys, forms = _library()
    key = keys.Ed25519PrivateKey.generate()
    pem = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
    except FileExistsError:
        hint = "a key is never replaced: take another name, or `queryveil keys show`"
        raise OutputError("this exists already", where=path, hint=hint) from None
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror})", where=path) from error
    return _text_of(key)


def public_key_of(path: Path) -> str:
    """Return the public key of a private one."""
    return _text_of(_private_key(path))


def read_public_key(text: str) -> str:
    """Return a public key, given as text or as a file that holds it."""
    if not text.startswith(_PREFIX):
        try:
            text = read_within(Path(text), _MAX_BYTES).decode("ascii").strip()
        except (OSError, ValueError) as error:
            hint = f"a key begins with {_PREFIX}; or name a file that holds one"
            raise UsageError("this is no public key", where=text, hint=hint) from error
    _raw(text)
    return text


@dataclass(frozen=True, repr=False)
class Signer:
    """A private key; it is read before budget is spent, and signs when the files are written."""

    key: Ed25519PrivateKey

    @classmethod
    def read(cls, path: Path) -> Signer:
        """Read a private key; raise InputError if it cannot sign."""
        return cls(_private_key(path))

    def sign(self, public: Path) -> str:
        """Sign the public files as they are, and return the public key."""
        signed = b64encode(self.key.sign(manifest(public))).decode()
        content = {"version": 1, "key": _text_of(self.key), "signature": signed}
        with atomic_file(public / SIGNATURE, overwrite=True) as part:
            part.write_text(json.dumps(content, indent=2) + "\n", encoding="ascii")
            part.chmod(0o644)
        return str(content["key"])


def signature_of(public: Path, signer: str | None = None) -> CheckResult:
    """Check the signature, and that it is the signer's where one is named."""
    path = public / SIGNATURE
    if not path.exists():
        message = UNSIGNED
        if signer is not None:
            message = "unsigned, though a signer was named: the signature was removed or never made"
        return CheckResult("signature", signer is None, message)
    if not check_plain(public).holds:
        return CheckResult("signature", False, "not checked: not all are plain files")
    holds, message = _check_signature(path, signer)
    return CheckResult("signature", holds, message)


def _check_signature(path: Path, signer: str | None) -> tuple[bool, str]:
    try:
        stored = read_json(path, most=_MAX_BYTES)
        if stored.keys() != _PARTS or stored["version"] != 1 or path.is_symlink():
            raise UsageError("this is no signature")
        raw, signature = _raw(stored["key"]), b64decode(stored["signature"], validate=True)
        check = _checker(raw)
    except (UsageError, OSError, ValueError, TypeError, AttributeError):
        return False, "the signature is damaged"
    if not check(signature, manifest(path.parent)):
        return False, "the signature is wrong: the files are not those signed"
    if signer is not None and _raw(signer) != raw:
        return False, f"signed by {stored['key']}, which is not the key that was named"
    known = "the key that was named" if signer else "not checked against a known key"
    return True, f"signed by {stored['key']} ({known})"


def _checker(raw: bytes) -> Callable[[bytes, bytes], bool]:
    keys, _ = _library()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  (slow to import)

    key = keys.Ed25519PublicKey.from_public_bytes(raw)

    def check(signature: bytes, data: bytes) -> bool:
        try:
            key.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    return check


def _private_key(path: Path) -> Ed25519PrivateKey:
    keys, forms = _library()
    try:
        if path.stat().st_mode & 0o077 and os.name == "posix":
            hint = "chmod 600, and make a new key if anybody may have read it"
            raise InputError("others can read this key", where=path, hint=hint)
        key = forms.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        hint = "make one: queryveil keys make"
        raise InputError(f"cannot be read ({error.strerror})", where=path, hint=hint) from error
    except (TypeError, ValueError):  # their messages could show parts of the key
        hint = "an Ed25519 key in PEM without a password, as `queryveil keys make` writes it"
        raise InputError("this is no signing key", where=path, hint=hint) from None
    if not isinstance(key, keys.Ed25519PrivateKey):
        raise InputError("this is no Ed25519 key", where=path, hint="make one: queryveil keys make")
    private_key: Ed25519PrivateKey = key
    return private_key


def _text_of(key: Ed25519PrivateKey) -> str:
    return _PREFIX + b64encode(key.public_key().public_bytes_raw()).decode()


def _raw(text: Any) -> bytes:
    if not isinstance(text, str) or not text.startswith(_PREFIX):
        raise UsageError("this is no public key", hint=f"it begins with {_PREFIX}")
    try:
        raw = b64decode(text.removeprefix(_PREFIX), validate=True)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise UsageError(
            "this is no public key", hint="copy the whole line of `queryveil keys show`"
        )
    return raw


def _library() -> tuple[Any, Any]:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  (slow to import)
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

    return ed25519, serialization
