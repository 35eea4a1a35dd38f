"""Builds a topology: spouts and bolts by name, and what each bolt takes."""

from __future__ import annotations

from typing import Self

from penstock.errors import ModelError, did_you_mean
from penstock.model.topology import (
    ByFields,
    Component,
    Custom,
    Direct,
    Grouping,
    Input,
    LocalOrShuffle,
    PartialKey,
    Shuffle,
    ToAll,
    ToAny,
    ToLowest,
    Topology,
)
from penstock.model.topology_work import (
    DEFAULT_STREAM,
    Bolt,
    CustomGrouping,
    Output,
    OutputDeclarer,
    Spout,
    field_index,
)


class Declared:
    """A component that was set, to be told its number of tasks."""

    def __init__(self, name: str, work: Spout | Bolt, executors: int) -> None:
        if not isinstance(executors, int) or executors < 1:
            raise _parallelism(name, executors)
        declarer = OutputDeclarer(name)
        work.declare_output_fields(declarer)
        self._name = name
        self._work = work
        self._executors = executors
        self._tasks = executors
        self._outputs = declarer.outputs
        self._inputs: list[Input] = []

    def set_num_tasks(self, tasks: int) -> Self:
        """Have a number of tasks of its own, shared evenly by the executors."""
        if not isinstance(tasks, int) or tasks < 1:
            raise _parallelism(self._name, tasks)
        self._tasks = tasks
        return self

    def component(self) -> Component:
        """What was declared, as a value."""
        return Component(
            self._name,
            self._work,
            # An executor without a task would have nothing to run.
            min(self._executors, self._tasks),
            self._tasks,
            self._outputs,
            tuple(self._inputs),
        )


class DeclaredBolt(Declared):
    """A bolt that was set, to be told what it takes; groupings may be chained."""

    def grouping(self, source: str, grouping: Grouping, *, stream: str = DEFAULT_STREAM) -> Self:
        """Take a stream of a component under any grouping."""
        self._inputs.append(Input(source, stream, grouping))
        return self

    def shuffle_grouping(
        self, source: str, *, stream: str = DEFAULT_STREAM, load_aware: bool = False
    ) -> Self:
        """Give each task as many tuples; load-aware, those with less to do more."""
        return self.grouping(source, Shuffle(load_aware), stream=stream)

    def fields_grouping(self, source: str, *fields: str, stream: str = DEFAULT_STREAM) -> Self:
        """Give tuples with the same values of some fields to the same task."""
        return self.grouping(source, ByFields(fields), stream=stream)

    def partial_key_grouping(self, source: str, *fields: str, stream: str = DEFAULT_STREAM) -> Self:
        """Give tuples with the same values to one of two tasks, the one that got less."""
        return self.grouping(source, PartialKey(fields), stream=stream)

    def all_grouping(self, source: str, *, stream: str = DEFAULT_STREAM) -> Self:
        """Give each tuple to every task."""
        return self.grouping(source, ToAll(), stream=stream)

    def global_grouping(self, source: str, *, stream: str = DEFAULT_STREAM) -> Self:
        """Give every tuple to the task with the lowest id."""
        return self.grouping(source, ToLowest(), stream=stream)

    def none_grouping(self, source: str, *, stream: str = DEFAULT_STREAM) -> Self:
        """Give each tuple to whichever task."""
        return self.grouping(source, ToAny(), stream=stream)

    def direct_grouping(self, source: str, *, stream: str = DEFAULT_STREAM) -> Self:
        """Let the emitting task name who gets a tuple."""
        return self.grouping(source, Direct(), stream=stream)

    def local_or_shuffle_grouping(self, source: str, *, stream: str = DEFAULT_STREAM) -> Self:
        """Shuffle over the tasks of the same worker where there are any, else over all."""
        return self.grouping(source, LocalOrShuffle(), stream=stream)

    def custom_grouping(
        self, source: str, grouping: CustomGrouping, *, stream: str = DEFAULT_STREAM
    ) -> Self:
        """Let an object of the user's own choose the tasks."""
        return self.grouping(source, Custom(grouping), stream=stream)


class TopologyBuilder:
    """Gathers spouts and bolts; `create_topology` checks them together."""

    def __init__(self) -> None:
        self._declared: dict[str, Declared] = {}

    def set_spout(self, name: str, spout: Spout, parallelism: int = 1) -> Declared:
        """Add a source of streams, run by a number of executors."""
        return self._add(name, Declared(name, spout, parallelism))

    def set_bolt(self, name: str, bolt: Bolt, parallelism: int = 1) -> DeclaredBolt:
        """Add a bolt, run by a number of executors; say what it takes on the result."""
        declared = DeclaredBolt(name, bolt, parallelism)
        self._add(name, declared)
        return declared

    def create_topology(self) -> Topology:
        """Give the topology; one whose parts do not fit is refused."""
        components = {name: declared.component() for name, declared in self._declared.items()}
        for component in components.values():
            if isinstance(component.work, Bolt) and not component.inputs:
                raise ModelError(
                    "BOLT_INPUT",
                    f'bolt "{component.name}" takes no stream',
                    hint=f'Say which, as in set_bolt("{component.name}", ...)'
                    '.shuffle_grouping("words").',
                )
            for given in component.inputs:
                _check(component.name, given, components)
        if not any(isinstance(component.work, Spout) for component in components.values()):
            raise ModelError(
                "TOPOLOGY_SPOUT",
                "a topology has no spout",
                hint="Add a source of tuples with set_spout.",
            )
        return Topology(tuple(components.values()))

    def _add(self, name: str, declared: Declared) -> Declared:
        if name in self._declared:
            raise ModelError(
                "COMPONENT_TWICE",
                f'component "{name}" is set twice',
                hint="Give each spout and bolt of a topology its own name.",
            )
        self._declared[name] = declared
        return declared


def _check(taker: str, given: Input, components: dict[str, Component]) -> None:
    source = components.get(given.source)
    if source is None:
        raise ModelError(
            "COMPONENT_MISSING",
            f'bolt "{taker}" takes from "{given.source}", which is not in the topology',
            hint=did_you_mean(given.source, components) or "Set it with set_spout or set_bolt.",
        )
    output = source.output(given.stream)
    if output is None:
        names = [declared.stream for declared in source.outputs]
        raise ModelError(
            "STREAM_UNDECLARED",
            f'bolt "{taker}" takes stream "{given.stream}", which "{given.source}" does not emit',
            hint=did_you_mean(given.stream, names) or "Declare it in declare_output_fields.",
        )
    _check_grouping(taker, given, output)


def _check_grouping(taker: str, given: Input, output: Output) -> None:
    if output.direct != isinstance(given.grouping, Direct):
        kind = "direct" if output.direct else "not direct"
        raise ModelError(
            "STREAM_DIRECT",
            f'bolt "{taker}" takes stream "{given.stream}" of "{given.source}", which is {kind}, '
            "by another grouping",
            hint="A stream declared with direct=True is taken with direct_grouping, and no other.",
        )
    if isinstance(given.grouping, ByFields | PartialKey):
        for field in given.grouping.fields:
            field_index(output.fields, field)


def _parallelism(name: str, number: object) -> ModelError:
    return ModelError(
        "COMPONENT_PARALLELISM",
        f'component "{name}" is to have {number!r} executors or tasks',
        hint="Give a number from 1.",
    )
