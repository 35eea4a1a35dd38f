"""Lays a topology out: tasks, executors, workers, and the routes between the tasks."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.clock import Clock
from penstock.inline.topology.delivery import Delivery
from penstock.inline.topology.grouping import chooser
from penstock.inline.topology.outlet import Outlet, Route
from penstock.inline.topology.task import BoltTask, Failure, SpoutTask, Surroundings, copy_of
from penstock.inline.topology.tracker import Tracker
from penstock.model.topology import Component, Topology
from penstock.model.topology_settings import Config
from penstock.model.topology_work import Spout, TaskContext


@dataclass(frozen=True, slots=True)
class Executor:
    """Tasks of one component that are run by one thread; a worker is where they are near."""

    component: str
    tasks: tuple[SpoutTask | BoltTask, ...]
    worker: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that runs of a topology."""

    executors: tuple[Executor, ...]
    tracker: Tracker

    @property
    def tasks(self) -> tuple[SpoutTask | BoltTask, ...]:
        """All tasks, in the order of their ids."""
        found = [task for executor in self.executors for task in executor.tasks]
        return tuple(sorted(found, key=lambda task: task.context.task))


def lay_out(
    topology: Topology,
    config: Config,
    clock: Clock,
    chance: random.Random,
    report: Callable[[Failure], None],
) -> Layout:
    """Make the tasks of a topology; nothing of the user's is called but the copying."""
    ids = topology.task_ids()
    shares = _shares(topology)
    workers = {
        task: number % config.workers for number, (_, share) in enumerate(shares) for task in share
    }
    inboxes: dict[int, deque[Delivery]] = {task: deque() for task in workers}
    around = Surroundings(config, Tracker(config, clock, chance), report)

    def made(component: Component, task: int) -> SpoutTask | BoltTask:
        near = frozenset(other for other in workers if workers[other] == workers[task])
        index = ids[component.name].index(task)
        context = TaskContext(component.name, task, index, ids, near, clock)
        outlet = _outlet(topology, component, context, inboxes, chance)
        work = copy_of(component.work)
        if isinstance(work, Spout):
            return SpoutTask(work, context, around, outlet)
        return BoltTask(work, context, around, outlet, inbox=inboxes[task])

    executors = tuple(
        Executor(component.name, tuple(made(component, task) for task in share), workers[share[0]])
        for component, share in shares
    )
    return Layout(executors, around.tracker)


def _shares(topology: Topology) -> list[tuple[Component, tuple[int, ...]]]:
    """The tasks of each executor: neighbours, and as many each as can be."""
    ids = topology.task_ids()
    shares = []
    for component in topology.components:
        count, tasks = component.executors, ids[component.name]
        bounds = [len(tasks) * number // count for number in range(count + 1)]
        shares += [
            (component, tasks[bounds[number] : bounds[number + 1]]) for number in range(count)
        ]
    return shares


def _outlet(
    topology: Topology,
    component: Component,
    context: TaskContext,
    inboxes: Mapping[int, deque[Delivery]],
    chance: random.Random,
) -> Outlet:
    routes = {
        output.stream: [
            Route(
                chooser(grouping, context.tasks[taker.name], output, context, chance),
                context.tasks[taker.name],
            )
            for taker, grouping in topology.takers(component.name, output.stream)
        ]
        for output in component.outputs
    }
    outputs = {output.stream: output for output in component.outputs}
    return Outlet(context, outputs, routes, inboxes)
