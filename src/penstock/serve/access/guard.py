"""The guard: finds out who asks, and turns away whom the server is not for.

It stands before everything: API, pages, registry and their WebSockets.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from penstock.errors import PenstockError, RequestError
from penstock.serve.access.asker import ANYBODY, Asker, told_asker
from penstock.serve.access.lasting import Lasting
from penstock.serve.access.policy import LOOPBACK_NAMES, Policy
from penstock.serve.access.session_cookie import COOKIE, cookie_asker
from penstock.serve.problem import problem_response

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/login", "/logout"})
"""What answers everybody: it tells nothing of what is in the home."""
_PROGRAMS = ("/api/", "/registry", "/metrics", "/_nicegui")
"""Paths that programs ask for, who cannot use a page to log in."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_BEARER = "bearer "
_WRONG = "TOKEN_WRONG"  # the code of an error


class Guard:
    """Lets pass what a policy allows, with who asks written down."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            self._check_host(connection.headers)
            self._check_origin(scope, connection.headers)
            asker = self._asker(connection)
            if asker is None and scope["path"] not in OPEN_PATHS:
                refusal = self._unknown(scope, connection.headers)
                await _refuse(scope, receive, send, refusal)
                return
        except PenstockError as error:
            if error.code == _WRONG:
                await self._policy.wrong.shown(address_of(scope))
            await _refuse(scope, receive, send, problem_response(error))
            return
        if asker is None:
            await self._app(scope, receive, send)
            return
        told_asker(scope, asker)
        lasting = Lasting(scope, receive, send)
        await lasting.run(self._app, lambda: self._asker(connection) == asker)

    def _check_host(self, headers: Headers) -> None:
        """Refuse a name that somebody else may have pointed at this machine (DNS rebinding)."""
        if not self._policy.loopback:
            # Who asks there needs a token, which a browser sends to no foreign name.
            return
        host = headers.get("host", "")
        if _host_name(host) not in LOOPBACK_NAMES:
            raise RequestError(
                "HOST_FOREIGN",
                f'this server is not "{host[:100]}"',
                hint="Ask for it as 127.0.0.1 or localhost.",
            )

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Refuse what a page of somebody else has a browser send."""
        origin = headers.get("origin")
        if origin is None or (scope["type"] == "http" and scope["method"] in _SAFE):
            return
        if origin in self._policy.origins:
            return
        if urlsplit(origin).netloc != headers.get("host", "") or origin == "null":
            raise RequestError(
                "ORIGIN_FOREIGN",
                f'a page of "{origin[:100]}" may not ask this',
                hint="`penstock serve --allow-origin` allows the pages of one other server.",
            )

    def _asker(self, connection: HTTPConnection) -> Asker | None:
        tokens = self._policy.tokens
        said = connection.headers.get("authorization", "")
        if said[: len(_BEARER)].lower() == _BEARER:
            found = tokens.asker(said[len(_BEARER) :].strip())
            if found is None:
                raise RequestError(
                    "TOKEN_WRONG",
                    "this token is none of the server's home",
                    hint="It may have been revoked; `penstock serve token create` makes one.",
                )
            return found
        cookie = connection.cookies.get(COOKIE)
        found = None if cookie is None else cookie_asker(tokens, cookie)
        if found is None and self._policy.loopback and not tokens.tokens():
            return ANYBODY
        return found

    @staticmethod
    def _unknown(scope: Scope, headers: Headers) -> Response:
        path = scope["path"]
        reads = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        if reads and "text/html" in headers.get("accept", "") and not path.startswith(_PROGRAMS):
            return RedirectResponse(f"/login?next={quote(path, safe='/')}", HTTPStatus.SEE_OTHER)
        return problem_response(
            RequestError(
                "TOKEN_NEEDED",
                "this server answers only who has a token",
                hint="Send it as `Authorization: Bearer TOKEN`; a browser logs in at /login.",
            )
        )


def address_of(scope: Scope) -> str:
    """Give the address that a request comes from."""
    client = scope.get("client")
    return str(client[0]) if client else ""


async def _refuse(scope: Scope, receive: Receive, send: Send, answer: Response) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(answer)
    else:
        await answer(scope, receive, send)


def _host_name(host: str) -> str:
    """Give the name of a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
