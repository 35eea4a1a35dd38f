"""The exclamation topology (samples V15 to V17), and parts that tests are made of."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from typing_extensions import override

from penstock.topology import (
    Bolt,
    BoltCollector,
    Config,
    OutputDeclarer,
    Spout,
    SpoutCollector,
    TaskContext,
    Tuple,
)

WORDS = ("nathan", "mike", "jackson", "golda", "bertels")


class WordSpout(Spout):
    """One of five words each time."""

    @override
    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        self.collector = collector
        self.chance = random.Random(context.task)

    @override
    def next_tuple(self) -> None:
        self.collector.emit((self.chance.choice(WORDS),))

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("word")


class ListSpout(Spout):
    """Emits what it was given, each with its place as id, and again what fails."""

    def __init__(self, rows: Iterable[Sequence[object]], heard: list[tuple[str, object]]) -> None:
        self.rows = list(rows)
        self.heard = Kept(heard)

    @override
    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        self.collector = collector
        self.left = deque(range(context.index, len(self.rows), len(context.brothers)))

    @override
    def next_tuple(self) -> None:
        if self.left:
            number = self.left.popleft()
            self.heard.list.append(("emitted", number))
            self.collector.emit(self.rows[number], message_id=number)

    @override
    def ack(self, message_id: object) -> None:
        self.heard.list.append(("acked", message_id))

    @override
    def fail(self, message_id: object) -> None:
        assert isinstance(message_id, int)
        self.heard.list.append(("failed", message_id))
        self.left.append(message_id)

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare(*(f"f{n}" for n in range(len(self.rows[0]) if self.rows else 1)))


class Kept:
    """A list that all copies of a spout or bolt share."""

    def __init__(self, shared: list[tuple[str, object]]) -> None:
        self.list = shared

    def __deepcopy__(self, _: object) -> Kept:
        return self


class ExclamationBolt(Bolt):
    """Adds three exclamation marks."""

    @override
    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        self.collector = collector

    @override
    def execute(self, received: Tuple) -> None:
        self.collector.emit((f"{received[0]}!!!",), anchors=received)
        self.collector.ack(received)

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        declarer.declare("word")


class CallBolt(Bolt):
    """Calls a function with each tuple and the collector."""

    def __init__(
        self, call: Callable[[Tuple, BoltCollector, TaskContext], None], *streams: Sequence[str]
    ) -> None:
        self.call = call
        self.streams = streams

    @override
    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        self.collector = collector
        self.context = context

    @override
    def execute(self, received: Tuple) -> None:
        self.call(received, self.collector, self.context)

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        for stream, *fields in self.streams:
            declarer.declare(*fields, stream=stream)


class EndBolt(CallBolt):
    """Notes the first value of each tuple, and acks."""

    def __init__(self, seen: list[tuple[str, object]]) -> None:
        super().__init__(self._note)
        self.seen = Kept(seen)

    def _note(self, received: Tuple, collector: BoltCollector, _: TaskContext) -> None:
        self.seen.list.append((received.source, received[0]))
        collector.ack(received)
