"""Where the registry is that a command asks."""

from __future__ import annotations

import os

import typer

from penstock.cli.options import settings_of


def registry_place(context: typer.Context) -> tuple[str, str]:
    """Give its address and the token for it; no address: it is in the log."""
    settings = settings_of(context)
    if settings.registry_url or not settings.server:
        return settings.registry_url, ""
    from penstock.client.server import token_for  # noqa: PLC0415  # HTTP: 0.2 s

    return f"{settings.server.rstrip('/')}/registry", token_for(settings, os.environ)
