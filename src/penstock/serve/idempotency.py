"""A write with an `Idempotency-Key` is carried out once, however often it is sent."""

from __future__ import annotations

import hashlib
from functools import partial
from http import HTTPStatus

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.errors import PenstockError, RequestError
from penstock.serve.access.asker import asker_of
from penstock.serve.answer_store import Answer, AnswerStore, Found
from penstock.serve.problem import problem_response

HEADER = "Idempotency-Key"
_REPLAYED = "Idempotency-Replayed"
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SECRETS = "tokens"
"""Where answers have secrets, which are never kept; their names are not taken twice anyway."""
_LONGEST = 255
_MOST_BYTES = 1_000_000
"""Larger answers are not kept."""


class Idempotency:
    """Gives the kept answer to who sends a request of the API again."""

    def __init__(self, app: ASGIApp, store: AnswerStore, prefix: str) -> None:
        self._app = app
        self._store = store
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, or give what it has answered before."""
        said = Headers(scope=scope).get(HEADER) if scope["type"] == "http" else None
        if (
            said is None
            or scope["method"] not in _WRITES
            or not scope["path"].startswith(self._prefix)
            or scope["path"].startswith(f"{self._prefix}{_SECRETS}")
        ):
            await self._app(scope, receive, send)
            return
        try:
            _check(said)
            body = await _body(receive)
            key, request = _key(scope, said), _request(scope, body)
            found = await anyio.to_thread.run_sync(self._store.begin, key, request)
            answer = None if found == "new" else _kept(found)
        except PenstockError as error:
            answer = problem_response(error)
        if answer is not None:
            await answer(scope, receive, send)
            return
        await self._carry_out(scope, body, receive, send, key)

    async def _carry_out(
        self, scope: Scope, body: bytes, receive: Receive, send: Send, key: str
    ) -> None:
        seen = _Seen(send)
        kept: Answer | None = None
        try:
            await self._app(scope, _Again(body, receive), seen)
            kept = seen.answer()
        finally:
            # Who is cut off here finds the key undecided by a later server, under way by this one.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(partial(self._store.end, key, kept))


class _Again:
    """The body of a request, to be read once more."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        body, self._body = self._body, None
        if body is None:
            return await self._receive()
        return {"type": "http.request", "body": body, "more_body": False}


class _Seen:
    """Sends an answer on, and remembers it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._status = 0
        self._media_type = ""
        self._body: bytes | None = b""
        self._whole = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._media_type = Headers(raw=message["headers"]).get("content-type", "")
        elif message["type"] == "http.response.body":
            part = message.get("body", b"")
            if self._body is not None:
                whole = self._body + part
                self._body = whole if len(whole) <= _MOST_BYTES else None
            self._whole = not message.get("more_body", False)
        await self._send(message)

    def answer(self) -> Answer | None:
        """Give what is to be kept: who has failed may try again."""
        if not self._whole or self._status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return None
        return Answer(self._status, self._media_type, self._body)


def _kept(found: Found) -> Response:
    if isinstance(found, Answer):
        if found.body is None:
            raise RequestError(
                "KEY_ANSWER_LOST",
                f"this was done with status {found.status}; its answer was too large to keep",
                hint="Ask for what it has made.",
            )
        headers = {"Content-Type": found.media_type} if found.media_type else {}
        return Response(found.body, found.status, {**headers, _REPLAYED: "true"})
    if found == "other request":
        raise RequestError(
            "KEY_REUSED",
            f"this {HEADER} came with another request before",
            hint="Use a new key for each request.",
        )
    if found == "under way":
        raise RequestError(
            "KEY_IN_USE",
            f"the request with this {HEADER} is still being carried out",
            hint="Ask again in a moment.",
        )
    raise RequestError(
        "KEY_UNDECIDED",
        f"the server ended while it carried out the request with this {HEADER}",
        hint="Look whether it was done; if not, send it with a new key.",
    )


def _check(said: str) -> None:
    if not (0 < len(said) <= _LONGEST and said.isascii() and said.isprintable()):
        raise RequestError(
            "KEY_FORM",
            f"an {HEADER} has 1 to {_LONGEST} printable ASCII characters",
            hint="A random UUID fits.",
        )


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _key(scope: Scope, said: str) -> str:
    asker = asker_of(HTTPConnection(scope))
    name = "" if asker is None else asker.name
    return hashlib.sha256(f"{name}\n{said}".encode()).hexdigest()


def _request(scope: Scope, body: bytes) -> str:
    place = f"{scope['method']} {scope['path']}?".encode() + scope.get("query_string", b"")
    return hashlib.sha256(place + b"\n" + body).hexdigest()
