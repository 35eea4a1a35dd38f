"""A bolt that writes to a topic, and acks what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from penstock.errors import ModelError, PenstockError
from penstock.log.delivery import BatchDelivery
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.model.topology_settings import Config
from penstock.model.topology_work import Bolt, BoltCollector, TaskContext, Tuple

if TYPE_CHECKING:
    from penstock.log.port import Log


class LogBolt(Bolt):
    """Appends a record for each tuple, and acks it when the record is stored.

    `value` and `key` are names of fields, whose values are bytes or text (a value may also be a
    mapping, in a topic with columns).
    """

    def __init__(
        self,
        topic: str,
        *,
        value: str = "value",
        key: str | None = None,
        home: Path | str | None = None,
        batch: int = 500,
    ) -> None:
        self._topic = topic
        self._value = value
        self._key = key
        self._home = home
        self._batch = batch

    @override
    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        """Open the log."""
        self._collector = collector
        self._log: Log = open_log(self._home) if self._home is None else open_log(str(self._home))
        self._producer = Producer(self._log)
        self._sent: list[tuple[Tuple, BatchDelivery]] = []

    @override
    def execute(self, received: Tuple) -> None:
        """Send a record; it is acked with its batch."""
        value = received[self._value]
        key = None if self._key is None else _bytes(received[self._key])
        sent = self._producer.send(
            self._topic, value if isinstance(value, Mapping) else _bytes(value), key=key
        )
        self._sent.append((received, sent))
        if len(self._sent) >= self._batch:
            self.idle()

    @override
    def idle(self) -> None:
        """Wait until everything sent is stored; ack what is, and fail what is not."""
        sent, self._sent = self._sent, []
        for received, delivery in sent:
            try:
                delivery.result()
            except PenstockError:
                self._collector.fail(received)
            else:
                self._collector.ack(received)

    @override
    def close(self) -> None:
        """Finish what was sent, and let go of the log."""
        try:
            self.idle()
            self._producer.close()
        finally:
            self._log.close()


def _bytes(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise ModelError(
        "TUPLE_BYTES",
        f"a value of type {type(value).__name__} is to be written to a topic as bytes",
        hint="Emit bytes or text, encoded as the topic's readers expect.",
    )
