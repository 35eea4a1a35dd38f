"""Connections that last: ended within seconds when who asked is no longer known.

Pages, live answers and the log over a WebSocket go on for hours after the guard has looked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.errors import PenstockError

LOOKED_AFTER = 3.0
"""Seconds between two looks."""
_REFUSED = 1008
_BEGINS = frozenset({"http.response.start", "websocket.accept"})


class Lasting:
    """One connection; what was not begun to be answered yet is left to end by itself."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._to = scope, receive, send
        self._begun = False
        self._over = False
        self._ended = False
        self._task: asyncio.Task[object] | None = None
        self._next: asyncio.TimerHandle | None = None

    async def run(self, app: ASGIApp, still_known: Callable[[], bool]) -> None:
        """Let an application answer for as long as who asks is known."""
        self._task = asyncio.current_task()
        self._look_later(still_known)
        try:
            await app(self._scope, self._receive, self._send)
        except asyncio.CancelledError:
            if not self._ended:
                raise
        finally:
            if self._next is not None:
                self._next.cancel()
        if self._ended and self._task is not None:
            self._task.uncancel()
            await self._hang_up()

    def _look_later(self, still_known: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        self._next = loop.call_later(LOOKED_AFTER, self._look, still_known)

    def _look(self, still_known: Callable[[], bool]) -> None:
        known = False
        # Tokens that cannot be read are no tokens.
        with suppress(PenstockError):
            known = still_known()
        if not known and self._begun and self._task is not None:
            self._ended = True
            self._task.cancel()
            return
        self._look_later(still_known)

    async def _send(self, message: Message) -> None:
        self._begun = self._begun or message["type"] in _BEGINS
        body = message["type"] == "http.response.body" and not message.get("more_body", False)
        self._over = self._over or body or message["type"] == "websocket.close"
        await self._to(message)

    async def _hang_up(self) -> None:
        if self._over:
            return
        if self._scope["type"] == "websocket":
            end: Message = {"type": "websocket.close", "code": _REFUSED, "reason": "TOKEN_WRONG"}
        else:
            end = {"type": "http.response.body", "body": b"", "more_body": False}
        # Whoever is gone already need not be told.
        with suppress(OSError, RuntimeError):
            await self._to(end)
