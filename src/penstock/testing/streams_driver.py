"""A program of streams and tables run in this process, one record at a time, in virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import TopicError, UsageError, did_you_mean
from penstock.front.streams.builder import KStreamBuilder
from penstock.front.streams.serde import Serde, Serdes
from penstock.front.streams.store import Store
from penstock.kernel.port import TIME, WEIGHT
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN
from penstock.model.physical import Settings
from penstock.testing.driver import TestDriver
from penstock.testing.moment import Moment
from penstock.testing.outbox import Row

_SETTINGS = Settings(buckets=1, parallelism=1)


@dataclass(frozen=True, slots=True)
class _Held:
    """The last value of each key of what was written to a topic."""

    records: list[tuple[bytes, bytes | None]]

    def rows(self) -> Mapping[bytes, bytes]:
        last = dict(self.records)
        return {key: value for key, value in last.items() if value is not None}

    def get(self, key: bytes) -> bytes | None:
        return dict(self.records).get(key)


class StreamsDriver:
    """Pipes records into topics and reads what comes out; parts write for one another as ever."""

    def __init__(self, builder: KStreamBuilder, application: str = "test") -> None:
        self._topology = builder.topology(application)
        self._drivers = [TestDriver(part.plan, settings=_SETTINGS) for part in self._topology.parts]
        self._written: dict[str, list[tuple[bytes, bytes | None]]] = {}
        self._read: dict[str, int] = {}

    def pipe(  # all that a record has, and how it is written
        self,
        topic: str,
        key: Any,  # noqa: ANN401
        value: Any,  # noqa: ANN401
        *,
        at: Moment | None = None,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> None:
        """Give a record to a topic, and let everything happen that follows from it."""
        keys, values = key_serde or Serdes.string(), value_serde or Serdes.string()
        readers = {name for part in self._topology.parts for name in part.topics}
        if topic not in readers:
            raise TopicError(
                "TOPIC_MISSING",
                f'the program reads no topic "{topic}"',
                hint=did_you_mean(topic, readers) or f"It reads {', '.join(sorted(readers))}.",
            )
        self._push(topic, keys.serialize(key), values.serialize(value), at)

    def read(
        self, topic: str, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> list[tuple[Any, Any]]:
        """Give the records written to a topic since this was last asked."""
        keys, values = key_serde or Serdes.string(), value_serde or Serdes.string()
        written = self._written.get(topic, [])
        fresh = written[self._read.get(topic, 0) :]
        self._read[topic] = len(written)
        return [(keys.deserialize(key), values.deserialize(value)) for key, value in fresh]

    def store(self, name: str) -> Store:
        """Give a table by its name."""
        kept = self._topology.stores.get(name)
        if kept is None:
            known = list(self._topology.stores)
            raise UsageError(
                "STREAMS_STORE",
                f'the program has no store "{name}"',
                hint=did_you_mean(name, known) or f"It has {', '.join(known) or 'none'}.",
            )
        return Store(_Held(self._written.setdefault(kept.topic, [])), kept.codec)

    def late(self) -> list[Row]:
        """Give the records that came too late."""
        return [
            row for driver in self._drivers for topic in driver.topics for row in driver.late(topic)
        ]

    def dead_letters(self) -> list[Row]:
        """Give the records that failed, each with its error."""
        return [
            row
            for driver in self._drivers
            for topic in driver.topics
            for row in driver.dead_letters(topic)
        ]

    def _push(self, topic: str, key: bytes | None, value: bytes | None, at: Moment | None) -> None:
        self._written.setdefault(topic, []).append((key or b"", value))
        for part, driver in zip(self._topology.parts, self._drivers, strict=True):
            if topic in part.topics:
                row: dict[str, Any] = {KEY_COLUMN: key, VALUE_COLUMN: value}
                scans = (scan.stream for scan in driver.physical.scans)
                if any(stream.key for stream in scans if stream.topic == topic):
                    row[WEIGHT] = 1 if value is not None else -1
                driver.push(topic, row, at=at)
                self._pass_on(driver)

    def _pass_on(self, driver: TestDriver) -> None:
        for topic in driver.topics:
            for row in driver.take(topic):
                value = row[VALUE_COLUMN] if row[WEIGHT] > 0 else None
                if any(topic in part.topics for part in self._topology.parts):
                    self._push(topic, row[KEY_COLUMN], value, row[TIME])
                else:
                    self._written.setdefault(topic, []).append((row[KEY_COLUMN], value))
