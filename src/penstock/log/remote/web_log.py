"""The log of a Penstock server (`penstock serve`), over WebSockets."""

from __future__ import annotations

import json
import os
import ssl
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

from typing_extensions import override
from websockets.exceptions import (
    InvalidHandshake,
    InvalidStatus,
    InvalidURI,
    WebSocketException,
)
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from penstock.config import Settings, load_settings
from penstock.errors import ConfigError, PenstockError
from penstock.log.port import SegmentInfo
from penstock.log.record import TopicPartition
from penstock.log.remote.client import RemoteLog
from penstock.log.remote.exchange import Exchange, Line
from penstock.log.remote.failure import decode_failure
from penstock.log.remote.packed import pack, unpack
from penstock.log.remote.server_token import token_for
from penstock.log.remote.trust import trusting, untrusted
from penstock.log.remote.wire import Message

PLACE = "/api/v1/log"
_ADVICE = "Start it with `penstock serve`, or correct --server"
_CONNECT_SECONDS = 10.0
_LARGEST = 256 * 1024 * 1024


class WebLog(RemoteLog):
    """The log of a server by its address, for who has a token; threads may share it."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        ca_file: Path | None = None,
        patience: timedelta = timedelta(minutes=1),
    ) -> None:
        place = url.rstrip("/")
        trusted = trusting(ca_file) if place.startswith("https:") else None
        self._exchange = Exchange(
            url, lambda: _WebLine(place, token, trusted), patience, advice=_ADVICE
        )

    def segments(self, topic: str, partition: int) -> list[SegmentInfo]:
        """Give the segments of a partition."""
        found = self._read("segments", topic=topic, partition=partition)
        return [SegmentInfo(*one) for one in found]

    def clean(self, topic: str, *, include_active: bool = False) -> list[Cleaned]:
        """Apply retention and compaction now."""
        found = self._change("clean", topic=topic, include_active=include_active)
        return [Cleaned(*one) for one in found]

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what only the files of a log can answer."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise ConfigError(
            "SERVER_COMMAND",
            f'"{name}" works on the files of a log, and cannot be asked of a server',
            hint="Run it on the machine of the server with --home, and without --server.",
        )


def served_log(url: str, settings: Settings | None = None) -> WebLog:
    """Give the log of a server, with the token and the certificates of the settings."""
    known = settings or load_settings()
    return WebLog(url, token_for(known, os.environ, url), ca_file=known.ca_file)


class Cleaned:
    """What cleaning did to a partition."""

    def __init__(  # what a server tells
        self,
        topic: str,
        partition: int,
        before: int,
        after: int,
        busy: bool,  # noqa: FBT001
    ) -> None:
        self.partition = TopicPartition(topic, partition)
        self.bytes_before = before
        self.bytes_after = after
        self.busy = busy


class _WebLine(Line):
    """A WebSocket whose server knows this client; after any failure it is closed."""

    def __init__(self, url: str, token: str, trusted: ssl.SSLContext | None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._opened = ExitStack()
        address = "ws" + url.removeprefix("http") + PLACE
        try:
            self._socket: ClientConnection = self._opened.enter_context(
                connect(
                    address,
                    additional_headers=headers,
                    open_timeout=_CONNECT_SECONDS,
                    max_size=_LARGEST,
                    compression=None,
                    proxy=None,
                    ssl=trusted,
                )
            )
        except InvalidStatus as refusal:
            raise _refused(url, refusal) from refusal
        except ssl.SSLCertVerificationError as failure:
            raise untrusted(url, failure) or other_server(url) from failure
        except (InvalidHandshake, InvalidURI, ValueError) as failure:
            raise other_server(url) from failure

    @property
    @override
    def is_usable(self) -> bool:
        return self._socket.state is State.OPEN

    @override
    def ask(self, question: Message, *, timeout: float) -> Message:
        try:
            self._socket.send(pack(question))
            piece = self._socket.recv(timeout=timeout, decode=False)
        except WebSocketException as failure:
            raise ConnectionError(str(failure) or "the server hung up") from failure
        except BaseException:
            # Also where an interrupt came: the answer would be taken for that of the next.
            self.close()
            raise
        answer = unpack(bytes(piece))
        if "error" in answer.header:
            raise decode_failure(answer.header["error"])
        return answer

    @override
    def close(self) -> None:
        with suppress(WebSocketException, OSError):
            self._opened.close()

    @override
    def abandon(self) -> None:
        self._socket.socket.close()


def other_server(url: str) -> ConfigError:
    """The error of an address where something else answers."""
    return ConfigError(
        "SERVER_OTHER",
        f'what answers at "{url}" is no server of Penstock',
        hint="Correct the address: `penstock serve` says it when it starts.",
    )


def _refused(url: str, refusal: InvalidStatus) -> PenstockError:
    try:
        told = json.loads(refusal.response.body or b"")
        said = {"class": "RequestError", "code": told["code"], "fact": told["detail"]}
        return decode_failure(said | {"hint": token_hint(told["hint"])})
    except (ValueError, KeyError, TypeError):
        return other_server(url)


def token_hint(hint: str) -> str:
    """Say where a command takes its token from."""
    return f"{hint} Commands take it from PENSTOCK_TOKEN, or from the file of --token-file."
