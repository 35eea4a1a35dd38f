"""SQL over HTTP: statements in, a line of JSON for every answer and every row out."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Body, Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import StreamingResponse

from penstock.errors import PenstockError
from penstock.front.sql.tree_statement import Statement
from penstock.serve.access.needs import needs, require
from penstock.serve.access.role import Role
from penstock.serve.access.statement_role import statement_role
from penstock.sql.answer_line import line, lines_of, refusal_line
from penstock.sql.script import pieces_of, read_piece
from penstock.sql.session import SqlSession

_LINES = "application/x-ndjson"
_LONGEST = 1_000_000


Values: TypeAlias = dict[str, str]


def sql_app(session: SqlSession, token: str, turn: threading.Lock) -> FastAPI:
    """Give the application that answers statements by a session, one at a time.

    Whoever else uses the session takes the `turn`. Rows that are followed keep nobody waiting.
    """
    app = FastAPI(title="Penstock SQL")

    def known(authorization: Annotated[str, Header()] = "") -> None:
        if not secrets.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
            raise HTTPException(401, "the token of the server's home is wanted")

    @app.post("/sql", dependencies=[Depends(known)])
    def answer(
        sql: Annotated[str, Body(max_length=_LONGEST)],
        settings: Annotated[Values | None, Body()] = None,
        variables: Annotated[Values | None, Body()] = None,
    ) -> StreamingResponse:
        """Carry out statements, with the settings and variables of the session that asks."""
        told = {"settings": settings or {}, "variables": variables or {}}
        return StreamingResponse(_answered(session, turn, sql, told), media_type=_LINES)

    @app.get("/sql/words", dependencies=[Depends(known)])
    def words() -> list[str]:
        """Give the words that statements may have."""
        with turn:
            return list(session.words())

    return app


def shell_routes(session: SqlSession, turn: threading.Lock) -> APIRouter:
    """Give what `penstock sql --server` asks, for a server that knows roles."""
    router = APIRouter(include_in_schema=False)

    @router.post("/sql", dependencies=[needs(Role.READER)])
    def answer(
        request: Request,
        sql: Annotated[str, Body(max_length=_LONGEST)],
        settings: Annotated[Values | None, Body()] = None,
        variables: Annotated[Values | None, Body()] = None,
    ) -> StreamingResponse:
        """Carry out the statements that who asks may run."""
        told = {"settings": settings or {}, "variables": variables or {}}

        def allow(statement: Statement) -> None:
            require(request, statement_role(statement))

        return StreamingResponse(_answered(session, turn, sql, told, allow), media_type=_LINES)

    @router.get("/sql/words", dependencies=[needs(Role.READER)])
    def words() -> list[str]:
        """Give the words that statements may have."""
        with turn:
            return list(session.words())

    return router


def _answered(
    session: SqlSession,
    turn: threading.Lock,
    sql: str,
    told: dict[str, Values],
    allow: Callable[[Statement], None] = lambda _: None,
) -> Iterator[bytes]:
    try:
        for piece in pieces_of(sql):
            with turn:
                session.settings, session.variables = told["settings"], told["variables"]
                statement = read_piece(piece, session.variables)
                allow(statement)
                answers = list(session.execute(statement))
                session.follow_queries()
            for found in answers:
                yield from lines_of(found)
    except PenstockError as error:
        yield refusal_line(error)
    yield line(**told)
