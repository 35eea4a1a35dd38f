"""Statements that are followed: equal ones share one evaluation."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass

from penstock.errors import SqlError
from penstock.front.sql.asking import Asked
from penstock.front.sql.tree_statement import QueryStatement
from penstock.log.port import Log
from penstock.serve.push.feeds import Feeds
from penstock.serve.push.source import Begin, Source
from penstock.serve.push.statement_source import statement_source
from penstock.serve.push.subscription import Subscription
from penstock.sql.script import pieces_of, read_piece
from penstock.sql.session import SqlSession

_FIRST_ROWS = {"auto.offset.reset": "earliest"}


@dataclass(frozen=True, slots=True)
class Statements:
    """Follows SELECT ... EMIT CHANGES for subscribers of some feeds."""

    feeds: Feeds
    session: SqlSession
    turn: threading.Lock
    log: Log

    async def follow(
        self, sql: str, begin: Begin = "latest", *, from_beginning: bool = False
    ) -> Subscription:
        """Follow a statement, with what is there already where it is to begin at the beginning."""
        text = sql.strip().rstrip("; \n\t")
        name = f"statement {'from the beginning ' if from_beginning else ''}{text}"
        # One that ends by itself has a number of rows for each who asks.
        own = f" {secrets.token_hex(8)}" if " limit " in f" {text.lower()} " else ""
        return await self.feeds.follow(
            name + own, lambda: self._source(text, from_beginning=from_beginning), begin
        )

    def _source(self, text: str, *, from_beginning: bool) -> Source:
        pieces = list(pieces_of(text))
        statement = read_piece(pieces[0], {}) if len(pieces) == 1 else None
        asked = None
        if isinstance(statement, QueryStatement) and statement.query.emit is not None:
            with self.turn:
                self.session.settings = dict(_FIRST_ROWS) if from_beginning else {}
                asked = self.session.question(statement)
        if not isinstance(asked, Asked) or asked.pull:
            raise SqlError(
                "LIVE_STATEMENT",
                "only one SELECT ... EMIT CHANGES can be followed",
                hint="End it with EMIT CHANGES; what is answered once is asked at /api/v1/query.",
            )
        return statement_source(asked, self.log, text)
