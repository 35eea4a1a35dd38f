"""What the server of a home works on: shared by its API and its pages."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from penstock.log.embedded.log import EmbeddedLog
from penstock.schema.registry.port import SchemaRegistry
from penstock.serve.access.token_file import FOLDER
from penstock.serve.answer_store import AnswerStore
from penstock.serve.pull.tables import Tables
from penstock.serve.push.feeds import Feeds
from penstock.serve.readiness import Readiness
from penstock.serve.request_counts import RequestCounts
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
    readiness: Readiness = field(default_factory=Readiness)
    """What is still starting."""
    requests: RequestCounts = field(default_factory=RequestCounts)
    """What the server was asked."""
    answers: AnswerStore = field(init=False)
    """What was answered, by the key of its request."""
    feeds: Feeds = field(init=False)
    """What is followed live."""
    tables: Tables = field(init=False)
    """What SELECTs are answered from."""

    def __post_init__(self) -> None:
        answers = AnswerStore(self.home / FOLDER / "answers.db")
        object.__setattr__(self, "answers", answers)
        tables = Tables(self.log, self.registry)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "feeds", Feeds(self.log, self.registry, tables.declared))
