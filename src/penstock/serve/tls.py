"""TLS of a server: the files of its certificate and key, checked before it listens."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from penstock.errors import ConfigError, did_you_mean

_CERTIFICATE, _KEY = "tls_certificate", "tls_key"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """A certificate, with those it is signed by, and its key; both may be in one file."""

    certificate: Path
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Give what a server speaks TLS with; files that do not do are refused."""
        for file in (self.certificate, self.key):
            if file is not None:
                _require_readable(file)
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.minimum_version = ssl.TLSVersion.TLSv1_2
        # A ticket comes just after the handshake. A client that reads it while another thread sends
        # its first question may lose that: one of some thousand WebSockets waited for ever.
        found.num_tickets = 0
        try:
            found.load_cert_chain(self.certificate, self.key, password=_no_password)
        except ssl.SSLError as error:
            raise self._unfit(error) from error
        return found

    def _unfit(self, error: ssl.SSLError) -> ConfigError:
        key = self.key or self.certificate
        if error.reason == "KEY_VALUES_MISMATCH":
            return ConfigError(
                "TLS_KEY",
                f'the key in "{key}" is not that of the certificate in "{self.certificate}"',
                hint="Give the two files that were made together.",
            )
        return ConfigError(
            "TLS_FILE",
            f'"{self.certificate}" and "{key}" are not a certificate and its key in PEM form',
            hint="Give the certificate by --tls-certificate and its key by --tls-key.",
        )


def tls_files(
    certificate: Path | None, key: Path | None, said: Mapping[str, object]
) -> TlsFiles | None:
    """Give the files of options, else of the table `serve` of the settings; none: plain HTTP."""
    for name in said:
        if name not in {_CERTIFICATE, _KEY}:
            raise ConfigError(
                "CONFIG_KEY",
                f'setting "serve.{name}" does not exist',
                hint=did_you_mean(name, [_CERTIFICATE, _KEY])
                or f"Settings of [serve]: {_CERTIFICATE}, {_KEY}.",
            )
    if certificate is None and key is None:
        certificate, key = _path(said, _CERTIFICATE), _path(said, _KEY)
    if certificate is None:
        if key is None:
            return None
        raise ConfigError(
            "TLS_FILE",
            f'there is a key, "{key}", and no certificate',
            hint="Give the certificate, too, by --tls-certificate.",
        )
    return TlsFiles(certificate, key)


def _path(said: Mapping[str, object], name: str) -> Path | None:
    found = said.get(name)
    if found is None:
        return None
    if not isinstance(found, str) or not found:
        raise ConfigError(
            "CONFIG_VALUE",
            f'setting "serve.{name}" is not a path: {found!r}',
            hint="Give the path of a file in PEM form.",
        )
    return Path(found)


def _require_readable(file: Path) -> None:
    try:
        with file.open("rb"):
            return
    except OSError as error:
        raise ConfigError(
            "TLS_FILE",
            f'file "{file}" cannot be read: {error.strerror}',
            hint="Give files in PEM form that the user of the server may read.",
        ) from error


def _no_password() -> NoReturn:
    # Without it OpenSSL would ask at the terminal.
    raise ConfigError(
        "TLS_KEY",
        "the key of the certificate is locked by a password",
        hint="Give one without: `openssl pkey -in key.pem -out open.pem`, readable by you alone.",
    )
