"""The word that opens a SQL server: only who may read its home knows it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from penstock.log.remote.server_token import HOME_TOKEN, read_token


def made_token(home: Path) -> str:
    """Give the word of a home, making it at the first call."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / HOME_TOKEN
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(home)
    with os.fdopen(file, "w") as opened:
        opened.write(secrets.token_urlsafe())
    return read_token(home)
