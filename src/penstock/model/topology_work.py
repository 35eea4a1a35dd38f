"""What a user writes of a topology: spouts, bolts, and what they are handed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from penstock.clock import Clock
from penstock.errors import ModelError, did_you_mean
from penstock.model.topology_settings import Config

DEFAULT_STREAM = "default"


@dataclass(frozen=True, slots=True)
class Output:
    """A stream that a component declares: its name and its fields."""

    stream: str
    fields: tuple[str, ...]
    direct: bool = False


class Tuple:
    """One row on its way: values by position and by name, and where they come from."""

    __slots__ = ("fields", "source", "source_task", "stream", "values")

    def __init__(
        self, values: Sequence[object], output: Output, *, source: str = "", source_task: int = 0
    ) -> None:
        self.values = tuple(values)
        self.fields = output.fields
        self.stream = output.stream
        self.source = source
        self.source_task = source_task

    def __getitem__(self, field: int | str) -> object:
        """Give a value by its position or its name."""
        return self.values[field if isinstance(field, int) else field_index(self.fields, field)]

    def __len__(self) -> int:
        return len(self.values)

    @override
    def __repr__(self) -> str:
        return f"Tuple({dict(zip(self.fields, self.values, strict=True))} from {self.source})"


def field_index(fields: Sequence[str], name: str) -> int:
    """Give the place of a field; one that was not declared is refused."""
    if name not in fields:
        raise ModelError(
            "TUPLE_FIELD",
            f'field "{name}" is none of {", ".join(fields) or "no fields"}',
            hint=did_you_mean(name, fields) or "Declare it in declare_output_fields of the source.",
        )
    return list(fields).index(name)


class OutputDeclarer:
    """Takes the streams that a component says it emits."""

    def __init__(self, component: str) -> None:
        self._component = component
        self._outputs: dict[str, Output] = {}

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The streams declared so far."""
        return tuple(self._outputs.values())

    def declare(self, *fields: str, stream: str = DEFAULT_STREAM, direct: bool = False) -> None:
        """Say that a stream is emitted with these fields; a direct one goes to chosen tasks."""
        if stream in self._outputs or len(set(fields)) < len(fields):
            what = f'stream "{stream}"' if stream in self._outputs else f"a field of {fields}"
            raise ModelError(
                "STREAM_TWICE",
                f'{what} of component "{self._component}" is declared twice',
                hint="Give each stream of a component, and each field of a stream, its own name.",
            )
        self._outputs[stream] = Output(stream, tuple(fields), direct)


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What a task knows of its surroundings: its id, its brothers, everyone's tasks, the time."""

    component: str
    task: int
    index: int
    tasks: Mapping[str, tuple[int, ...]]
    worker_tasks: frozenset[int]
    clock: Clock

    @property
    def brothers(self) -> tuple[int, ...]:
        """The tasks of the same component, this one included."""
        return self.tasks[self.component]


class SpoutCollector(Protocol):
    """Takes what a spout emits; gives the tasks it went to."""

    def emit(
        self, values: Sequence[object], *, message_id: object = None, stream: str = DEFAULT_STREAM
    ) -> list[int]:
        """Emit a tuple; with a message id it is tracked, and acked or failed by that id."""
        ...

    def emit_direct(
        self,
        task: int,
        values: Sequence[object],
        *,
        message_id: object = None,
        stream: str = DEFAULT_STREAM,
    ) -> None:
        """Emit a tuple of a direct stream to one task."""
        ...


class BoltCollector(Protocol):
    """Takes what a bolt emits, and what it says of the tuples it was given."""

    def emit(
        self,
        values: Sequence[object],
        *,
        anchors: Tuple | Sequence[Tuple] = (),
        stream: str = DEFAULT_STREAM,
    ) -> list[int]:
        """Emit a tuple that the trees of its anchors wait for; give the tasks it went to."""
        ...

    def emit_direct(
        self,
        task: int,
        values: Sequence[object],
        *,
        anchors: Tuple | Sequence[Tuple] = (),
        stream: str = DEFAULT_STREAM,
    ) -> None:
        """Emit a tuple of a direct stream to one task."""
        ...

    def ack(self, received: Tuple) -> None:
        """Say that a tuple is done here; its tree waits only for what was anchored to it."""
        ...

    def fail(self, received: Tuple) -> None:
        """Say that a tuple cannot be done: its trees fail at once, at their spouts."""
        ...

    def reset_timeout(self, received: Tuple) -> None:
        """Let the trees of a tuple begin their time anew."""
        ...


class Spout(ABC):
    """A source of streams; one copy a task, every method in the task's thread."""

    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        """Begin; keep the collector to emit with."""

    @abstractmethod
    def next_tuple(self) -> None:
        """Emit what there is now, if anything; never wait."""

    @abstractmethod
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        """Say which streams are emitted, with which fields."""

    def ack(self, message_id: object) -> None:
        """The tuple of this id, and everything that came of it, is done."""

    def fail(self, message_id: object) -> None:
        """The tuple of this id failed or took too long; whoever can, emits it again."""

    def close(self) -> None:
        """End; a killed process never comes here."""


class Bolt(ABC):
    """Takes tuples of any number of streams and may emit others; one copy a task."""

    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        """Begin; keep the collector to emit, ack and fail with."""

    @abstractmethod
    def execute(self, received: Tuple) -> None:
        """Work on one tuple; ack it now or later."""

    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        """Say which streams are emitted, with which fields; none unless said."""

    def idle(self) -> None:
        """Nothing waits any more: what was gathered may be finished and acked."""

    def close(self) -> None:
        """End; a killed process never comes here."""


class BasicBolt(Bolt):
    """A bolt that anchors and acks by itself: `process` gives the values to emit."""

    _collector: BoltCollector

    @override
    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        """Keep the collector."""
        self._collector = collector

    @abstractmethod
    def process(self, received: Tuple) -> Sequence[Sequence[object]]:
        """Give the values of each tuple that comes of one."""

    @override
    def execute(self, received: Tuple) -> None:
        """Emit what `process` gives, anchored, then ack."""
        for values in self.process(received):
            self._collector.emit(values, anchors=received)
        self._collector.ack(received)


class CustomGrouping(Protocol):
    """A grouping of the user's own; one copy for each task that emits."""

    def prepare(self, context: TaskContext, stream: str, tasks: Sequence[int], /) -> None:
        """Learn which tasks there are to choose from, lowest first."""
        ...

    def choose(self, values: Sequence[object], /) -> Sequence[int]:
        """Give the tasks that are to have a tuple."""
        ...
