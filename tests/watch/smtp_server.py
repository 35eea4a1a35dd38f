"""A mail server of the tests' own: the part of RFC 5321 that a sender needs, on a real socket."""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Taken:
    """A mail as it was handed over."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes
    tls: bool
    user: str

    @property
    def message(self) -> Message:
        return message_from_bytes(self.data)


@dataclass
class SmtpServer:
    """Listens in a thread; `answers` says otherwise to a command, as in {"RCPT": "550 no"}."""

    certificate: ssl.SSLContext | None = None
    users: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    mails: list[Taken] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        begun = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        self._server = begun.result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _close(self) -> None:
        self._server.close()
        await self._server.wait_closed()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = _Session(self, reader, writer)
        try:
            await session.run()
        except ConnectionError:
            pass
        finally:
            writer.close()


class _Session:
    def __init__(
        self, server: SmtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.sender, self.user, self.tls = "", "", False
        self.recipients: list[str] = []

    async def run(self) -> None:
        await self.say("220 tests ready")
        while line := await self.reader.readline():
            text = line.decode().rstrip("\r\n")
            word = text.split(" ", 1)[0].upper()
            self.server.commands.append(word)
            if word in self.server.answers:
                await self.say(self.server.answers[word])
            elif not await self.handle(word, text):
                return

    async def handle(self, word: str, text: str) -> bool:
        if word == "QUIT":
            await self.say("221 bye")
            return False
        known = {
            "EHLO": self.hello, "AUTH": self.auth, "STARTTLS": self.secure, "MAIL": self.mail,
            "RCPT": self.rcpt, "DATA": self.data, "RSET": self.reset,
        }  # fmt: skip
        if word in known:
            await known[word](text)
        else:
            await self.say("502 not known")
        return True

    async def say(self, text: str) -> None:
        self.writer.write(f"{text}\r\n".encode())
        await self.writer.drain()

    async def hello(self, _: str) -> None:
        offers = ["tests"]
        if self.server.certificate is not None and not self.tls:
            offers.append("STARTTLS")
        if self.server.users and (self.tls or self.server.certificate is None):
            offers.append("AUTH PLAIN")
        offers.append("8BITMIME")
        for offer in offers[:-1]:
            await self.say(f"250-{offer}")
        await self.say(f"250 {offers[-1]}")

    async def secure(self, _: str) -> None:
        assert self.server.certificate is not None
        await self.say("220 go ahead")
        await self.writer.start_tls(self.server.certificate)
        self.tls = True

    async def auth(self, text: str) -> None:
        _, user, password = base64.b64decode(text.split()[2]).decode().split("\0")
        if self.server.users.get(user) == password:
            self.user = user
            await self.say("235 welcome")
        else:
            await self.say(f"535 wrong password {password}")

    async def mail(self, text: str) -> None:
        self.sender = _address(text)
        await self.say("250 ok")

    async def rcpt(self, text: str) -> None:
        self.recipients.append(_address(text))
        await self.say("250 ok")

    async def reset(self, _: str) -> None:
        self.recipients.clear()
        await self.say("250 ok")

    async def data(self, _: str) -> None:
        await self.say("354 go on")
        lines = []
        while (line := await self.reader.readline()) != b".\r\n":
            lines.append(line[1:] if line.startswith(b".") else line)
        whole = b"".join(lines)
        self.server.mails.append(
            Taken(self.sender, tuple(self.recipients), whole, self.tls, self.user)
        )
        self.recipients.clear()
        await self.say("250 taken")


def _address(text: str) -> str:
    return text.partition("<")[2].partition(">")[0]
