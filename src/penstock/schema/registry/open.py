"""Opening the registry that goes with a log: the one kept in it, or another over HTTP."""

from __future__ import annotations

from pathlib import Path

from penstock.log.port import Log
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.registry.registry import Registry


def open_schemas(
    log: Log, url: str | None = None, *, token: str = "", ca_file: Path | None = None
) -> SchemaRegistry:
    """Give the registry of a log; with an address, the one that answers there.

    The log stays the caller's: closing the registry does not close it.
    """
    if not url:
        return Registry(log)
    from penstock.schema.registry.remote import RemoteRegistry  # noqa: PLC0415  # few need HTTP

    return RemoteRegistry(url, token=token, ca_file=ca_file)
