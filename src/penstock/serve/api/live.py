"""Live: topics, tables and statements as server-sent events and over a WebSocket."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

import orjson
from fastapi import APIRouter, Header, Query, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from penstock.errors import PenstockError, RequestError
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.platform import Platform
from penstock.serve.push.event_stream import MEDIA_TYPE, EventStream
from penstock.serve.push.selection import Selection, read_selection
from penstock.serve.push.source import Begin
from penstock.serve.push.statements import Statements
from penstock.serve.push.table_source import TableSource
from penstock.serve.push.token import read_token
from penstock.serve.push.web_socket import refuse, serve_messages

_FIRST_WORD_SECONDS = 10.0
_LONGEST = 4_096
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}, "description": "Events."}
}
_WORDS = frozenset({"beginning", "latest"})
_Start: TypeAlias = Literal["beginning", "latest"]
_Text: TypeAlias = Annotated[str, Query(max_length=_LONGEST)]
_Texts: TypeAlias = Annotated[list[str], Query(max_length=100)]


def routes(platform: Platform) -> APIRouter:
    """Give what answers to those who follow."""
    router = APIRouter(tags=["live"])
    reader = [needs(Role.READER)]

    @router.get(
        "/live/topics/{name}", dependencies=reader, responses=_EVENTS, response_class=Response
    )
    async def follow_topic(  # noqa: PLR0913  # what a request may say
        name: str,
        *,
        start: Annotated[str, Query(alias="from", max_length=40)] = "latest",
        after: _Text = "",
        key: _Texts = [],  # noqa: B006  # FastAPI copies it
        where: _Texts = [],  # noqa: B006
        columns: _Text = "",
        last_event_id: Annotated[str, Header(max_length=_LONGEST)] = "",
    ) -> Response:
        """Follow the records of a topic, from the latest on or from where one was."""
        selection = read_selection(key, where, columns)
        begin = read_begin(start, last_event_id or after)
        return EventStream(await platform.feeds.topic(name, begin), selection)

    @router.websocket("/live/topics/{name}/ws", dependencies=reader)
    async def follow_topic_in_messages(socket: WebSocket, name: str) -> None:
        """Follow the records of a topic; the first message says from where."""
        await socket.accept()
        try:
            begin, selection = await _first_word(socket)
            subscription = await platform.feeds.topic(name, begin)
        except WebSocketDisconnect:
            return
        except PenstockError as error:
            await refuse(socket, error)
            return
        await serve_messages(socket, subscription, selection)

    @router.get("/live/query", dependencies=reader, responses=_EVENTS, response_class=Response)
    async def follow_statement(
        sql: Annotated[str, Query(min_length=1, max_length=_LONGEST)],
        start: Annotated[_Start, Query(alias="from")] = "latest",
        after: _Text = "",
        last_event_id: Annotated[str, Header(max_length=_LONGEST)] = "",
    ) -> Response:
        """Follow the answer to `SELECT ... EMIT CHANGES`; equal statements are worked out once."""
        begin = read_begin(start, last_event_id or after)
        statements = Statements(platform.feeds, platform.sql, platform.turn, platform.log)
        return EventStream(await statements.follow(sql, begin, from_beginning=start != "latest"))

    @router.get(
        "/live/tables/{name}", dependencies=reader, responses=_EVENTS, response_class=Response
    )
    async def follow_table(
        name: str,
        after: _Text = "",
        last_event_id: Annotated[str, Header(max_length=_LONGEST)] = "",
    ) -> Response:
        """Give the last record of each key of a topic, then what changes."""
        begin = read_begin("latest", last_event_id or after)
        source = partial(TableSource, platform.log, platform.registry, name)
        return EventStream(await platform.feeds.follow(f"table {name}", source, begin))

    return router


def read_begin(start: str, token: str) -> Begin:
    """Read where one begins: a token, `beginning`, `latest`, or a time."""
    if token:
        return read_token(token)
    if start in _WORDS:
        return "beginning" if start == "beginning" else "latest"
    try:
        if start.isascii() and start.isdigit():
            return datetime.fromtimestamp(int(start) / 1000, UTC)
        found = datetime.fromisoformat(start)
    except (ValueError, OverflowError, OSError):
        raise RequestError(
            "LIVE_FROM",
            f'"{start[:60]}" is no place to begin at',
            hint="Give beginning, latest, a time such as 2026-01-31T12:00:00Z, or milliseconds.",
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


async def _first_word(socket: WebSocket) -> tuple[Begin, Selection]:
    """Read the first message: `{"after": TOKEN}`, `{"from": ..., "key": ...}`, or `{}`."""
    said: Any = None
    try:
        async with asyncio.timeout(_FIRST_WORD_SECONDS):
            text = await socket.receive_text()
        said = orjson.loads(text[:_LONGEST]) if text else {}
    except (TimeoutError, orjson.JSONDecodeError, KeyError):
        said = None
    if not isinstance(said, dict):
        raise RequestError(
            "LIVE_FIRST",
            "the first message does not say where to begin",
            hint='Send {"from": "latest"}, {"from": "beginning"} or {"after": TOKEN}.',
        )
    begin = read_begin(str(said.get("from", "latest")), str(said.get("after") or ""))
    return begin, read_selection(
        [str(key) for key in _listed(said.get("key"))],
        [str(condition) for condition in _listed(said.get("where"))],
        ",".join(str(name) for name in _listed(said.get("columns"))),
    )


def _listed(said: Any) -> list[Any]:  # noqa: ANN401  # whatever it says
    if said is None:
        return []
    return said if isinstance(said, list) else [said]
