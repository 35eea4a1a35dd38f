"""Whoever follows over HTTP, in tests: an event stream read by hand from a socket."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson


@dataclass(frozen=True, slots=True)
class Heard:
    """One event."""

    name: str
    data: Any
    token: str


class Follower:
    """An event stream: opened, read event by event, and cut at any time."""

    def __init__(self, url: str, *, after: str = "") -> None:
        self._url = urlsplit(url)
        self.token = after
        self.status = 0
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter
        self._rest = b""

    async def open(self) -> None:
        """Ask, and read the head of the answer."""
        host, port = self._url.hostname, self._url.port
        self._reader, self._writer = await asyncio.open_connection(host, port)
        path = f"{self._url.path}?{self._url.query}"
        last = f"Last-Event-ID: {self.token}\r\n" if self.token else ""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{last}\r\n".encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        self.status = int(head.split()[1])
        self._rest = b""

    async def hear(self) -> Heard | None:
        """Give the next event; none at the end of the stream."""
        while True:
            while b"\n\n" not in self._rest:
                chunk = await self._chunk()
                if not chunk:
                    return None
                self._rest += chunk
            block, _, self._rest = self._rest.partition(b"\n\n")
            found = self._event(block)
            if found is not None:
                return found

    async def rows(self, count: int) -> list[Any]:
        """Give the data of the next so many events that are rows."""
        found: list[Any] = []
        while len(found) < count:
            heard = await self.hear()
            assert heard is not None, "the stream has ended"
            if heard.name == "message":
                found.append(heard.data)
        return found

    def cut(self) -> None:
        """Be gone without a word."""
        self._writer.transport.abort()

    async def _chunk(self) -> bytes:
        try:
            size = int(await self._reader.readuntil(b"\r\n"), 16)
            return (await self._reader.readexactly(size + 2))[:-2]
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    def _event(self, block: bytes) -> Heard | None:
        name, data = "message", b""
        for line in block.split(b"\n"):
            field, _, value = line.partition(b": ")
            if field == b"id":
                self.token = value.decode()
            elif field == b"event":
                name = value.decode()
            elif field == b"data":
                data = value
        return Heard(name, orjson.loads(data), self.token) if data else None
