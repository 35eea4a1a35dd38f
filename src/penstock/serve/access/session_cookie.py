"""Who is logged in: a cookie that says the name of a token, sealed with what is kept of it.

A token that is revoked ends its logins; a server that is started again ends none.
"""

from __future__ import annotations

import hmac

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.serve.access.asker import Asker
from penstock.serve.access.token_file import Token, TokenFile

COOKIE = "penstock_login"
LIFE_SECONDS = 12 * 3600
_PARTS = 3


def cookie_for(token: Token, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """Give the cookie of somebody who has shown a token."""
    ends = clock.now() + 1000 * LIFE_SECONDS
    return f"{token.name}|{ends}|{_seal(token, ends)}"


def cookie_asker(tokens: TokenFile, cookie: str, *, clock: Clock = SYSTEM_CLOCK) -> Asker | None:
    """Give who a cookie is of; none where it is over, or was never given out."""
    parts = cookie.split("|")
    if len(parts) != _PARTS or not (parts[1].isascii() and parts[1].isdigit()):
        return None
    name, ends, seal = parts[0], int(parts[1][:20]), parts[2]
    token = tokens.named(name)
    if token is None or ends < clock.now():
        return None
    if not hmac.compare_digest(_seal(token, ends).encode(), seal.encode()):
        return None
    return Asker(token.name, token.role)


def _seal(token: Token, ends: int) -> str:
    return hmac.digest(token.digest.encode(), f"{token.name}|{ends}".encode(), "sha256").hex()
