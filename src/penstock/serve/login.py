"""Logging in with a token: a page of plain HTML, and a cookie that no script can read."""

from __future__ import annotations

from html import escape
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from penstock.serve.access.guard import address_of
from penstock.serve.access.policy import Policy
from penstock.serve.access.session_cookie import COOKIE, LIFE_SECONDS, cookie_for

_MOST_BYTES = 4000
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Penstock: log in</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif;
  max-width: 26rem; margin: 15vh auto; padding: 0 1rem; }}
input, button {{ font: inherit; width: 100%; box-sizing: border-box;
  padding: .5rem; margin: .3rem 0; }}
.wrong {{ color: #c62828; }}
</style></head><body>
<h1>Penstock</h1>{said}
<form method="post" action="/login?next={place}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
</form>
<p>An operator of this server makes one with
<code>penstock serve token create --role reader --name you</code>.</p>
</body></html>
"""


def login_routes(policy: Policy) -> APIRouter:
    """Give `/login` and `/logout`, which answer everybody."""
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    def show(to: Annotated[str, Query(alias="next", max_length=500)] = "/") -> Response:
        """Ask for a token."""
        return HTMLResponse(_page(to))

    @router.post("/login")
    async def log_in(
        request: Request, to: Annotated[str, Query(alias="next", max_length=500)] = "/"
    ) -> Response:
        """Give a cookie for a token."""
        word = await _word(request)
        asker = policy.tokens.asker(word)
        token = None if asker is None else policy.tokens.named(asker.name)
        if token is None:
            await policy.wrong.shown(address_of(request.scope))
            said = '<p class="wrong" role="alert">This is no token of this server.</p>'
            return HTMLResponse(_page(to, said), HTTPStatus.UNAUTHORIZED)
        answer = RedirectResponse(_own(to), HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            cookie_for(token),
            max_age=LIFE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    @router.api_route("/logout", methods=["GET", "POST"])
    def log_out() -> Response:
        """Take the cookie back."""
        answer = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    return router


def _page(to: str, said: str = "") -> str:
    return _PAGE.format(said=said, place=escape(_own(to), quote=True))


def _own(to: str) -> str:
    """Give a path of this server; whatever else is asked for becomes the first page."""
    plain = to.isascii() and to.isprintable() and not set(to) & set("\\?#&")
    return to if plain and to.startswith("/") and not to.startswith("//") else "/"


async def _word(request: Request) -> str:
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > _MOST_BYTES:
            return ""
    found = parse_qs(data.decode("ascii", "replace")).get("token", [""])
    return found[0].strip()
