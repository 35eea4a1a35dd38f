"""What is told beside rows, as an event stream and as messages of a WebSocket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from penstock.errors import PenstockError
from penstock.serve.push.subscription import Subscription

_ROWS_OF_SNAPSHOT = 500
"""Rows that are told in one event of a snapshot."""


class Message(NamedTuple):
    """An event with a name; its id is where one goes on who has it."""

    event: str
    data: bytes
    token: bytes = b""

    def stream(self) -> bytes:
        """Write it for an event stream."""
        id_ = b"id: %b\n" % self.token if self.token else b""
        return b"event: %b\n%bdata: %b\n\n" % (self.event.encode(), id_, self.data)

    def text(self) -> str:
        """Write it for a WebSocket."""
        id_ = b',"id":"%b"' % self.token if self.token else b""
        told = b'{"event":"%b"%b,"data":%b}' % (self.event.encode(), id_, self.data)
        return told.decode()


def first_messages(subscription: Subscription) -> Iterator[Message]:
    """Tell a subscriber where it begins, what is lost, and the rows that there are."""
    begun, token = subscription.begun, subscription.token
    about = {**subscription.feed.source.about, "resumed": begun.resumed}
    # Only what is complete has the token: one that is cut before is to have all of it again.
    yield Message(
        "open", orjson.dumps(about), token if begun.snapshot is None and not begun.lost else b""
    )
    for error in begun.lost:
        yield gap(error, b"" if begun.snapshot else token)
    if begun.snapshot is not None:
        yield from snapshot_messages(begun.snapshot, token)


def snapshot_messages(rows: tuple[bytes, ...], token: bytes) -> Iterator[Message]:
    """Tell rows, some at a time; the last of them says so."""
    count = len(rows)
    for first in range(0, max(count, 1), _ROWS_OF_SNAPSHOT):
        part = b",".join(rows[first : first + _ROWS_OF_SNAPSHOT])
        last = first + _ROWS_OF_SNAPSHOT >= count
        word = b"true" if last else b"false"
        data = b'{"rows":[%b],"first":%b,"last":%b}' % (part, _word(first == 0), word)
        yield Message("snapshot", data, token if last else b"")


def gap(error: PenstockError, token: bytes) -> Message:
    """Tell that something is lost."""
    return Message("gap", _told(error), token)


def ending(subscription: Subscription) -> Message:
    """Tell why nothing more comes."""
    failure = subscription.feed.failure
    if failure is not None:
        return Message("error", _told(failure))
    word = "the server ends" if subscription.feed.is_stopped else "there is no more"
    return Message("end", orjson.dumps({"detail": word}))


def _told(error: PenstockError) -> bytes:
    said: dict[str, Any] = {"code": error.code, "detail": error.fact, "hint": error.hint}
    return orjson.dumps(said)


def _word(value: object) -> bytes:
    return b"true" if value else b"false"
