"""One shared tail: read once, whoever follows."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable

from penstock.errors import PenstockError, RunError
from penstock.serve.push.arrival import Arrival, Piece, moved
from penstock.serve.push.ring import Ring
from penstock.serve.push.source import Source

BEAT_SECONDS = 15.0
_LINGER_SECONDS = 10.0
"""How long a tail goes on without subscribers: those that were cut come back."""
_log = logging.getLogger("penstock.serve")


class Feed:
    """Follows a source in a thread of its own for as long as somebody is there."""

    def __init__(self, name: str, source: Source, retire: Callable[[Feed], bool]) -> None:
        self.name = name
        self.source = source
        self.ring = Ring(source.ends())
        self.failure: PenstockError | None = None
        self.is_over = False
        self.is_stopped = False
        self._retire = retire
        self._subscribers = 0
        self._left_at = time.monotonic()
        self._beaten_at = time.monotonic()
        self._news: dict[asyncio.AbstractEventLoop, asyncio.Event] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"live-{name[:40]}", daemon=True)

    @property
    def subscribers(self) -> int:
        """How many follow it now."""
        return self._subscribers

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def enter(self) -> None:
        """Take a subscriber."""
        with self._lock:
            self._subscribers += 1

    def leave(self) -> None:
        """Let a subscriber go."""
        with self._lock:
            self._subscribers -= 1
            self._left_at = time.monotonic()

    def news(self) -> asyncio.Event:
        """Give what is set when something comes, and now and then when nothing does.

        It is taken before one looks, so that what comes in between is not missed.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            return self._news.setdefault(loop, asyncio.Event())

    def end(self, failure: PenstockError | None = None) -> None:
        """Let all subscribers go."""
        self.failure = self.failure or failure
        self.is_over = True
        self._ring_bells()

    def stop(self) -> None:
        """Let all subscribers go, since the server ends; they come back to the next one."""
        self.is_stopped = True
        self.end()

    def join(self, seconds: float) -> None:
        """Wait until its thread has ended."""
        self._thread.join(seconds)

    def is_idle(self) -> bool:
        """Whether nobody has followed it for a while."""
        with self._lock:
            return not self._subscribers and time.monotonic() - self._left_at > _LINGER_SECONDS

    def _run(self) -> None:
        try:
            for found in self.source.tail(self.ring.newest, self._is_wanted):
                if found is not None:
                    self._publish(*found)
                elif time.monotonic() - self._beaten_at > BEAT_SECONDS:
                    self._ring_bells()
            self.end()
        except PenstockError as error:
            self.end(error)
        except Exception:  # noqa: BLE001  # subscribers must be told, whatever it was
            _log.exception("following %s failed", self.name)
            self.end(
                RunError(
                    "LIVE_FAILED",
                    f'"{self.name[:100]}" cannot be followed any more',
                    hint="The log of the server says why.",
                )
            )
        finally:
            self._retire(self)

    def _is_wanted(self) -> bool:
        return not self.is_over and not (self.is_idle() and self._retire(self))

    def _publish(self, place: int, piece: Piece) -> None:
        before = self.ring.newest
        after = moved(before, place, piece.next_offset)
        identity = self.source.identity
        self.ring.add(Arrival(identity, place, before, after, piece.events, piece.lost))
        if piece.events or piece.lost:
            self._ring_bells()

    def _ring_bells(self) -> None:
        self._beaten_at = time.monotonic()
        with self._lock:
            bells, self._news = self._news, {}
        for loop, bell in bells.items():
            try:
                loop.call_soon_threadsafe(bell.set)
            except RuntimeError:
                # The loop of a server that has ended.
                continue
