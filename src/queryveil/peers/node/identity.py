"""Who a node is: a key, the certificate that goes with it, and the TLS that both are for.

A certificate is signed by its own key and says nothing of a person. Friends exchange them in
their invitations. TLS 1.3 proves that the other side has the key; nothing else is trusted.
"""

from __future__ import annotations

import ssl
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

from ...errors import FormatError, InputError
from .storage import NodeDirectory

__all__ = ["Identity", "fingerprint", "load_identity", "peer_fingerprint", "trust_certificate"]

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
