"""Where the tuples of a task go: streams, takers, and the inboxes of their tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.errors import ModelError, did_you_mean
from penstock.inline.topology.delivery import Delivery
from penstock.inline.topology.grouping import Chooser, LoadAwareChooser
from penstock.model.topology_work import Output, TaskContext


@dataclass(frozen=True, slots=True)
class Route:
    """One taker of a stream."""

    choose: Chooser
    tasks: tuple[int, ...]


@dataclass(slots=True)
class Outlet:
    """The streams that one task emits, and the inboxes they lead to."""

    context: TaskContext
    outputs: Mapping[str, Output]
    routes: Mapping[str, Sequence[Route]]
    inboxes: Mapping[int, deque[Delivery]]
    emitted: int = 0
    targets: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        routes = [route for routes in self.routes.values() for route in routes]
        self.targets = frozenset(task for route in routes for task in route.tasks)

    def is_full(self, most: int) -> bool:
        """Whether a task that this one sends to has as much waiting as it may have."""
        return any(len(self.inboxes[task]) >= most for task in self.targets)

    def refresh(self, most: int) -> None:
        """Tell load-aware groupings how much waits where."""
        for routes in self.routes.values():
            for route in routes:
                if isinstance(route.choose, LoadAwareChooser):
                    waiting = {task: len(self.inboxes[task]) / most for task in route.tasks}
                    route.choose.refresh(waiting)

    def chosen(self, stream: str, values: Sequence[object]) -> tuple[Output, list[int]]:
        """The tasks that get a tuple of a stream; values that do not fit it are refused."""
        output = self._output(stream, values)
        if output.direct:
            raise _not_direct(stream, self.context.component, "is direct, and no task is named")
        targets = [task for route in self.routes[stream] for task in route.choose.choose(values)]
        return output, targets

    def direct(self, stream: str, values: Sequence[object], task: int) -> Output:
        """Check that a task takes a direct stream."""
        output = self._output(stream, values)
        if not output.direct:
            raise _not_direct(stream, self.context.component, "is not direct")
        if not any(task in route.tasks for route in self.routes[stream]):
            raise ModelError(
                "GROUPING_TASK",
                f'task {task} does not take stream "{stream}" of "{self.context.component}"',
                hint="Name a task of a bolt that takes it with direct_grouping.",
            )
        return output

    def deliver(
        self, output: Output, values: Sequence[object], task: int, edges: Mapping[int, int]
    ) -> None:
        """Put a copy of a tuple into the inbox of a task."""
        source = self.context
        self.inboxes[task].append(
            Delivery(values, output, source=source.component, source_task=source.task, edges=edges)
        )

    def _output(self, stream: str, values: Sequence[object]) -> Output:
        output = self.outputs.get(stream)
        if output is None:
            raise ModelError(
                "STREAM_UNDECLARED",
                f'"{self.context.component}" emits stream "{stream}", which it has not declared',
                hint=did_you_mean(stream, self.outputs) or "Declare it in declare_output_fields.",
            )
        if isinstance(values, str | bytes) or len(values) != len(output.fields):
            raise ModelError(
                "TUPLE_WIDTH",
                f'"{self.context.component}" emits {values!r} on stream "{stream}", '
                f"whose fields are {', '.join(output.fields) or 'none'}",
                hint="Emit a tuple or list with one value for each declared field.",
            )
        self.emitted += 1
        return output


def _not_direct(stream: str, component: str, why: str) -> ModelError:
    return ModelError(
        "STREAM_EMIT",
        f'stream "{stream}" of "{component}" {why}',
        hint="Use emit_direct for streams declared with direct=True, and emit for all others.",
    )
