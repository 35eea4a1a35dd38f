"""Where a log's server listens: `tcp://127.0.0.1:PORT`, on this machine only."""

from __future__ import annotations

from urllib.parse import urlsplit

from penstock.errors import UsageError

LOOPBACK = "127.0.0.1"
_NAMES_OF_LOOPBACK = {LOOPBACK, "localhost"}


def server_address(port: int) -> str:
    """The address of a server that listens on a port of this machine."""
    return f"tcp://{LOOPBACK}:{port}"


def port_of(address: str) -> int:
    """The port that an address names; one of another machine is refused."""
    try:
        parts = urlsplit(address)
        port = parts.port if parts.hostname in _NAMES_OF_LOOPBACK else None
    except ValueError:
        port = None
    if not port or parts.scheme != "tcp":
        raise UsageError(
            "LOG_ADDRESS",
            f'"{address}" is not the address of a log\'s server on this machine',
            hint="Write it as tcp://127.0.0.1:PORT; `penstock log nodes` lists the servers.",
        )
    return port
