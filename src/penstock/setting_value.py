"""The values of settings, as files, variables and flags say them; else there is a `ValueError`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

_MEMORY = re.compile(r"[1-9][0-9]*[kmgt]", re.IGNORECASE)
_BOOLEANS = {"1": True, "on": True, "true": True, "yes": True}
_BOOLEANS |= {"0": False, "off": False, "false": False, "no": False}

StateKind: TypeAlias = Literal["memory", "local", "changelog", "external"]
_STATE_STORES: Mapping[str, StateKind] = {
    "memory": "memory", "local": "local", "changelog": "changelog", "external": "external",
}  # fmt: skip


def parse_path(value: object, directory: Path) -> Path:
    """Read a path; a relative one is below a directory."""
    if not isinstance(value, str) or not value:
        raise ValueError
    return Path(os.path.normpath(directory / Path(value).expanduser()))


def parse_text(value: object, _: Path) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def parse_memory(value: object, _: Path) -> str:
    """Read an amount of memory, such as 2g."""
    if not isinstance(value, str) or not _MEMORY.fullmatch(value):
        raise ValueError
    return value.lower()


def parse_state_store(value: object, _: Path) -> StateKind:
    """Read the kind of a store of states."""
    if not isinstance(value, str) or value not in _STATE_STORES:
        raise ValueError
    return _STATE_STORES[value]


def parse_database(value: object, directory: Path) -> str:
    """Read the address of a database, or the path of one."""
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004  # all wrong values are told in one way
    if not value or "://" in value:
        return value
    return str(parse_path(value, directory))


def parse_url(value: object, _: Path) -> str:
    """Read the address of a server, or none."""
    if not isinstance(value, str) or not (not value or value.startswith(("http://", "https://"))):
        raise ValueError
    return value


def parse_log(value: object, _: Path) -> str:
    """Read the address of a log, or none."""
    if value != "" and not str(value).startswith(("http://", "https://", "kafka://", "tcp://")):
        raise ValueError
    return str(value)


def parse_file(value: object, directory: Path) -> Path | None:
    """Read the path of a file, or none."""
    return None if value == "" else parse_path(value, directory)


def parse_boolean(value: object, _: Path) -> bool:
    """Read yes or no."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[value.lower()]
