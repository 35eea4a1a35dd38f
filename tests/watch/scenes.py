"""Homes with rows in them, and watches on a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.clock import ManualClock
from penstock.config import Settings, load_settings
from penstock.errors import DeliveryError
from penstock.log.open import open_log
from penstock.watch.alert import Alert
from penstock.watch.message import Message
from penstock.watch.rule import Rule
from penstock.watch.target import Target
from penstock.watch.watcher import Watch

START = 1_800_000_000_000
SECOND = 1000
MINUTE = 60 * SECOND
ERRORS = pa.schema([("pageid", pa.string()), ("count", pa.int64())])


@dataclass
class Mailbox:
    """Takes messages, or refuses them when told so."""

    sent: list[tuple[Target, Message]] = field(default_factory=list)
    refuses: str = ""
    tries: int = 0

    def __call__(self, target: Target, message: Message) -> None:
        self.tries += 1
        if self.refuses:
            raise DeliveryError(self.refuses, "the box is shut")
        self.sent.append((target, message))

    def told(self) -> list[list[tuple[str, str]]]:
        """Give the state and key of each alert of each message."""
        return [[(item.state, item.key) for item in message.alerts] for _, message in self.sent]


@dataclass
class Scene:
    """A home, its clock and who is told."""

    home: Path
    clock: ManualClock = field(default_factory=lambda: ManualClock(START))
    box: Mailbox = field(default_factory=Mailbox)

    def settings(self) -> Settings:
        return load_settings({"home": str(self.home)}, environment={}, directory=self.home)

    def topic(self, name: str, schema: pa.Schema | None = ERRORS, partitions: int = 1) -> None:
        with open_log(self.home, clock=self.clock) as log:
            log.create_topic(name, schema=schema, partitions=partitions)

    def put(self, topic: str, *rows: dict[str, Any], schema: pa.Schema = ERRORS) -> None:
        """Append rows; the first column is the key of records."""
        with open_log(self.home, clock=self.clock) as log:
            table = pa.Table.from_pylist(list(rows), schema)
            keys = [str(row[schema.names[0]]).encode() for row in rows]
            log.append(topic, 0, table.append_column("_key", pa.array(keys, pa.binary())))

    def delete(self, topic: str, key: str, schema: pa.Schema = ERRORS) -> None:
        """Append a tombstone."""
        with open_log(self.home, clock=self.clock) as log:
            table = pa.Table.from_pylist([{}], schema)
            table = table.append_column("_key", pa.array([key.encode()], pa.binary()))
            log.append(topic, 0, table.append_column("_deleted", pa.array([True])))

    @contextmanager
    def watch(self, *rules: Rule) -> Iterator[Watch]:
        with Watch(self.home, rules, self.settings(), clock=self.clock, send=self.box) as watch:
            yield watch

    def look(self, watch: Watch, after: int = 0) -> list[tuple[str, str]]:
        """Let time pass, look and deliver; give state and key of what was written down."""
        self.clock.advance(after)
        found = told(watch.look())
        watch.deliver()
        return found


def told(alerts: Sequence[Alert]) -> list[tuple[str, str]]:
    return [(alert.state, alert.key) for alert in alerts]
