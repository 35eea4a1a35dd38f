"""Databases beside the log, in which results or states are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError

StoreKind: TypeAlias = Literal["sqlite", "postgres"]
_SECRET = re.compile(r"(://[^:/@]*):[^@]*@|(password\s*=\s*)\S+")
_SERVERS = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Store:
    """A database: its kind, and the file it is or the address it has."""

    kind: StoreKind
    place: str

    @override
    def __str__(self) -> str:
        """Say which it is; a password is left out."""
        return f"{self.kind} {_SECRET.sub(_hidden, self.place)}"


def store_of(given: Store | str | Path) -> Store:
    """Give the store that is meant: `postgresql://...` is a server, all else a SQLite file."""
    if isinstance(given, Store):
        return given
    if isinstance(given, str) and given.startswith(_SERVERS):
        return Store("postgres", given)
    if not isinstance(given, str | Path) or str(given) in ("", "."):
        raise ModelError(
            "STORE_ARGUMENT",
            f"{given!r} is no store",
            hint='Give the path of a SQLite file, or an address as "postgresql://host/name".',
        )
    # Whoever opens it later may stand in another folder.
    return Store("sqlite", str(Path(given).expanduser().absolute()))


def _hidden(found: re.Match[str]) -> str:
    return f"{found[1]}:***@" if found[1] is not None else f"{found[2]}***"
