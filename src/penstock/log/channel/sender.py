"""Pushes records to whoever listens to a channel at that moment; nothing is stored."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import ChannelError, UsageError, did_you_mean
from penstock.log.channel.address import channel_directory
from penstock.log.channel.fork import abandon_in_child
from penstock.log.channel.frame import encode_record
from penstock.log.channel.outlet import Outlet
from penstock.log.channel.pump import Pump
from penstock.log.channel.roster import Roster
from penstock.log.channel.waker import no_sockets
from penstock.log.record import Headers, Value
from penstock.log.sender import Sender

Policy: TypeAlias = Literal["block", "drop", "spill"]

_COALESCE_BYTES = 64 * 1024
_CLOSE_SECONDS = 5.0


class Spill(NamedTuple):
    """Where records go that a full receiver cannot take: a topic, written by any sender."""

    sender: Sender
    topic: str


class SenderStats(NamedTuple):
    """What became of the records sent so far.

    `sent` and `spilled` count records, the others copies, one for each receiver online.
    `delivered` copies have been confirmed by their receiver, `in_flight` ones not yet.
    `lost` copies had no receiver, or one that went away before it confirmed them.
    """

    sent: int
    delivered: int
    in_flight: int
    dropped: int
    spilled: int
    lost: int
    receivers: int


@dataclass(slots=True)
class _Counts:
    sent: int = 0
    delivered: int = 0
    dropped: int = 0
    spilled: int = 0
    lost: int = 0


class ChannelSender:
    """Pushes each record to all receivers of one channel that are online when it is sent.

    With nobody online the record is lost, and counted. A receiver with no room left makes
    the sender wait (`block`), lose that copy (`drop`) or put the record into a topic for
    later (`spill`). A record sent within `linger` of the last write shares a write with the
    ones after it, or is written a moment later. Several threads may use one sender.
    """

    def __init__(
        self,
        home: Path,
        name: str,
        *,
        policy: Policy = "block",
        spill_to: Spill | None = None,
        linger: timedelta = timedelta(microseconds=200),
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        directory = channel_directory(home, name)
        check_policy(policy, spills=spill_to is not None)
        self.name = name
        self._policy = policy
        self._spill_to = spill_to
        self._linger = linger.total_seconds()
        self._clock = clock
        self._counts = _Counts()
        self._closed = False
        self._changed = threading.Condition(threading.Lock())
        self._roster = Roster(directory)
        self._outlets: tuple[Outlet, ...] = ()
        try:
            self._pump = Pump(self._roster, self._changed, self._lose)
        except OSError as failure:
            raise no_sockets(name, failure) from failure
        abandon_in_child(self, ChannelSender._abandon)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def send(
        self,
        value: Value,
        *,
        key: bytes | None = None,
        timestamp: int | None = None,
        headers: Headers = (),
    ) -> int:
        """Push a record; give the number of receivers it went to (0: lost, dropped or spilled)."""
        sent_at = self._clock.now() if timestamp is None else timestamp
        frame = encode_record(sent_at, key, value, headers)
        with self._changed:
            reached, refused = self._push(frame)
        if refused and self._spill_to is not None:
            # Outside the lock: the log may take its time, and the pump must go on meanwhile.
            spill, topic = self._spill_to
            spill.send(topic, value, key=key, timestamp=sent_at, headers=headers)
            with self._changed:
                self._counts.spilled += 1
        return reached

    def _push(self, frame: bytes) -> tuple[int, int]:
        self._require_open()
        outlets, counts = self._online(), self._counts
        counts.sent += 1
        if not outlets:
            counts.lost += 1
            return 0, 0
        reached = refused = 0
        for outlet in outlets:
            if outlet.has_room or (self._policy == "block" and self._wait_for_room(outlet)):
                self._hand_over(outlet, frame)
                reached += 1
            elif outlet.gone:
                self._lose(outlet)
                counts.lost += 1
            else:
                self._skip(outlet)
                refused += 1
        return reached, refused

    def _hand_over(self, outlet: Outlet, frame: bytes) -> None:
        outlet.push(frame)
        now = time.monotonic()
        if now - outlet.written_at >= self._linger or outlet.pending_bytes >= _COALESCE_BYTES:
            self._write(outlet, now)
        if outlet.pending_bytes:
            self._pump.attend()

    def _online(self) -> tuple[Outlet, ...]:
        outlets = self._roster.online()
        if outlets is not self._outlets:
            self._outlets = outlets
            self._pump.attend()
        return outlets

    def _skip(self, outlet: Outlet) -> None:
        if self._policy == "spill":
            outlet.skip(spilled=1)
        else:
            outlet.skip(dropped=1)
            self._counts.dropped += 1

    def _wait_for_room(self, outlet: Outlet) -> bool:
        self._write(outlet, time.monotonic())
        self._pump.attend()
        while not outlet.gone and not outlet.has_room:
            self._changed.wait()
            self._require_open()
        return not outlet.gone

    def _write(self, outlet: Outlet, now: float) -> None:
        try:
            with suppress(OSError):
                outlet.write(now)
        finally:
            if outlet.gone:
                self._lose(outlet)

    def _lose(self, outlet: Outlet) -> None:
        if self._roster.forget(outlet):
            self._counts.delivered += outlet.ack.arrived
            self._counts.lost += outlet.sent - outlet.ack.arrived
            self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> None:
        """Return when every record sent has arrived in its receivers' memory or is counted lost.

        It does not wait until a consumer polls it. What was spilled is flushed, too.
        """
        with self._changed:
            self._require_open()
            arrived = self._drain(timeout)
        if not arrived:
            raise ChannelError(
                "CHANNEL_FLUSH_TIMEOUT",
                f'a receiver of channel "{self.name}" did not confirm in {timeout} seconds',
                hint="Its process may be stopped; records still in flight show in stats.",
            )
        if self._spill_to is not None:
            self._spill_to.sender.flush()

    def _drain(self, timeout: float | None) -> bool:
        goals = [(outlet, outlet.sent) for outlet in self._roster.connections]
        for outlet, _ in goals:
            outlet.ask()
            self._write(outlet, time.monotonic())
        self._pump.attend()
        return self._changed.wait_for(
            lambda: all(outlet.gone or outlet.ack.arrived >= goal for outlet, goal in goals),
            timeout,
        )

    @property
    def stats(self) -> SenderStats:
        """What has become of the records so far; `flush` brings `delivered` up to date."""
        with self._changed:
            receivers = 0 if self._closed else len(self._online())
            counts, connections = self._counts, self._roster.connections
            confirmed = sum(outlet.ack.arrived for outlet in connections)
            pushed = sum(outlet.sent for outlet in connections)
            return SenderStats(
                sent=counts.sent,
                delivered=counts.delivered + confirmed,
                in_flight=pushed - confirmed,
                dropped=counts.dropped,
                spilled=counts.spilled,
                lost=counts.lost,
                receivers=receivers,
            )

    @property
    def faults(self) -> tuple[ChannelError, ...]:
        """Why receivers whose address is there could not be reached; the latest few."""
        with self._changed:
            return tuple(self._roster.faults)

    def close(self) -> None:
        """Give what is in flight a few seconds to arrive, then hang up; harmless twice.

        What was spilled is flushed; the sender it was spilled to stays open.
        """
        with self._changed:
            if self._closed:
                return
            self._drain(_CLOSE_SECONDS)
            self._closed = True
            self._changed.notify_all()
        self._pump.close()
        self._roster.close()
        if self._spill_to is not None:
            self._spill_to.sender.flush()

    def _abandon(self) -> None:
        # Another thread may have held the old lock when the process forked.
        self._changed = threading.Condition(threading.Lock())
        self._closed = True
        self._pump.abandon()
        self._roster.close()

    def _require_open(self) -> None:
        if self._closed:
            raise ChannelError(
                "CHANNEL_CLOSED",
                f'the sender of channel "{self.name}" is closed',
                hint="Open a new sender; a forked child needs one of its own, too.",
            )


def check_policy(policy: str, *, spills: bool) -> None:
    """Refuse a policy that does not exist, or that contradicts what it was given to work with."""
    known = get_args(Policy)
    if policy not in known:
        raise UsageError(
            "CHANNEL_POLICY",
            f'channel policy "{policy}" does not exist',
            hint=did_you_mean(policy, known) or f"Choose one of: {', '.join(known)}.",
        )
    if spills != (policy == "spill"):
        raise UsageError(
            "CHANNEL_POLICY",
            f'channel policy "{policy}" {"has no" if policy == "spill" else "takes no"} spill_to',
            hint='Give policy="spill" together with spill_to, or neither.',
        )
