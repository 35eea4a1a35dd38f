"""Certificates made for a test."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Made(NamedTuple):
    """A certificate that only its own file vouches for, and its key, open and locked."""

    certificate: Path
    key: Path
    locked: Path


def make(folder: Path) -> Made:
    """Make a certificate for this machine; of a kind that browsers know."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "penstock")])
    now = dt.datetime.now(dt.UTC)
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([here]), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir()
    made = Made(folder / "server.pem", folder / "server.key", folder / "locked.key")
    pem = serialization.Encoding.PEM
    made.certificate.write_bytes(certificate.public_bytes(pem))
    for file, lock in (
        (made.key, serialization.NoEncryption()),
        (made.locked, serialization.BestAvailableEncryption(b"word")),
    ):
        file.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, lock))
    return made
