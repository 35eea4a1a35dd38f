"""The token that a server is shown: who asks it, and so what it allows."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from penstock.config import TOKEN_VARIABLE, Settings
from penstock.errors import ConfigError

HOME_TOKEN = "sql-server.token"  # noqa: S105  # the name of a file
"""The file of a home with the word that only who may read the home knows."""


def token_for(settings: Settings, environment: Mapping[str, str], url: str) -> str:
    """Give the token: of the variable, of the file, or of a home on this machine; or none."""
    said = environment.get(TOKEN_VARIABLE, "").strip()
    if said:
        return said
    if settings.token_file is not None:
        return _read(settings.token_file)
    # The word of a home opens all of it: it is for nobody elsewhere.
    return read_token(settings.home) if is_here(url) else ""


def read_token(home: Path) -> str:
    """Give the word of a home; none where no server was started on it."""
    try:
        return (home / HOME_TOKEN).read_text().strip()
    except OSError:
        return ""


def is_here(url: str) -> bool:
    """Whether an address is of this machine, as far as its name tells."""
    try:
        name = urlsplit(url).hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "TOKEN_FILE",
            f'the token in "{file}" cannot be read: {type(error).__name__}',
            hint="Write into it what `penstock serve token create` printed.",
        ) from error
