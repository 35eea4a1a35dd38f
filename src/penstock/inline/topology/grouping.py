"""Chooses the tasks that get a tuple, by the grouping of its stream."""

from __future__ import annotations

import copy
import itertools
import random
import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

from typing_extensions import override

from penstock.errors import ModelError
from penstock.inline.topology.java_hash import JavaRandom, bytes_hash, java_hash, list_hash
from penstock.inline.topology.murmur3 import murmur3_long
from penstock.model.topology import (
    ByFields,
    Custom,
    Direct,
    Grouping,
    LocalOrShuffle,
    PartialKey,
    Shuffle,
    ToAll,
    ToAny,
    ToLowest,
)
from penstock.model.topology_work import CustomGrouping, Output, TaskContext, field_index

MOST_WEIGHT = 100
_LOSS = 10
_NEAR = 0.05
_OLDER_SEEDS = (13, 17)


class Chooser(Protocol):
    """Gives the tasks for each tuple; one for each task that emits a stream."""

    def choose(self, values: Sequence[object], /) -> Sequence[int]:
        """The tasks that get a tuple with these values."""
        ...


class ShuffleChooser:
    """Walks in a circle over tasks in random order: every round gives each task one tuple."""

    def __init__(self, tasks: Sequence[int], chance: random.Random) -> None:
        order = list(tasks)
        chance.shuffle(order)
        self._order = [(task,) for task in order]
        # A shared counter gives each number once, to any number of threads.
        self._turn = itertools.count()

    def choose(self, _values: Sequence[object]) -> Sequence[int]:
        """The next task of the circle."""
        return self._order[next(self._turn) % len(self._order)]


class LoadAwareChooser:
    """A shuffle by weights: the less a task has to do, the more it gets."""

    def __init__(self, tasks: Sequence[int], chance: random.Random) -> None:
        self._chance = chance
        self._weights = dict.fromkeys(tasks, MOST_WEIGHT)
        self._shuffle = ShuffleChooser(self._tickets(), chance)

    @property
    def shares(self) -> dict[int, float]:
        """The part of all tuples that each task gets now."""
        total = sum(self._weights.values())
        return {task: weight / total for task, weight in self._weights.items()}

    def refresh(self, loads: Mapping[int, float]) -> None:
        """Take the loads: tasks near the least loaded gain, all others lose."""
        bar = min(loads.values()) + _NEAR
        for task, weight in self._weights.items():
            gained = min(MOST_WEIGHT, weight + 1)
            self._weights[task] = gained if loads[task] <= bar else max(0, weight - _LOSS)
        self._shuffle = ShuffleChooser(self._tickets(), self._chance)

    def choose(self, values: Sequence[object]) -> Sequence[int]:
        """The next task, as often as its weight says."""
        return self._shuffle.choose(values)

    def _tickets(self) -> list[int]:
        return [task for task, weight in self._weights.items() for _ in range(weight)]


class FieldsChooser:
    """Sends equal values of the fields to one task."""

    def __init__(self, tasks: Sequence[int], places: Sequence[int]) -> None:
        self._tasks = sorted(tasks)
        self._places = tuple(places)

    def choose(self, values: Sequence[object]) -> Sequence[int]:
        """The task of the values' hash."""
        return (self._tasks[list_hash(values[i] for i in self._places) % len(self._tasks)],)


class PartialKeyChooser:
    """Sends equal values to one of two tasks, the one that this sender has used less."""

    def __init__(
        self, tasks: Sequence[int], places: Sequence[int] = (), *, older: bool = False
    ) -> None:
        self._tasks = list(tasks)
        self._places = tuple(places)
        self._older = older
        self._sent = dict.fromkeys(self._tasks, 0)

    def choose(self, values: Sequence[object]) -> Sequence[int]:
        """The candidate with fewer tuples so far."""
        first, second = self.candidates(values)
        task = second if self._sent[second] < self._sent[first] else first
        self._sent[task] += 1
        return (task,)

    def candidates(self, values: Sequence[object]) -> tuple[int, int]:
        """The two tasks that tuples with these values may go to."""
        key = self._key(values)
        count = len(self._tasks)
        if self._older:
            first, second = (abs(murmur3_long(key, seed)) % count for seed in _OLDER_SEEDS)
            return self._tasks[first], self._tasks[second]
        drawn = JavaRandom(bytes_hash(key))
        first, second = drawn.below(count), drawn.below(count)
        if first == second:
            second = (second + 1) % count
        return self._tasks[first], self._tasks[second]

    def _key(self, values: Sequence[object]) -> bytes:
        if not self._places:
            first = values[0]
            return first if isinstance(first, bytes) else str(first).encode()
        return b"".join(struct.pack(">i", java_hash(values[i])) for i in self._places)


