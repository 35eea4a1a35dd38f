"""Measurements over HTTP, for Prometheus to fetch; on this machine only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override

from penstock.errors import PenstockError
from penstock.watch.exposition import CONTENT_TYPE

PATH = "/metrics"
_HOST = "127.0.0.1"
_LOOK = 0.05
"""How often it looks whether it is to end, in seconds."""


class MetricsServer:
    """Answers `GET /metrics` with a text that is made anew each time."""

    def __init__(self, text: Callable[[], str], port: int = 0) -> None:
        self._server = ThreadingHTTPServer((_HOST, port), _handler(text))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{_HOST}:{self._server.server_port}{PATH}"

    def close(self) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(text: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] != PATH:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            try:
                body = text().encode()
            except PenstockError as error:
                self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, error.code)
                return
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Who fetches every few seconds is not worth a line."""

    return Handler
