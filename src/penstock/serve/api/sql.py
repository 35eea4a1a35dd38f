"""SQL over HTTP: statements in, answers out; rows that come by and by as lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from penstock.errors import PenstockError, RequestError
from penstock.front.sql.tree_statement import Statement
from penstock.serve.access.needs import needs, require
from penstock.serve.access.role import Role
from penstock.serve.access.statement_role import statement_role
from penstock.serve.platform import Platform
from penstock.serve.record_rows import plain
from penstock.sql.answer import Answer, Followed, Listed, Told
from penstock.sql.answer_line import line, lines_of, refusal_line
from penstock.sql.script import pieces_of, read_piece

_LINES = "application/x-ndjson"
_LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Script:
    """Statements, with the settings and variables that hold for them."""

    sql: Annotated[str, Field(max_length=_LONGEST)]
    settings: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    limit: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """How many rows of an answer are given; a query that goes on ends there."""
    seconds: Annotated[float, Field(ge=0, le=30)] = 5.0
    """How long rows of a query that goes on are waited for."""


@dataclass(frozen=True, slots=True)
class AnswerShown:
    """What a statement gave: words, or rows; `offsets` are the next ones of what they reflect.

    `more`: there are, or will be, other rows than these.
    """

    words: str = ""
    notes: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    more: bool = False


@dataclass(frozen=True, slots=True)
class ScriptAnswered:
    """An answer for each statement, and the settings and variables after the last."""

    answers: list[AnswerShown]
    settings: dict[str, str]
    variables: dict[str, str]


def routes(platform: Platform) -> APIRouter:
    """Give the routes of SQL."""
    router = APIRouter(prefix="/sql", tags=["sql"])
    reader = [needs(Role.READER)]

    @router.post("", dependencies=reader)
    def run_statements(script: Script, request: Request) -> ScriptAnswered:
        """Carry out statements, one after the other; the first that is refused ends it."""
        role = require(request, Role.READER).role
        running = _Running(platform, role, dict(script.settings), dict(script.variables))
        answers = [_shown(found, script) for found in running.answers(script.sql)]
        return ScriptAnswered(answers, running.settings, running.variables)

    @router.post("/lines", dependencies=reader, response_class=StreamingResponse)
    def follow_statements(script: Script, request: Request) -> StreamingResponse:
        """Carry out statements; every answer and every row is a line of JSON, until one leaves."""
        role = require(request, Role.READER).role
        running = _Running(platform, role, dict(script.settings), dict(script.variables))
        return StreamingResponse(running.lines(script.sql), media_type=_LINES)

    @router.get("/words", dependencies=reader)
    def list_words() -> list[str]:
        """Give the words that statements may have: for completion."""
        with platform.turn:
            return list(platform.sql.words())

    return router


class _Running:
    """A script on its way, for somebody of a role."""

    def __init__(
        self, platform: Platform, role: Role, settings: dict[str, str], variables: dict[str, str]
    ) -> None:
        self._platform = platform
        self._role = role
        self.settings = settings
        self.variables = variables

    def answers(self, text: str) -> Iterator[Answer]:
        """Give the answers; while rows are followed nobody else waits."""
        session = self._platform.sql
        for piece in pieces_of(text):
            statement = read_piece(piece, self.variables)
            self._require(statement)
            with self._platform.turn:
                session.settings, session.variables = self.settings, self.variables
                found = list(session.execute(statement))
                session.follow_queries()
            yield from found

    def lines(self, text: str) -> Iterator[bytes]:
        """Give answers as lines; why one was refused is a line, too."""
        try:
            for found in self.answers(text):
                yield from lines_of(found)
        except PenstockError as error:
            yield refusal_line(error)
        yield line(settings=self.settings, variables=self.variables)

    def _require(self, statement: Statement) -> None:
        needed = statement_role(statement)
        if self._role < needed:
            raise RequestError(
                "ROLE_NEEDED",
                f"this statement needs the role {needed.name.lower()}",
                hint="An admin makes tokens with `penstock serve token create --role`.",
            )


def _shown(answer: Answer, script: Script) -> AnswerShown:
    match answer:
        case Told(words, notes):
            return AnswerShown(words, list(notes))
        case Listed(columns, rows, offsets):
            shown = [[plain(cell) for cell in row] for row in rows[: script.limit]]
            named = {str(place): offset for place, offset in offsets.items()}
            return AnswerShown("", [], list(columns), shown, named, len(rows) > script.limit)
        case Followed():
            return _followed(answer, script)


def _followed(answer: Followed, script: Script) -> AnswerShown:
    """Take the rows that come in time; the query goes on for whoever asks by lines."""
    ends_at = time.monotonic() + script.seconds
    rows: list[list[Any]] = []
    more = False
    for row in answer.rows:
        if row is not None:
            rows.append([plain(cell) for cell in row])
        if len(rows) >= script.limit or (row is None and time.monotonic() >= ends_at):
            more = True
            break
    named = {str(place): offset for place, offset in answer.offsets.items()}
    return AnswerShown("", [], list(answer.columns), rows, named, more)
