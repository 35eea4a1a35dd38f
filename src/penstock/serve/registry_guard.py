"""Who may do what at the registry, which speaks as Confluent's does and knows no roles."""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.errors import PenstockError
from penstock.serve.access.needs import require
from penstock.serve.access.role import Role
from penstock.serve.problem import problem_response

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ASKING = re.compile(r"/(compatibility/.+|subjects/[^/]+)/?")
"""What is posted only to ask: does it fit, and is it there."""


class RegistryGuard:
    """Lets readers look, and writers change."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "http":
            try:
                require(HTTPConnection(scope), _role(scope))
            except PenstockError as error:
                await problem_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _role(scope: Scope) -> Role:
    raw = (scope.get("raw_path") or scope["path"].encode()).decode("ascii", "replace")
    path = raw.removeprefix(scope.get("root_path", ""))
    asks = scope["method"] == "POST" and _ASKING.fullmatch(path) is not None
    return Role.READER if asks or scope["method"] in _SAFE else Role.WRITER
