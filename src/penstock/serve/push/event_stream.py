"""Server-sent events: a subscription as an answer of HTTP that does not end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from penstock.serve.push.arrival import Arrival
from penstock.serve.push.feed import BEAT_SECONDS
from penstock.serve.push.message import ending, first_messages, gap
from penstock.serve.push.selection import EVERYTHING, Selection
from penstock.serve.push.subscription import Subscription

MEDIA_TYPE = "text/event-stream"
_RETRY = b"retry: 1000\n\n"
_HEADERS: Mapping[str, str] = {
    # Proxies that collect an answer before they hand it on would hold back every event.
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


class EventStream(Response):
    """Sends what a subscription gives until whoever asked is gone.

    The server's own buffer says when a reader is slow: then nothing is taken from the
    subscription, which falls behind alone.
    """

    def __init__(self, subscription: Subscription, selection: Selection = EVERYTHING) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers=dict(_HEADERS))
        del self.headers["content-length"]
        self._subscription = subscription
        self._selection = selection

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            sender = asyncio.ensure_future(self._send(send))
            listener = asyncio.ensure_future(_gone(receive))
            try:
                await asyncio.wait({sender, listener}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sender, listener):
                    task.cancel()
                done = await asyncio.gather(sender, listener, return_exceptions=True)
            for found in done:
                if isinstance(found, Exception) and not isinstance(found, OSError):
                    raise found
        finally:
            self._subscription.close()

    async def _send(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        subscription = self._subscription
        await _body(send, _RETRY)
        for message in first_messages(subscription):
            await _body(send, message.stream())
        told_at = time.monotonic()
        while True:
            arrivals = await subscription.next()
            if not arrivals and subscription.feed.is_over:
                break
            told = b"".join(map(self._told, arrivals))
            if not told and (not arrivals or time.monotonic() - told_at > BEAT_SECONDS):
                # An id without data is no event, and moves on where one would go on.
                told = b": \nid: %b\n\n" % subscription.token
            if told:
                told_at = time.monotonic()
                await _body(send, told)
        await _body(send, ending(subscription).stream(), more=False)

    def _told(self, arrival: Arrival) -> bytes:
        rows = arrival.stream(self._selection)
        if arrival.lost is None:
            return rows
        return gap(arrival.lost, b"" if rows else arrival.token).stream() + rows


async def _body(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
