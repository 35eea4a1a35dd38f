"""Secrets: never written in settings, but named there and read from a variable or a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from penstock.errors import ConfigError

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def secret_of(
    table: Mapping[str, object],
    name: str,
    role: str,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Give the secret that `<name>_env` or `<name>_file` of a table leads to; else nothing."""
    if name in table:
        raise ConfigError(
            "SECRET_WRITTEN",
            f"the {name} of {role} stands in the settings",
            hint=f'Write {name}_env = "VARIABLE" or {name}_file = "PATH" instead, and change the'
            f" {name}: it has been read by others.",
        )
    variable, file = table.get(f"{name}_env"), table.get(f"{name}_file")
    if isinstance(variable, str):
        return _of_variable(variable, role, environment)
    return _of_file(Path(file), role) if isinstance(file, str) else ""


def filled_in(text: str, role: str, environment: Mapping[str, str] | None = None) -> str:
    """Give a text in which `${NAME}` is what the variable holds."""
    return _REFERENCE.sub(lambda found: _of_variable(found[1], role, environment), text)


def shown_address(url: str) -> str:
    """Give an address as it may be shown: its host alone, since its path may be a token."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "..."
    place = f"{host}:{port}" if port else host
    rest = "/..." if parts.path.strip("/") or parts.query or parts.fragment else ""
    return f"{parts.scheme}://{place}{rest}"


def _of_variable(name: str, role: str, environment: Mapping[str, str] | None) -> str:
    found = (os.environ if environment is None else environment).get(name)
    if not found:
        raise ConfigError(
            "SECRET_MISSING",
            f"{role} needs the variable {name}, which is not set",
            hint=f"Set it in the environment of the process: export {name}=...",
        )
    return found


def _of_file(path: Path, role: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "SECRET_MISSING",
            f'{role} needs the file "{path}", which cannot be read: {type(error).__name__}',
            hint="Write the secret into it, readable by the user of this process alone.",
        ) from error
