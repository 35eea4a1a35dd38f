"""What the server of a home works on: shared by its API and its pages."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from penstock.log.embedded.log import EmbeddedLog
from penstock.schema.registry.port import SchemaRegistry
from penstock.sql.session import SqlSession


@dataclass(frozen=True, slots=True)
class Platform:
    """A home, and what is open of it for as long as it is served."""

    home: Path
    log: EmbeddedLog
    registry: SchemaRegistry
    sql: SqlSession
    """Statements of the API and the pages; whoever uses it takes the `turn`."""
    turn: threading.Lock = field(default_factory=threading.Lock)
