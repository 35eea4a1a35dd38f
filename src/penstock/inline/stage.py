"""One level of a program as a thread: takes items, steps its operators, hands the items on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from queue import Queue
from threading import Thread
from typing import TypeAlias

from penstock.inline.item import Barrier, Item, Span
from penstock.kernel.port import State
from penstock.kernel.program import Program
from penstock.model.physical import Keyed

Passing: TypeAlias = Item | Barrier
Fail: TypeAlias = Callable[[BaseException], None]


class Worker:
    """A thread that works on what arrives, in order; a failure ends it and is told."""

    def __init__(self, name: str, work: Callable[[Passing], None], fail: Fail) -> None:
        # A short queue: a slow stage holds back those before it instead of filling memory.
        self.queue: Queue[Passing | None] = Queue(maxsize=64)
        self._work = work
        self._fail = fail
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def end(self) -> None:
        """Finish what has arrived and end."""
        self.queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        failed = False
        while (passing := self.queue.get()) is not None:
            if failed:
                continue  # those before it must not wait for room
            try:
                self._work(passing)
            except BaseException as error:  # noqa: BLE001  # told to who waits for the run
                failed = True
                self._fail(error)


class LevelStage:
    """The operators of one level and what they remember."""

    def __init__(
        self,
        program: Program,
        level: tuple[Keyed, ...],
        states: Mapping[tuple[str, int], State],
        wakes: Mapping[tuple[str, int], int],
    ) -> None:
        # Each stage builds operators of its own: threads share nothing but queues.
        self._program = Program(program.physical)
        self._level = level
        mine = {keyed.id for keyed in level}
        self._states = {place: state for place, state in states.items() if place[0] in mine}
        self.wakes = {place: wake for place, wake in wakes.items() if place[0] in mine}
        self.spans: list[Span] = []
        self.name = " ".join(keyed.id for keyed in level)

    @property
    def wake_at(self) -> int | None:
        """The clock time at which something is due although no row comes."""
        return min(list(self.wakes.values()), default=None)

    def take(self, passing: Passing, *, trace: bool) -> None:
        """Work on an item, or tell a barrier what is remembered."""
        if isinstance(passing, Barrier):
            passing.states.update(self._states)
            passing.wakes.update(self.wakes)
            return
        began = time.perf_counter()
        for keyed in self._level:
            self._step(keyed, passing)
        if trace:
            self.spans.append(Span(passing.number, self.name, began, time.perf_counter()))

    def _step(self, keyed: Keyed, item: Item) -> None:
        waiting = item.waiting.pop(keyed.id, {})
        moved = item.time != item.before
        live = [bucket for id_, bucket in self._states if id_ == keyed.id and moved]
        for bucket in sorted({*waiting, *live}):
            place = (keyed.id, bucket)
            state = self._states.get(place, State(time=item.before))
            worked = self._program.work(keyed.id, state, waiting.get(bucket, []), item.time)
            item.collect(worked)
            self._remember(place, worked.state, worked.wake_at)

    def _remember(self, place: tuple[str, int], state: State | None, wake: int | None) -> None:
        self._states.pop(place, None)
        self.wakes.pop(place, None)
        if state is not None and state.rows:
            self._states[place] = state
        if wake is not None:
            self.wakes[place] = wake
