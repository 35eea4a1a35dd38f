"""A topology as a value: components, their streams, and how each stream is grouped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.topology_work import Bolt, CustomGrouping, Output, Spout


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Each task gets as many tuples; load-aware, those with less to do get more."""

    load_aware: bool = False


@dataclass(frozen=True, slots=True)
class ByFields:
    """Tuples with the same values of some fields go to the same task."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartialKey:
    """Tuples with the same values go to one of two tasks, whichever got less from this sender.

    Without fields it goes by the first value. `older` is the hash of older Storm, under which
    the two may be one.
    """

    fields: tuple[str, ...] = ()
    older: bool = False


@dataclass(frozen=True, slots=True)
class ToAll:
    """Each tuple goes to every task."""


@dataclass(frozen=True, slots=True)
class ToLowest:
    """Every tuple goes to the task with the lowest id."""


@dataclass(frozen=True, slots=True)
class ToAny:
    """It does not matter which task gets a tuple."""


@dataclass(frozen=True, slots=True)
class Direct:
    """The emitting task names the task that gets a tuple."""


@dataclass(frozen=True, slots=True)
class LocalOrShuffle:
    """A shuffle over the tasks of the same worker where there are any, else over all."""


@dataclass(frozen=True, slots=True)
class Custom:
    """A rule of the user's own."""

    grouping: CustomGrouping


Grouping: TypeAlias = (
    Shuffle | ByFields | PartialKey | ToAll | ToLowest | ToAny | Direct | LocalOrShuffle | Custom
)


@dataclass(frozen=True, slots=True)
class Input:
    """A stream that a bolt takes, and how it is spread over the bolt's tasks."""

    source: str
    stream: str
    grouping: Grouping


@dataclass(frozen=True, slots=True)
class Component:
    """A spout or a bolt by its name, with its copies; executors share the tasks evenly."""

    name: str
    work: Spout | Bolt
    executors: int
    tasks: int
    outputs: tuple[Output, ...]
    inputs: tuple[Input, ...] = ()

    def output(self, stream: str) -> Output | None:
        """The declared stream of a name, if there is one."""
        return next((output for output in self.outputs if output.stream == stream), None)


@dataclass(frozen=True, slots=True)
class Topology:
    """Spouts and bolts with the streams between them, checked."""

    components: tuple[Component, ...]

    def component(self, name: str) -> Component:
        """The component of a name that is there."""
        return next(component for component in self.components if component.name == name)

    def task_ids(self) -> dict[str, tuple[int, ...]]:
        """The ids of each component's tasks, counted from 1 through the topology."""
        ids: dict[str, tuple[int, ...]] = {}
        first = 1
        for component in self.components:
            ids[component.name] = tuple(range(first, first + component.tasks))
            first += component.tasks
        return ids

    def takers(self, name: str, stream: str) -> list[tuple[Component, Grouping]]:
        """The bolts that take a stream, each with its grouping."""
        return [
            (component, given.grouping)
            for component in self.components
            for given in component.inputs
            if (given.source, given.stream) == (name, stream)
        ]

    def in_a_circle(self) -> frozenset[str]:
        """The components that what they emit may come back to."""
        return frozenset(c.name for c in self.components if c.name in self._after(c.name))

    def _after(self, name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            source = waiting.pop()
            for component in self.components:
                fed = any(given.source == source for given in component.inputs)
                if fed and component.name not in found:
                    found.add(component.name)
                    waiting.append(component.name)
        return found