class AllChooser:
    """Sends each tuple to every task, lowest first; to none where there is none."""

    def __init__(self, tasks: Sequence[int]) -> None:
        self._tasks = tuple(sorted(tasks))

    def choose(self, _values: Sequence[object]) -> Sequence[int]:
        """All tasks."""
        return self._tasks


class GlobalChooser(AllChooser):
    """Sends every tuple to the task with the lowest id; to none where there is none."""

    @override
    def choose(self, _values: Sequence[object]) -> Sequence[int]:
        """The lowest task."""
        return self._tasks[:1]


class AnyChooser:
    """Sends each tuple to a task drawn for it alone."""

    def __init__(self, tasks: Sequence[int], chance: random.Random) -> None:
        self._tasks = tuple(tasks)
        self._chance = chance

    def choose(self, _values: Sequence[object]) -> Sequence[int]:
        """Any task."""
        return (self._chance.choice(self._tasks),)


class CustomChooser:
    """Sends tuples where an object of the user's own says, to tasks that take the stream."""

    def __init__(
        self, grouping: CustomGrouping, tasks: Sequence[int], context: TaskContext, stream: str
    ) -> None:
        self._grouping = copy.deepcopy(grouping)
        self._tasks = frozenset(tasks)
        self._grouping.prepare(context, stream, sorted(tasks))

    def choose(self, values: Sequence[object]) -> Sequence[int]:
        """The tasks that were chosen; one that does not take the stream is refused."""
        chosen = tuple(self._grouping.choose(values))
        strange = [task for task in chosen if task not in self._tasks]
        if strange:
            raise ModelError(
                "GROUPING_TASK",
                f"{type(self._grouping).__name__} chose task {strange[0]}, "
                "which does not take the stream",
                hint="Choose from the tasks that prepare was given.",
            )
        return chosen


def chooser(
    grouping: Grouping,
    tasks: Sequence[int],
    output: Output,
    context: TaskContext,
    chance: random.Random,
) -> Chooser:
    """Make what chooses the tasks for one emitting task and one taker of its stream."""
    match grouping:
        case ByFields(fields=()) | ToLowest():
            return GlobalChooser(tasks)
        case ByFields(fields=fields):
            return FieldsChooser(tasks, [field_index(output.fields, name) for name in fields])
        case PartialKey(fields=fields, older=older):
            places = [field_index(output.fields, name) for name in fields]
            return PartialKeyChooser(sorted(tasks), places, older=older)
        case Custom(grouping=own):
            return CustomChooser(own, tasks, context, output.stream)
        case ToAll() | Direct():
            # Of a direct stream nothing goes out by itself: the emitting task names the receiver.
            return AllChooser(() if isinstance(grouping, Direct) else tasks)
        case _:
            return _by_chance(grouping, tasks, context, chance)


def _by_chance(
    grouping: Shuffle | ToAny | LocalOrShuffle,
    tasks: Sequence[int],
    context: TaskContext,
    chance: random.Random,
) -> Chooser:
    match grouping:
        case Shuffle(load_aware=True):
            return LoadAwareChooser(tasks, chance)
        case LocalOrShuffle():
            near = [task for task in tasks if task in context.worker_tasks]
            return ShuffleChooser(near or tasks, chance)
        case ToAny():
            return AnyChooser(tasks, chance)
        case Shuffle():
            return ShuffleChooser(tasks, chance)
