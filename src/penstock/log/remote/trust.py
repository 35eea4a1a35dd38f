"""Whose certificates a client takes for a server's: those of the system, and one file more."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

from penstock.errors import ConfigError

# Clients of HTTP hand on what OpenSSL said as a text only.
_REASON = re.compile(r"certificate verify failed: (.*?)(?: \(_ssl|$)")


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """Give what checks the certificate of a server; `ca_file` is trusted beside the system's."""
    context = ssl.create_default_context()
    if ca_file is None:
        return context
    try:
        context.load_verify_locations(ca_file)
    except OSError as error:  # an ssl.SSLError is one, too
        why = error.strerror or type(error).__name__
        raise ConfigError(
            "CA_FILE",
            f'the certificates in "{ca_file}" cannot be read: {why}',
            hint="Give a file in PEM form, such as the certificate of the server, by --ca-file or"
            " PENSTOCK_CA_FILE.",
        ) from error
    return context


def untrusted(url: str, error: BaseException) -> ConfigError | None:
    """Give the error of a server whose certificate is not one to rely on, where that is why."""
    found = _REASON.search(str(error))
    if found is None:
        return None
    return ConfigError(
        "CERTIFICATE_UNTRUSTED",
        f'the certificate of "{url}" is not to be trusted: {found[1]}',
        hint="If it is the server's own, name its file by --ca-file or PENSTOCK_CA_FILE; ask for"
        " the server by a name that the certificate has.",
    )
