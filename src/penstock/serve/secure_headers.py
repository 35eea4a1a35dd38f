"""Headers that tell a browser what an answer may do."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# NiceGUI's pages compile their templates in the browser and carry their start inline.
_PAGES = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_DATA = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
_PROGRAMS = ("/api/", "/registry", "/metrics", "/healthz", "/readyz")


class SecureHeaders:
    """Adds to every answer what browsers are to keep to."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        programs = scope["path"].startswith(_PROGRAMS)

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["X-Frame-Options"] = "DENY"
                # Without any, browsers send the form of the login with the origin "null".
                headers["Referrer-Policy"] = "same-origin"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Content-Security-Policy"] = _DATA if programs else _PAGES
                if programs:
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, secured)
