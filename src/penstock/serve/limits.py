"""How large a request may be, how long its answer may take, and how many there are at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.errors import RequestError
from penstock.serve.problem import problem_response


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server takes upon itself."""

    body_bytes: int = 16 * 1024 * 1024
    seconds: float = 60.0
    """Until an answer begins; one that has begun, such as a live one, may last."""
    at_a_time: int = 256
    """Requests whose answer has not begun."""


class Limited:
    """Refuses what goes beyond limits."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer in time, or refuse."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await problem_response(refused)(scope, receive, send)
            return
        await _Answering(self, scope, receive, send).run()

    def _refusal(self, scope: Scope) -> RequestError | None:
        length = Headers(scope=scope).get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._limits.body_bytes:
            return _large(self._limits)
        if self._waiting >= self._limits.at_a_time:
            return RequestError(
                "REQUESTS_MANY",
                f"{self._waiting} requests wait for their answers already",
                hint="Ask again in a moment.",
            )
        return None


def _large(limits: Limits) -> RequestError:
    return RequestError(
        "REQUEST_LARGE",
        f"a request may have {limits.body_bytes} bytes, and this has more",
        hint="Send it in parts.",
    )


class _TooLarge(Exception):  # noqa: N818  # never leaves this file
    """The body goes on beyond what it may."""


class _Answering:
    """One request on its way."""

    def __init__(self, limited: Limited, scope: Scope, receive: Receive, send: Send) -> None:
        self._limited = limited
        self._limits = limited._limits  # noqa: SLF001  # parts of one thing
        self._scope, self._receive, self._send = scope, receive, send
        self._begun = False
        self._timer: asyncio.Timeout | None = None
        self._bytes = 0

    async def run(self) -> None:
        self._limited._waiting += 1  # noqa: SLF001  # parts of one thing
        try:
            async with asyncio.timeout(self._limits.seconds) as self._timer:
                await self._limited._app(self._scope, self._received, self._sent)  # noqa: SLF001
        except _TooLarge:
            await self._refuse(_large(self._limits))
        except TimeoutError:
            if self._begun or self._timer is None or not self._timer.expired():
                raise
            fact = f"the answer took more than {self._limits.seconds:g} seconds"
            await self._refuse(
                RequestError("REQUEST_SLOW", fact, hint="Ask for less, or ask again later.")
            )
        finally:
            self._end_waiting()

    async def _received(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            if self._bytes > self._limits.body_bytes:
                raise _TooLarge
        return message

    async def _sent(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._begun:
            self._end_waiting()
            if self._timer is not None and not self._timer.expired():
                self._timer.reschedule(None)
        await self._send(message)

    def _end_waiting(self) -> None:
        if not self._begun:
            self._begun = True
            self._limited._waiting -= 1  # noqa: SLF001  # parts of one thing

    async def _refuse(self, error: RequestError) -> None:
        if not self._begun:
            self._end_waiting()
            await problem_response(error)(self._scope, self._receive, self._send)
