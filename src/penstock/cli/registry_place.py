"""Where the registry is that a command asks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import typer

from penstock.cli.options import settings_of


class RegistryPlace(NamedTuple):
    """An address, the token for it, and certificates that it may have."""

    url: str
    token: str
    ca_file: Path | None


def registry_place(context: typer.Context) -> RegistryPlace:
    """Give where it is; no address: it is in the log."""
    settings = settings_of(context)
    if settings.registry_url or not settings.server:
        return RegistryPlace(settings.registry_url, "", settings.ca_file)
    from penstock.log.remote.server_token import token_for  # noqa: PLC0415

    token = token_for(settings, os.environ, settings.server)
    return RegistryPlace(f"{settings.server.rstrip('/')}/registry", token, settings.ca_file)
