"""The one thread of a sender: writes what callers left unwritten, reads acknowledgements."""

from __future__ import annotations

import selectors
import threading
import time
from collections.abc import Callable
from typing import cast

from penstock.errors import ChannelError
from penstock.log.channel.outlet import Outlet
from penstock.log.channel.roster import Roster
from penstock.log.channel.waker import Waker

# While callers send without pause they write for themselves; the thread only looks after
# the last bytes of a burst, so it must not compete with them for the interpreter.
_BURST_PAUSE_SECONDS = 0.001


class Pump:
    """Keeps connections moving while their callers do something else, and sleeps when idle."""

    def __init__(
        self, roster: Roster, changed: threading.Condition, lose: Callable[[Outlet], None]
    ) -> None:
        self._roster = roster
        self._changed = changed
        self._lose = lose
        self._selector = selectors.DefaultSelector()
        self._registered: set[Outlet] = set()
        self._waker = Waker()
        self._attentive = False
        self._pushed = 0
        self._closed = False
        self._selector.register(self._waker, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="channel-sender", daemon=True)
        self._thread.start()

    def attend(self) -> None:
        """Have the thread look at the connections soon; the caller holds the lock."""
        if not self._attentive:
            self._attentive = True
            self._waker.ring()

    def close(self) -> None:
        """End the thread; the caller does not hold the lock."""
        self._closed = True
        self._waker.ring()
        self._thread.join()

    def abandon(self) -> None:
        """Let go of the sockets without a word, in a forked child."""
        self._closed = True
        self._selector.close()
        self._waker.close()

    def _run(self) -> None:
        pause: float | None = None
        try:
            while not self._closed:
                ready = self._selector.select(pause)
                with self._changed:
                    pause = self._round(ready)
        finally:
            with self._changed:
                self._closed = True
                for outlet in self._roster.connections:
                    self._lose(outlet)
                self._selector.close()
                self._waker.close()

    def _round(self, ready: list[tuple[selectors.SelectorKey, int]]) -> float | None:
        for key, events in ready:
            if key.fileobj is self._waker:
                self._waker.answer()
            elif events & selectors.EVENT_READ:
                self._read(cast("Outlet", key.fileobj))
        for outlet in self._roster.connections:
            self._write(outlet)
        self._watch()
        pushed = sum(outlet.sent for outlet in self._roster.connections)
        self._attentive = pushed != self._pushed
        self._pushed = pushed
        return _BURST_PAUSE_SECONDS if self._attentive else None

    def _read(self, outlet: Outlet) -> None:
        try:
            if not outlet.gone:
                outlet.read()
        except BlockingIOError:
            return
        except (OSError, ChannelError):
            self._lose(outlet)
        self._changed.notify_all()

    def _write(self, outlet: Outlet) -> None:
        if outlet.gone:
            self._lose(outlet)
            return
        try:
            if outlet.pending_bytes:
                outlet.write(time.monotonic())
        except OSError:
            self._lose(outlet)

    def _watch(self) -> None:
        connections = set(self._roster.connections)
        # First the old: a new connection may have been given the descriptor of a closed one.
        for outlet in self._registered - connections:
            self._selector.unregister(outlet)
        for outlet in connections - self._registered:
            self._selector.register(outlet, selectors.EVENT_READ)
        self._registered = connections
        for outlet in connections:
            events = selectors.EVENT_READ
            if outlet.pending_bytes:
                events |= selectors.EVENT_WRITE
            if self._selector.get_key(outlet).events != events:
                self._selector.modify(outlet, events)
