"""Streams and tables of records, as Kafka Streams says them, in any Python program.

What runs them is loaded when asked for: a program is built and checked without it, and runs
in this process, without Spark, unless `penstock.engine` says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from penstock.config import load_settings
from penstock.errors import UsageError, did_you_mean
from penstock.front.streams.builder import KStreamBuilder
from penstock.front.streams.properties import Properties, properties
from penstock.front.streams.record import KeyValue, Windowed
from penstock.front.streams.serde import Serde, Serdes
from penstock.front.streams.store import Store
from penstock.front.streams.stream import KGroupedStream, KStream, KTable
from penstock.front.streams.topology import Topology
from penstock.model.physical import Physical, Settings

if TYPE_CHECKING:
    from penstock.inline.lookup import Lookup
    from penstock.spark.query import ProgramQuery

__all__ = [
    "KGroupedStream",
    "KStream",
    "KStreamBuilder",
    "KTable",
    "KafkaStreams",
    "KeyValue",
    "Serde",
    "Serdes",
    "Store",
    "StreamsBuilder",
    "Windowed",
]

StreamsBuilder = KStreamBuilder
"""What newer versions of Kafka Streams call it."""


class KafkaStreams:
    """A program under the name of its application: `start` begins or goes on, `close` stores.

    Instances with one application id, in this process or in others, share its partitions.
    """

    def __init__(self, builder: KStreamBuilder, props: Mapping[str, object]) -> None:
        self._properties: Properties = properties(props)
        self._home: Path = self._properties.home or load_settings().home
        self._topology: Topology = builder.topology(
            self._properties.application, cut=self._properties.engine == "inline"
        )
        self._running: _Running | None = None
        self._closed = False
        self._lookups: dict[str, Lookup] = {}

    def start(self) -> None:
        """Begin to run, where the application stopped before; this returns at once."""
        if self._running is not None:
            raise UsageError(
                "STREAMS_STARTED",
                f'application "{self._properties.application}" is started twice',
                hint="Make another KafkaStreams to run it again, or beside this one.",
            )
        made = _on_spark if self._properties.engine == "spark" else _inline
        running = made(self._topology, self._properties, self._home)
        running.start()
        self._running = running

    def close(self) -> None:
        """Work on what has been read, store everything and end; a failure is raised here."""
        try:
            if self._running is not None and not self._closed:
                self._closed = True
                self._running.close()
        finally:
            for lookup in self._lookups.values():
                lookup.close()
            self._lookups.clear()

    @property
    def state(self) -> str:
        """How it is: created, rebalancing, running, closed or failed."""
        return "created" if self._running is None else self._running.condition

    @property
    def tasks(self) -> tuple[str, ...]:
        """The share of this instance: each a part of the program and a partition, as "1_0"."""
        return () if self._running is None else tuple(map(str, self._running.tasks))

    def store(self, name: str) -> Store:
        """Give a table by its name, to be asked while the application runs and afterwards."""
        kept = self._topology.stores.get(name)
        if kept is None:
            known = list(self._topology.stores)
            raise UsageError(
                "STREAMS_STORE",
                f'application "{self._properties.application}" has no store "{name}"',
                hint=did_you_mean(name, known) or f"It has {', '.join(known) or 'none'}.",
            )
        if kept.topic not in self._lookups:
            from penstock.inline.lookup import Lookup  # noqa: PLC0415

            self._lookups[kept.topic] = Lookup(self._home, kept.topic)
        return Store(self._lookups[kept.topic], kept.codec)

    def explain(self) -> str:
        """Say what is run, part by part, and why so."""
        from penstock.plan.explain import explain  # noqa: PLC0415

        parts = self._topology.parts
        return "\n\n".join(explain(part.plan, _SETTINGS, "all") for part in parts)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


_SETTINGS = Settings(buckets=1, parallelism=1)
"""A task is one partition: what it remembers is not shared out any further."""


class _Running(Protocol):
    """A program that is run somehow."""

    @property
    def condition(self) -> str:
        """How it is."""

    @property
    def tasks(self) -> tuple[object, ...]:
        """What it works on."""

    def start(self) -> None:
        """Begin."""

    def close(self) -> None:
        """End."""


def _inline(topology: Topology, given: Properties, home: Path) -> _Running:
    from penstock.inline.instance import Application, Instance  # noqa: PLC0415
    from penstock.inline.run import InlineOptions  # noqa: PLC0415

    options = InlineOptions(
        rows=given.records,
        snapshot_every=given.commit_seconds,
        guarantee="exactly-once" if given.exactly_once else "at-least-once",
    )
    parts = _physicals(topology, _SETTINGS)
    application = Application(topology.application, parts, topology.compacted, options)
    return Instance(application, home=home, folder=_folder(topology, given, home))


def _on_spark(topology: Topology, given: Properties, home: Path) -> _Running:
    parts = _physicals(topology, Settings())
    return _OnSpark(parts, topology.compacted, home, _folder(topology, given, home))


def _physicals(topology: Topology, settings: Settings) -> list[Physical]:
    from penstock.plan.planner import plan  # noqa: PLC0415

    return [plan(part.plan, settings) for part in topology.parts]


def _folder(topology: Topology, given: Properties, home: Path) -> Path:
    return (given.state or home / "jobs") / topology.application


@dataclass(slots=True)
class _OnSpark:
    """Each part as a query of Spark."""

    parts: list[Physical]
    compacted: frozenset[str]
    home: Path
    folder: Path
    queries: tuple[ProgramQuery, ...] = ()

    @property
    def condition(self) -> str:
        found = {query.status for query in self.queries}
        if "failed" in found:
            return "failed"
        return "running" if "running" in found else "closed"

    @property
    def tasks(self) -> tuple[object, ...]:
        return tuple(query.job for query in self.queries)

    def start(self) -> None:
        from penstock.inline.groundwork import lay_ground  # noqa: PLC0415
        from penstock.log.open import open_log  # noqa: PLC0415
        from penstock.spark.run import start  # noqa: PLC0415

        with open_log(self.home) as log:
            lay_ground(log, self.parts, self.compacted, self.folder)
        self.queries = tuple(
            start(part, home=self.home, checkpoint=self.folder / part.name) for part in self.parts
        )

    def close(self) -> None:
        failures = [query.error for query in self.queries if query.error is not None]
        for query in self.queries:
            query.stop()
        if failures:
            raise failures[0]
