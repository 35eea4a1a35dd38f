"""The word that opens a SQL server: only who may read its home knows it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_NAME = "sql-server.token"


def made_token(home: Path) -> str:
    """Give the word of a home, making it at the first call."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / _NAME
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(home)
    with os.fdopen(file, "w") as opened:
        opened.write(secrets.token_urlsafe())
    return read_token(home)


def read_token(home: Path) -> str:
    """Give the word of a home; none where no server was started on it."""
    try:
        return (home / _NAME).read_text().strip()
    except OSError:
        return ""
