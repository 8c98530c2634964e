"""Who a node is: a key, the certificate that goes with it, and the TLS that both are for.

A certificate is signed by its own key and says nothing of a person. Friends exchange them in
their invitations. TLS 1.3 proves that the other side has the key; nothing else is trusted.
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
    """A node's certificate, and where its key is."""

    certificate: bytes  # DER
    home: NodeDirectory

    @property
    def fingerprint(self) -> str:
        """The digest of the public key: the node's name among friends."""
        return fingerprint(self.certificate)

    def context(self, *, server: bool, friends: Iterable[bytes]) -> ssl.SSLContext:
        """Make the TLS of one side: 1.3 only, both sides show a certificate, friends' only."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False  # a friend is known by her key, not by an address
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        if server:
            context.num_tickets = 0  # no session is resumed
        context.load_cert_chain(self.home.path / _CERTIFICATE, self.home.path / _KEY)
        for friend in friends:
            trust_certificate(context, friend)
        return context


def trust_certificate(context: ssl.SSLContext, certificate: bytes) -> None:
    """Let the owner of one more certificate through."""
    context.load_verify_locations(cadata=certificate)


def peer_fingerprint(link: ssl.SSLObject) -> str:
    """Give the fingerprint of the key at the other end of a link."""
    shown = link.getpeercert(binary_form=True)
    return fingerprint(shown) if shown else ""


def fingerprint(certificate: bytes) -> str:
    """Give the digest of a certificate's public key, which must be an Ed25519 one."""
    try:
        read = x509.load_der_x509_certificate(certificate)
        limits = read.extensions.get_extension_for_class(x509.BasicConstraints).value
        key = read.public_key()
    except (ValueError, x509.ExtensionNotFound) as error:
        raise FormatError("this is no certificate of a node") from error
    if limits.ca:
        raise FormatError("this certificate could vouch for others")
    if not isinstance(key, Ed25519PublicKey):
        raise FormatError("this certificate is not of an Ed25519 key")
    plain = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return sha256(plain).hexdigest()


def load_identity(home: NodeDirectory) -> Identity:
    """Read a node's identity, or make one when there is none yet."""
    home.make()
    pem, key = home.read(_CERTIFICATE), home.read(_KEY)
    if pem is None and key is None:
        return _new(home)
    if pem is None or key is None:
        gone = _CERTIFICATE if pem is None else _KEY
        raise InputError(
            "half of the node's identity is gone",
            where=home.path / gone,
            hint="put the file back; a new identity needs an empty folder, and new invitations",
        )
    try:
        certificate = x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise InputError("this is no certificate", where=home.path / _CERTIFICATE) from error
    return Identity(certificate.public_bytes(Encoding.DER), home)


def _new(home: NodeDirectory) -> Identity:
    key = Ed25519PrivateKey.generate()
    certificate = _certificate(key)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    home.write(_KEY, pem)
    home.write(_CERTIFICATE, certificate.public_bytes(Encoding.PEM))
    return Identity(certificate.public_bytes(Encoding.DER), home)


def _certificate(key: Ed25519PrivateKey) -> x509.Certificate:
    """Sign a certificate that tells nothing: no name, no date, and it can sign no other."""
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
_MOST = 200
_LINE = re.compile(r"queryveil:([\w.-]{1,40})@(-|[^\s@#]{1,260}:\d{1,5})#([\w-]{100,1400})")
_NAME = re.compile(r"[\w.-]{1,40}")


@dataclass(frozen=True, repr=False)
class Friend:
    """A friend: what she is called, where her node is ("" if it cannot be called), who it is."""

    name: str
    address: str
    certificate: bytes

    @property
    def fingerprint(self) -> str:
        """The digest of her public key."""
        return fingerprint(self.certificate)

    @property
    def place(self) -> tuple[str, int]:
        """Her node's host and port."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)


def make_invitation(identity: Identity, name: str, address: str) -> str:
    """Write the line that a friend needs."""
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name}" is no name for an invitation', hint="letters, digits, . _ -")
    line = f"queryveil:{name}@{address or '-'}#{_coded(identity.certificate)}"
    read_invitation(line)  # what cannot be read must not be handed out
    return line


def read_invitation(line: str) -> Friend:
    """Read a friend's line."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise FormatError(
            "this is no invitation", hint="one line: queryveil:NAME@HOST:PORT#CERTIFICATE"
        )
    name, address, coded = found.groups()
    if address != "-" and not 0 < int(address.rpartition(":")[2]) < 65536:
        raise FormatError("the port of this invitation cannot be", hint="1 to 65535")
    try:
        certificate = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
    except ValueError as error:
        raise FormatError("the certificate of this invitation is damaged") from error
    friend = Friend(name, "" if address == "-" else address, certificate)
    fingerprint(certificate)  # an error if it is none
    return friend


def add_friend(home: NodeDirectory, own: str, friend: Friend) -> None:
    """Add a friend, or what is new of her; `own` is the fingerprint of this node."""
    if friend.fingerprint == own:
        raise UsageError("this is your own invitation", hint="give it to a friend")
    others = [one for one in read_friends(home) if one.fingerprint != friend.fingerprint]
    if any(one.name == friend.name for one in others):
        raise UsageError(f"another friend is called {friend.name}", hint="--as NAME")
    if len(others) >= _MOST:
        raise UsageError(f"{_MOST} friends are the most", hint="queryveil peers node forget NAME")
    _write(home, [*others, friend])


def remove_friend(home: NodeDirectory, name: str) -> Friend:
    """Take a friend off the list."""
    friends = read_friends(home)
    found = [one for one in friends if one.name == name]
    if not found:
        raise UsageError(f"no friend is called {name}", hint="queryveil peers node status")
    _write(home, [one for one in friends if one.name != name])
    return found[0]


def read_friends(home: NodeDirectory) -> list[Friend]:
    """Read the list of friends."""
    lines = home.read_json(_FILE) or []
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InputError("this is no list of invitations", where=home.path / _FILE)
    return [read_invitation(line) for line in lines]


def format_fingerprint(digest: str) -> str:
    """Write a fingerprint to be read aloud.

    >>> format_fingerprint("0123456789abcdef" * 4)
    '0123 4567 89ab cdef 0123 4567 89ab cdef'
    """
    return " ".join(digest[at : at + 4] for at in range(0, 32, 4))


def _write(home: NodeDirectory, friends: list[Friend]) -> None:
    lines = [f"queryveil:{f.name}@{f.address or '-'}#{_coded(f.certificate)}" for f in friends]
    home.write_json(_FILE, lines)


def _coded(certificate: bytes) -> str:
    return urlsafe_b64encode(certificate).decode().rstrip("=")
