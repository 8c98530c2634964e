"""The identity of a node (key, certificate, TLS context), invitations and the list of friends.

A certificate is self-signed and contains no information on the user. Friends exchange
certificates in their invitations. TLS 1.3 proves that the other side has the private key; nothing
else is trusted.
"""

from __future__ import annotations

import re
import ssl
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID

from ...errors import FormatError, InputError, UsageError
from .storage import NodeDirectory

_KEY, _CERTIFICATE = "key.pem", "certificate.pem"


@dataclass(frozen=True, repr=False)
class Identity:
    """The certificate of a node, and the folder with its private key."""

    certificate: bytes  # DER
    home: NodeDirectory

    @property
    def fingerprint(self) -> str:
        """The digest of the public key, which identifies the node to friends."""
        return fingerprint(self.certificate)

    def context(self, *, server: bool, friends: Iterable[bytes]) -> ssl.SSLContext:
        """Build the TLS context of one side: TLS 1.3, mutual authentication, friends only."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False  # a friend is identified by a key, not by an address
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        if server:
            context.num_tickets = 0  # no session is resumed
        context.load_cert_chain(self.home.path / _CERTIFICATE, self.home.path / _KEY)
        for friend in friends:
            trust_certificate(context, friend)
        return context


def trust_certificate(context: ssl.SSLContext, certificate: bytes) -> None:
    """Accept one more certificate of a friend."""
    context.load_verify_locations(cadata=certificate)


def peer_fingerprint(link: ssl.SSLObject) -> str:
    """Return the fingerprint of the key at the other end of a link, or "" without certificate."""
    certificate = link.getpeercert(binary_form=True)
    return fingerprint(certificate) if certificate else ""


def fingerprint(certificate: bytes) -> str:
    """Return the digest of a certificate's public key, which must be an Ed25519 key."""
    try:
        parsed = x509.load_der_x509_certificate(certificate)
        constraints = parsed.extensions.get_extension_for_class(x509.BasicConstraints).value
        key = parsed.public_key()
    except (ValueError, x509.ExtensionNotFound) as error:
        raise FormatError("this is not the certificate of a node") from error
    if constraints.ca:
        raise FormatError("this certificate could sign others (CA), which a node's must not")
    if not isinstance(key, Ed25519PublicKey):
        raise FormatError("the key of this certificate is not an Ed25519 key")
    encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return sha256(encoded).hexdigest()


def load_identity(home: NodeDirectory) -> Identity:
    """Read a node's identity, or create one if there is none yet."""
    home.make()
    pem, key = home.read(_CERTIFICATE), home.read(_KEY)
    if pem is None and key is None:
        return _create_identity(home)
    if pem is None or key is None:
        missing = _CERTIFICATE if pem is None else _KEY
        raise InputError(
            "half of the node's identity is missing",
            where=home.path / missing,
            hint="put the file back; a new identity needs an empty folder, and new invitations",
        )
    try:
        certificate = x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise InputError("this is not a certificate", where=home.path / _CERTIFICATE) from error
    return Identity(certificate.public_bytes(Encoding.DER), home)


def _create_identity(home: NodeDirectory) -> Identity:
    key = Ed25519PrivateKey.generate()
    certificate = _sign_certificate(key)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    home.write(_KEY, pem)
    home.write(_CERTIFICATE, certificate.public_bytes(Encoding.PEM))
    return Identity(certificate.public_bytes(Encoding.DER), home)


def _sign_certificate(key: Ed25519PrivateKey) -> x509.Certificate:
    """Sign a certificate that reveals nothing: no user name, no date, and no right to sign."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "queryveil")])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, None)
    )


_FILE = "friends.json"
_MAX_FRIENDS = 200
_INVITATION = re.compile(r"queryveil:([\w.-]{1,40})@(-|[^\s@#]{1,260}:\d{1,5})#([\w-]{100,1400})")
_NAME = re.compile(r"[\w.-]{1,40}")


@dataclass(frozen=True, repr=False)
class Friend:
    """A friend: a name, the address of the node ("" if unreachable), and its certificate."""

    name: str
    address: str
    certificate: bytes

    @property
    def fingerprint(self) -> str:
        """The digest of the friend's public key."""
        return fingerprint(self.certificate)

    @property
    def endpoint(self) -> tuple[str, int]:
        """The host and the port of the friend's node."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)


def make_invitation(identity: Identity, name: str, address: str) -> str:
    """Return the invitation that a friend needs, as one line of text."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f'the name must have 1 to 40 letters, digits, ".", "_" or "-", got "{name}"',
            hint="letters, digits, . _ -",
        )
    line = _format_invitation(name, address, identity.certificate)
    read_invitation(line)  # raises an error for an address that a friend could not read
    return line


def read_invitation(line: str) -> Friend:
    """Parse the invitation of a friend."""
    match = _INVITATION.fullmatch(line.strip())
    if match is None:
        raise FormatError(
            "this is not an invitation", hint="one line: queryveil:NAME@HOST:PORT#CERTIFICATE"
        )
    name, address, encoded = match.groups()
    if address != "-" and not 0 < int(address.rpartition(":")[2]) < 65536:
        raise FormatError("the port of this invitation is not valid", hint="1 to 65535")
    try:
        certificate = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
    except ValueError as error:
        raise FormatError("the certificate of this invitation is damaged") from error
    friend = Friend(name, "" if address == "-" else address, certificate)
    fingerprint(certificate)  # raises an error unless it is a certificate of a node
    return friend


def add_friend(home: NodeDirectory, own: str, friend: Friend) -> None:
    """Add a friend, or replace the entry with the same key.

    Args:
        own: The fingerprint of this node.
    """
    if friend.fingerprint == own:
        raise UsageError("this is your own invitation", hint="give it to a friend")
    others = [other for other in read_friends(home) if other.fingerprint != friend.fingerprint]
    if any(other.name == friend.name for other in others):
        raise UsageError(f"another friend is called {friend.name}", hint="`name=NAME`")
    if len(others) >= _MAX_FRIENDS:
        raise UsageError(
            f"a node has at most {_MAX_FRIENDS} friends", hint="queryveil peers node forget NAME"
        )
    _write_friends(home, [*others, friend])


def remove_friend(home: NodeDirectory, name: str) -> Friend:
    """Remove a friend from the list, and return them."""
    friends = read_friends(home)
    matches = [friend for friend in friends if friend.name == name]
    if not matches:
        raise UsageError(f"no friend is called {name}", hint="queryveil peers node status")
    _write_friends(home, [friend for friend in friends if friend.name != name])
    return matches[0]


def read_friends(home: NodeDirectory) -> list[Friend]:
    """Read the list of friends."""
    lines = home.read_json(_FILE) or []
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InputError("this is not a list of invitations", where=home.path / _FILE)
    return [read_invitation(line) for line in lines]


def format_fingerprint(digest: str) -> str:
    """Format the first half of a fingerprint in groups of four, to be read aloud.

    >>> format_fingerprint("0123456789abcdef" * 4)
    '0123 4567 89ab cdef 0123 4567 89ab cdef'
    """
    return " ".join(digest[start : start + 4] for start in range(0, 32, 4))


def _write_friends(home: NodeDirectory, friends: list[Friend]) -> None:
    lines = [_format_invitation(f.name, f.address, f.certificate) for f in friends]
    home.write_json(_FILE, lines)


def _format_invitation(name: str, address: str, certificate: bytes) -> str:
    encoded = urlsafe_b64encode(certificate).decode().rstrip("=")
    return f"queryveil:{name}@{address or '-'}#{encoded}"
