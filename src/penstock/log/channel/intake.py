"""The one thread of a receiver: accepts senders, reads them, tells them how far they may go."""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
import time
from collections import deque
from contextlib import suppress

from penstock.errors import ChannelError
from penstock.log.channel.address import Address
from penstock.log.channel.frame import Gap
from penstock.log.channel.inbox import Inbox
from penstock.log.channel.inlet import Arrival, Inlet
from penstock.log.channel.waker import Waker

_GREETING_SECONDS = 5.0
_MOST_STRANGERS = 64
_ACCEPT_PAUSE_SECONDS = 0.25
_FAULTS_KEPT = 16


class Intake:
    """Moves records from sockets to an inbox; a faulty sender loses only its own connection."""

    def __init__(self, listener: socket.socket, topic: str, address: Address, inbox: Inbox) -> None:
        self._listener = listener
        self._topic = topic
        self.address = address
        self._inbox = inbox
        self._offsets = itertools.count()
        self._selector = selectors.DefaultSelector()
        self._waker = Waker()
        self._inlets: dict[int, Inlet] = {}
        self._strangers: dict[int, Inlet] = {}
        self._accept_again_at: float | None = None
        self._closed = False
        self._past_gaps = Gap(0, 0)
        self.received = 0
        self.refused = 0
        self.faults: deque[ChannelError] = deque(maxlen=_FAULTS_KEPT)
        self._selector.register(self._waker, selectors.EVENT_READ)
        self._selector.register(listener, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name=f"channel-{topic}", daemon=True)
        self._thread.start()

    @property
    def gap(self) -> Gap:
        """What all senders together did not push here for want of room."""
        past, now = self._past_gaps, [inlet.gap for inlet in list(self._inlets.values())]
        return Gap(
            past.dropped + sum(gap.dropped for gap in now),
            past.spilled + sum(gap.spilled for gap in now),
        )

    @property
    def senders(self) -> int:
        """How many senders are connected and known."""
        return len(self._inlets) - len(self._strangers)

    def taken(self, arrivals: list[Arrival]) -> None:
        """Give the room of taken records back to senders that run short of it."""
        if any(inlet.owes_ack for inlet in {arrival.inlet for arrival in arrivals}):
            self._waker.ring()

    def close(self) -> None:
        """Stop reading and close every connection."""
        self._closed = True
        self._waker.ring()
        self._thread.join()

    def abandon(self) -> None:
        """Let go of the sockets without a word, in a forked child."""
        self._closed = True
        for inlet in self._inlets.values():
            inlet.connection.close()
        self._inlets.clear()
        self._strangers.clear()
        self._release()

    def _run(self) -> None:
        try:
            while not self._closed:
                for key, _ in self._selector.select(self._patience()):
                    self._serve(key.fileobj)
                self._see_off_strangers()
                self._resume_accepting()
        finally:
            self._shut()

    def _serve(self, ready: object) -> None:
        if ready is self._waker:
            self._waker.answer()
            for inlet in list(self._inlets.values()):
                self._acknowledge(inlet)
        elif ready is self._listener:
            self._accept()
        elif isinstance(ready, Inlet) and ready.fileno() in self._inlets:
            self._read(ready)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError:
            # Out of descriptors: the listener stays ready, so leave it alone for a while.
            self._selector.unregister(self._listener)
            self._accept_again_at = time.monotonic() + _ACCEPT_PAUSE_SECONDS
            return
        connection.setblocking(False)  # noqa: FBT003  # the socket module's own signature
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        inlet = Inlet(connection, self._topic, self.address)
        self._inlets[inlet.fileno()] = self._strangers[inlet.fileno()] = inlet
        self._selector.register(inlet, selectors.EVENT_READ)

    def _read(self, inlet: Inlet) -> None:
        arrivals: list[Arrival] = []
        try:
            alive = inlet.receive(self._offsets, arrivals)
        except BlockingIOError:
            alive = True
        except OSError:
            alive = False
        except ChannelError as fault:
            self._refuse(fault)
            alive = False
        if arrivals:
            self.received += len(arrivals)
            self._inbox.put(arrivals)
        if inlet.greeted:
            self._strangers.pop(inlet.fileno(), None)
        if alive:
            self._acknowledge(inlet)
        else:
            self._forget(inlet)

    def _acknowledge(self, inlet: Inlet) -> None:
        if not (inlet.greeted and inlet.owes_ack):
            return
        try:
            events = selectors.EVENT_READ
            if not inlet.acknowledge():
                events |= selectors.EVENT_WRITE
            if self._selector.get_key(inlet).events != events:
                self._selector.modify(inlet, events)
        except OSError:
            self._forget(inlet)

    def _see_off_strangers(self) -> None:
        strangers = list(self._strangers.values())
        late = time.monotonic() - _GREETING_SECONDS
        for place, inlet in enumerate(strangers):
            if inlet.connected_at <= late or len(strangers) - place > _MOST_STRANGERS:
                self._refuse(
                    ChannelError(
                        "CHANNEL_SILENT",
                        f'a connection to channel "{self._topic}" did not say who it is in time',
                        hint="Another program connected to the port; the connection was closed.",
                    )
                )
                self._forget(inlet)

    def _resume_accepting(self) -> None:
        if self._accept_again_at is not None and time.monotonic() >= self._accept_again_at:
            self._accept_again_at = None
            self._selector.register(self._listener, selectors.EVENT_READ)

    def _patience(self) -> float | None:
        moments = [inlet.connected_at + _GREETING_SECONDS for inlet in self._strangers.values()]
        if self._accept_again_at is not None:
            moments.append(self._accept_again_at)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _refuse(self, fault: ChannelError) -> None:
        self.refused += 1
        self.faults.append(fault)

    def _forget(self, inlet: Inlet) -> None:
        del self._inlets[inlet.fileno()]
        self._strangers.pop(inlet.fileno(), None)
        self._past_gaps = Gap(
            self._past_gaps.dropped + inlet.gap.dropped,
            self._past_gaps.spilled + inlet.gap.spilled,
        )
        self._selector.unregister(inlet)
        inlet.connection.close()

    def _shut(self) -> None:
        for inlet in list(self._inlets.values()):
            if inlet.greeted:
                with suppress(OSError):
                    inlet.acknowledge()
            self._forget(inlet)
        self._release()
        self._inbox.close()

    def _release(self) -> None:
        self._selector.close()
        self._listener.close()
        self._waker.close()
