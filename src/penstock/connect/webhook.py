"""Messages sent to other programs: a JSON document by HTTP POST, signed where that is asked for.

The signature is that of many services: `t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of
`SECONDS.BODY`. The receiver computes it again, and refuses what is older than it likes.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPException

from typing_extensions import override

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.connect.secret import secret_of, shown_address
from penstock.errors import ConfigError, DeliveryError, did_you_mean
from penstock.model.duration import duration_of

SIGNATURE = "X-Penstock-Signature"
MESSAGE_ID = "Idempotency-Key"

_KNOWN = ("secret_env", "secret_file", "timeout", "token_env", "token_file")
_LATER = (408, 425, 429)
"""Answers below 500 that mean: not now."""
_TOLD = 200
"""How many characters of an answer are told."""


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """How webhooks are called."""

    secret: str = field(default="", repr=False)
    timeout: timedelta = timedelta(seconds=10)
    token: str = field(default="", repr=False)
    """Sent as `Authorization: Bearer`."""


def webhook_settings(
    table: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> WebhookSettings:
    """Read the table `[webhook]`."""
    for name in table:
        if name not in (*_KNOWN, "secret", "token"):
            raise ConfigError(
                "WEBHOOK_SETTINGS",
                f'setting "{name}" of [webhook] does not exist',
                hint=did_you_mean(name, _KNOWN) or f"Settings: {', '.join(_KNOWN)}.",
            )
    return WebhookSettings(
        secret_of(table, "secret", "[webhook]", environment),
        duration_of(str(table.get("timeout", "10s"))),
        secret_of(table, "token", "[webhook]", environment),
    )


def signature(secret: str, body: bytes, seconds: int) -> str:
    """Give what proves that a body was sent by who knows the secret, and when."""
    signed = f"{seconds}.".encode() + body
    found = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={found}"


def post(
    url: str,
    body: bytes,
    *,
    id: str,  # noqa: A002  # our word for it
    settings: WebhookSettings,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Send a JSON document once; what was not taken is an error that tells whether to try again."""
    headers = {"Content-Type": "application/json", "User-Agent": "penstock", MESSAGE_ID: id}
    if settings.secret:
        headers[SIGNATURE] = signature(settings.secret, body, clock.now() // 1000)
    if settings.token:
        headers["Authorization"] = f"Bearer {settings.token}"
    status, said = _asked(url, body, headers, settings.timeout.total_seconds())
    if 200 <= status < 300:  # noqa: PLR2004  # HTTP
        return
    told = f"{shown_address(url)} answers {status}"
    if status >= 500 or status in _LATER:  # noqa: PLR2004  # HTTP
        raise DeliveryError("WEBHOOK_UNREACHABLE", told, hint="It is tried again by itself.")
    raise DeliveryError(
        "WEBHOOK_REFUSED",
        f"{told}: {said!r}",
        hint="Correct the address or what it expects; the same message is sent again then.",
    )


def _asked(url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> tuple[int, str]:
    """Give the status of the answer and how it begins."""
    # Not by httpx, which logs addresses, and so tokens.
    from urllib.error import HTTPError  # noqa: PLC0415  # few processes send anything
    from urllib.request import HTTPRedirectHandler, Request, build_opener  # noqa: PLC0415

    class Staying(HTTPRedirectHandler):
        """Goes nowhere else: who is told was chosen by whoever wrote the rule."""

        @override
        def redirect_request(self, *_: object) -> None:
            return None

    if not url.startswith(("http://", "https://")):
        raise _silent(url, "it is no address of HTTP")
    try:
        request = Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310
        with build_opener(Staying).open(request, timeout=seconds) as answer:
            return answer.status, ""
    except HTTPError as error:
        with error:
            return error.code, error.read(_TOLD).decode("utf-8", "replace")
    except (OSError, HTTPException, ValueError) as error:
        # The text of the error may hold the address, and that a token.
        raise _silent(url, type(error).__name__) from None


def _silent(url: str, why: str) -> DeliveryError:
    return DeliveryError(
        "WEBHOOK_UNREACHABLE",
        f"{shown_address(url)} does not answer: {why}",
        hint="Look whether it runs and can be reached from here.",
    )
