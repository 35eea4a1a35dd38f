"""Sends by topic name like the log's producer, over direct channels."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import ChannelError, TopicError
from penstock.log.channel.sender import ChannelSender, Policy, SenderStats, Spill, check_policy
from penstock.log.record import Headers, Value
from penstock.log.sender import Receipt, Sender


@dataclass(frozen=True, slots=True)
class Pushed:
    """A delivery whose fate is known at once: the record was pushed, or nobody listened."""

    receipt: Receipt
    receivers: int

    def done(self) -> bool:
        """Whether the fate is known: always."""
        return True

    def result(self, timeout: float | None = None) -> Receipt:  # noqa: ARG002  # never waits
        """Give the receipt; it has no offset, since nothing is stored."""
        return self.receipt

    def __await__(self) -> Generator[object, None, Receipt]:
        """Give the receipt to a coroutine; it never waits."""
        yield from ()
        return self.receipt


class DirectProducer:
    """Pushes each record to the channel named like its topic; nothing is stored.

    It is a `Sender` like the log's producer, so a program can be given either. With the
    policy `spill`, records over a receiver's limit go to `spill_to` under the same topic.
    """

    def __init__(
        self,
        home: Path,
        *,
        policy: Policy = "block",
        spill_to: Sender | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        check_policy(policy, spills=spill_to is not None)
        self._home = home
        self._policy = policy
        self._spill_to = spill_to
        self._clock = clock
        self._channels: dict[str, ChannelSender] = {}
        self._opening = threading.Lock()
        self._closed = False

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
        topic: str,
        value: Value,
        *,
        key: bytes | None = None,
        timestamp: int | None = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> Pushed:
        """Push a record to who listens to the topic's channel now."""
        if partition not in {None, 0}:
            raise TopicError(
                "CHANNEL_PARTITION",
                f'channel "{topic}" has one partition, so there is no partition {partition}',
                hint="Leave the partition out, or give 0.",
            )
        sent_at = self._clock.now() if timestamp is None else timestamp
        receivers = self._channel(topic).send(value, key=key, timestamp=sent_at, headers=headers)
        return Pushed(Receipt(topic, 0, None, sent_at), receivers)

    def _channel(self, topic: str) -> ChannelSender:
        channel = self._channels.get(topic)
        return self._open(topic) if channel is None else channel

    def _open(self, topic: str) -> ChannelSender:
        with self._opening:
            if self._closed:
                raise ChannelError(
                    "CHANNEL_CLOSED",
                    "the direct producer is closed",
                    hint="Send before closing, or open a new producer.",
                )
            if topic not in self._channels:
                spill = None if self._spill_to is None else Spill(self._spill_to, topic)
                self._channels[topic] = ChannelSender(
                    self._home, topic, policy=self._policy, spill_to=spill
                )
            return self._channels[topic]

    @property
    def stats(self) -> dict[str, SenderStats]:
        """What has become of the records so far, by topic."""
        return {topic: channel.stats for topic, channel in self._channels.items()}

    def flush(self) -> None:
        """Return when every record has arrived in its receivers' memory or is counted lost."""
        for channel in list(self._channels.values()):
            channel.flush()

    def close(self) -> None:
        """Flush and hang up; closing twice is harmless. `spill_to` stays open."""
        with self._opening:
            self._closed = True
        for channel in self._channels.values():
            channel.close()
