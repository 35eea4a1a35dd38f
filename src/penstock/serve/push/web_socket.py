"""A subscription as the messages of a WebSocket."""

from __future__ import annotations

import asyncio
import time

from starlette.websockets import WebSocket, WebSocketDisconnect

from penstock.errors import PenstockError
from penstock.serve.push.feed import BEAT_SECONDS
from penstock.serve.push.message import Message, ending, first_messages, gap
from penstock.serve.push.selection import EVERYTHING, Selection
from penstock.serve.push.subscription import Subscription

NORMAL, REFUSED = 1000, 1008


async def serve_messages(
    socket: WebSocket, subscription: Subscription, selection: Selection = EVERYTHING
) -> None:
    """Send what a subscription gives until one of the two is gone."""
    sender = asyncio.ensure_future(_send(socket, subscription, selection))
    listener = asyncio.ensure_future(_gone(socket))
    try:
        await asyncio.wait({sender, listener}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sender, listener):
            task.cancel()
        done = await asyncio.gather(sender, listener, return_exceptions=True)
        subscription.close()
    for found in done:
        if isinstance(found, Exception) and not isinstance(found, OSError | WebSocketDisconnect):
            raise found


async def refuse(socket: WebSocket, error: PenstockError) -> None:
    """Say why nothing is sent, and close."""
    await socket.send_text(gap(error, b"")._replace(event="error").text())
    await socket.close(REFUSED, error.code)


async def _send(socket: WebSocket, subscription: Subscription, selection: Selection) -> None:
    for message in first_messages(subscription):
        await socket.send_text(message.text())
    told_at = time.monotonic()
    while True:
        arrivals = await subscription.next()
        if not arrivals and subscription.feed.is_over:
            break
        for arrival in arrivals:
            if arrival.lost is not None:
                await socket.send_text(gap(arrival.lost, b"").text())
            for token, event in arrival.chosen(selection):
                await socket.send_text(Message("row", event.data, token).text())
                told_at = time.monotonic()
        if not arrivals or time.monotonic() - told_at > BEAT_SECONDS:
            told_at = time.monotonic()
            await socket.send_text(Message("beat", b"{}", subscription.token).text())
    await socket.send_text(ending(subscription).text())
    await socket.close(NORMAL)


async def _gone(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
