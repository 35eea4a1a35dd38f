"""What the catalog keeps of a source, a type or a query: the statements that made it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from penstock.errors import SqlError

EntryKind: TypeAlias = Literal["stream", "table", "type", "function", "query", "setting"]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One thing of the catalog.

    `statements` are in canonical form: the one that made it, and those that altered it.
    `number` orders entries: each was made when all before it were there. `settings` are those
    that held then, and `query` is the id of the query that fills it, if there is one, which
    does not run while it is `paused`. `starts` are the offsets at which it begins, by topic,
    where it was told to begin with what comes after it.
    """

    kind: EntryKind
    name: str
    number: int
    statements: tuple[str, ...]
    topic: str = ""
    key_format: str = ""
    value_format: str = ""
    query: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    paused: bool = False
    starts: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What it is found by: streams and tables share their names."""
        kind = "source" if self.kind in {"stream", "table"} else self.kind
        return f"{kind}:{self.name}"

    def encoded(self) -> bytes:
        """Give the value of its record."""
        told = {
            "kind": self.kind,
            "name": self.name,
            "number": self.number,
            "statements": list(self.statements),
            "topic": self.topic,
            "key_format": self.key_format,
            "value_format": self.value_format,
            "query": self.query,
            "settings": dict(self.settings),
            "paused": self.paused,
            **({"starts": dict(self.starts)} if self.starts else {}),
        }
        return json.dumps(told, ensure_ascii=False, sort_keys=True).encode()


def entry_of(key: bytes, value: bytes) -> CatalogEntry:
    """Read an entry; a record of something else is refused."""
    try:
        told: dict[str, Any] = json.loads(value)
        told["statements"] = tuple(told["statements"])
        return CatalogEntry(**told)
    except (ValueError, TypeError, KeyError) as error:
        raise SqlError(
            "SQL_CATALOG",
            f'the record "{key.decode(errors="replace")}" of the catalog cannot be read: {error}',
            hint="It was written by another version of Penstock, or by hand.",
        ) from error
