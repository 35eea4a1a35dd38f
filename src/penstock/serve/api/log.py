"""The log itself over a WebSocket, for Penstock's own commands (`--server`).

Each connection is a client of the log as one over TCP is: what it opened ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect

from penstock.errors import LogError, PenstockError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import Membership
from penstock.log.remote.clerk import Clerk
from penstock.log.remote.failure import encode_failure
from penstock.log.remote.packed import pack, unpack
from penstock.log.remote.wire import Message
from penstock.serve.access.asker import Asker
from penstock.serve.access.needs import needs, require
from penstock.serve.access.role import Role
from penstock.serve.api.own_topic import topic_role
from penstock.serve.platform import Platform

_MOST_CONNECTIONS = 64
_READING = frozenset(
    {
        "capabilities",
        "topics",
        "topic",
        "read",
        "bounds",
        "snapshot",
        "offset_at_time",
        "groups",
        "group",
        "committed",
        "wait",
        "segments",
    }
)
"""What a reader may ask; all else changes something, be it how far a group has read."""
_TRY_AGAIN = 1013


def routes(platform: Platform) -> APIRouter:
    """Give the route of the log of a platform."""
    return log_routes(platform.log)


def log_routes(log: EmbeddedLog) -> APIRouter:
    """Give the route of a log."""
    router = APIRouter(tags=["log"])
    seats: dict[str, Membership] = {}
    room = threading.BoundedSemaphore(_MOST_CONNECTIONS)

    @router.websocket("/log", dependencies=[needs(Role.READER)])
    async def serve_log(socket: WebSocket) -> None:
        """Answer questions about the log, one after the other."""
        asker = require(socket, Role.READER)
        await socket.accept()
        if not room.acquire(blocking=False):
            await socket.close(_TRY_AGAIN, "too many clients")
            return
        try:
            await _Client(socket, log, seats, asker).serve()
        finally:
            room.release()

    return router


class _Client:
    """One connection: questions are answered in a thread of their own."""

    def __init__(
        self,
        socket: WebSocket,
        log: EmbeddedLog,
        seats: dict[str, Membership],
        asker: Asker,
    ) -> None:
        self._socket = socket
        self._log = log
        self._asker = asker
        self._gone = threading.Event()
        self._clerk = Clerk(log, seats, self._gone.is_set)
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(1)

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "penstock-log-client") as thread:
            listening = asyncio.create_task(self._listen())
            try:
                while (piece := await self._pieces.get()) is not None:
                    answer = await loop.run_in_executor(thread, self._answer, piece)
                    await self._socket.send_bytes(answer)
            except (WebSocketDisconnect, RuntimeError):
                # Gone while it was answered.
                pass
            finally:
                self._gone.set()
                listening.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await listening
                await loop.run_in_executor(thread, self._clerk.close)

    async def _listen(self) -> None:
        """Take questions as they come, so that it is noticed at once when the client leaves."""
        try:
            while True:
                await self._pieces.put(await self._socket.receive_bytes())
        except (WebSocketDisconnect, RuntimeError, KeyError):
            self._gone.set()
            await self._pieces.put(None)

    def _answer(self, piece: bytes) -> bytes:
        try:
            question = unpack(piece)
            asked = question.header.get("arguments")
            method = str(question.header.get("method"))
            arguments: Mapping[str, Any] = asked if isinstance(asked, dict) else {}
            self._require(method, arguments)
            if method in {"segments", "clean"}:
                return pack(self._operate(method, arguments))
            return pack(self._clerk.answer(question))
        except PenstockError as error:
            return pack(Message({"error": encode_failure(error)}))

    def _require(self, method: str, asked: Mapping[str, Any]) -> None:
        needed = Role.READER if method in _READING else Role.WRITER
        described = asked.get("topic", asked.get("name"))
        name = described.get("name") if isinstance(described, dict) else described
        if needed is Role.WRITER and isinstance(name, str):
            needed = topic_role(name)
        if self._asker.role < needed:
            raise LogError(
                "ROLE_NEEDED",
                f'"{method}" needs the role {needed.name.lower()}; "{self._asker.name}" is'
                f" {self._asker.role.name.lower()}",
                hint="An admin makes tokens with `penstock serve token create --role`.",
            )

    def _operate(self, method: str, asked: Mapping[str, Any]) -> Message:
        topic = str(asked.get("topic"))
        if method == "segments":
            found = self._log.segments(topic, int(asked.get("partition", 0)))
            return Message({"result": [list(one) for one in found]})
        include = bool(asked.get("include_active"))
        reports = self._log.clean(topic, include_active=include)
        told = [[*one.partition, one.bytes_before, one.bytes_after, one.busy] for one in reports]
        return Message({"result": told})
