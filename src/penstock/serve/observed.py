"""Every request is given an id, counted and logged; a failure nobody expected is told as one."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.serve.access.asker import asker_of
from penstock.serve.problem import failure_response
from penstock.serve.request_counts import RequestCounts
from penstock.serve.structured_log import log_request

_ID = "X-Request-Id"
_API = "/api/v1"
_ASSETS = "/_nicegui"
_FAILED, _LEFT = 500, 499
"""Left: who asked was gone before the answer."""


@dataclass(slots=True)
class _Seen:
    status: int = 0


class Observed:
    """Stands outermost, and sees every answer."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, and write down how."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        begun, number, seen = time.perf_counter(), secrets.token_hex(8), _Seen()
        path = scope["path"]

        async def watched(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                seen.status = message["status"]
                MutableHeaders(scope=message)[_ID] = number
            elif message["type"] == "websocket.accept":
                seen.status = 101
            await send(message)

        self._counts.begun()
        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # noqa: BLE001  # whoever asked is told, the log has the trace
            answer = failure_response(error)
            if not seen.status and scope["type"] == "http":
                await answer(scope, receive, watched)
            seen.status = seen.status or _FAILED
        finally:
            self._write_down(scope, path, seen.status or _LEFT, time.perf_counter() - begun, number)

    def _write_down(
        self, scope: Scope, path: str, status: int, seconds: float, number: str
    ) -> None:
        method = scope.get("method", "WEBSOCKET")
        template = template_of(scope, path)
        self._counts.ended(method, template, status, seconds)
        if template == _ASSETS:
            return
        asker = asker_of(HTTPConnection(scope))
        log_request(
            id=number,
            method=method,
            path=template,
            status=status,
            milliseconds=round(1000 * seconds, 3),
            role=None if asker is None else asker.role.name.lower(),
            asker=None if asker is None else asker.name,
        )


def template_of(scope: Scope, path: str) -> str:
    """Give the path of a request as its route has it, so that it tells no values."""
    if path.startswith(_ASSETS):
        return _ASSETS
    if path == "/registry" or path.startswith("/registry/"):
        return "/registry"
    route = scope.get("route")
    found = getattr(route, "path", None)
    if not isinstance(found, str) or not found:
        return "-"
    below = path.startswith(f"{_API}/") and not found.startswith("/api")
    return f"{_API}{found}" if below else found
