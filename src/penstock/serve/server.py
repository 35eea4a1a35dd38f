"""Serving an application over HTTP from a thread of this process."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from penstock.errors import SetupError

LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_START_SECONDS = 30.0
_STOP_SECONDS = 5
_PAUSE = 0.005


class HttpServer:
    """Serves from construction until `close`; `url` is where. Port 0 is any free one."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        port: int = 0,
        host: str = LOOPBACK,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._listener = _listen(host, port)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://{host}:{self._listener.getsockname()[1]}"
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                lifespan="auto",
                timeout_graceful_shutdown=_STOP_SECONDS,
                ssl_context_factory=None if tls is None else lambda *_: tls,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, args=([self._listener],), name="penstock-http", daemon=True
        )
        self._thread.start()
        self._wait_until_ready()

    def close(self) -> None:
        """Answer what is under way, then stop; closing twice is harmless."""
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS * 2)
        self._listener.close()

    def __enter__(self) -> Self:
        """Serve for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                self.close()
                raise SetupError(
                    "SERVER_START",
                    f"the HTTP server at {self.url} did not start",
                    hint="Run with --debug to see why.",
                )
            time.sleep(_PAUSE)


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SetupError(
            "PORT_TAKEN",
            f"nobody can listen at {host}:{port}: {error.strerror}",
            hint="Choose another port, or 0 for any free one.",
        ) from error
    return listener
