"""Runs a topology in this process: a tuple at a time, in one thread or in one an executor."""

from __future__ import annotations

import logging
import random
import threading
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Self

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import UsageError
from penstock.inline.topology.layout import Executor, lay_out
from penstock.inline.topology.task import BoltTask, Counts, Failure, SpoutTask, pause
from penstock.model.duration import Duration, duration_of
from penstock.model.topology import Topology
from penstock.model.topology_settings import Config

_LOGGER = logging.getLogger(__name__)
_KEPT_FAILURES = 100
_LOADS_EVERY = 1000
_MILLISECOND = timedelta(milliseconds=1)


class TopologyRun:
    """A topology at work, for the length of a with block; `run` works until told otherwise.

    Without threads it is the same run each time for a seed and a clock, and `step` moves it on
    by hand. What is under way when it ends was not acked: a spout that reads a log begins there.
    """

    def __init__(
        self,
        topology: Topology,
        config: Config | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        seed: int | None = None,
    ) -> None:
        self._config = config or Config()
        self._clock = clock
        # Random ids, not secrets: a seed lets a test see the same run again.
        layout = lay_out(topology, self._config, clock, random.Random(seed), self._report)
        self._executors = layout.executors
        self._tasks = layout.tasks
        self._tracker = layout.tracker
        self._free = topology.in_a_circle()
        self._stopping = threading.Event()
        self._started: list[SpoutTask | BoltTask] = []
        self._error: BaseException | None = None
        # Which executors had nothing to do when last seen; without threads there is one.
        self._resting = [False] * (len(self._executors) if self._config.threads else 1)
        self._next_loads = clock.now() + _LOADS_EVERY
        self.failures: deque[Failure] = deque(maxlen=_KEPT_FAILURES)

    def __enter__(self) -> Self:
        """Open all spouts and prepare all bolts, bolts first."""
        try:
            for task in sorted(self._tasks, key=lambda task: isinstance(task, SpoutTask)):
                self._started.append(task)
                task.start()
        except BaseException:
            self._started.pop()
            self._close(quietly=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close(quietly=error is not None)

    @property
    def clock(self) -> Clock:
        """The clock that timeouts go by."""
        return self._clock

    @property
    def pending(self) -> int:
        """How many tuples of spouts are under way."""
        return sum(task.pending for task in self._tasks if isinstance(task, SpoutTask))

    @property
    def waiting(self) -> int:
        """How many tuples wait in inboxes."""
        return sum(len(task.inbox) for task in self._tasks)

    @property
    def is_quiet(self) -> bool:
        """Whether everything that was emitted is done, and no spout had more when last asked."""
        return all(self._resting) and not self.waiting and not self.pending

    def counts(self, component: str) -> Counts:
        """What the tasks of a component did so far, together."""
        total = Counts()
        for task in self._tasks:
            if task.context.component == component:
                total.executed += task.counts.executed
                total.acked += task.counts.acked
                total.failed += task.counts.failed
                total.timed_out += task.counts.timed_out
        return total

    def task_counts(self, component: str) -> dict[int, Counts]:
        """What each task of a component did so far."""
        found = [task for task in self._tasks if task.context.component == component]
        return {task.context.task: task.counts for task in found}

    def step(self) -> bool:
        """Give each task a turn; say whether any had something to do."""
        self._attend()
        turns = [self._turn(task) for task in self._tasks]
        done = any(turns)
        if not self._config.threads:
            self._resting[0] = not done
        return done

    def settle(self) -> None:
        """Step until nothing more happens without the clock moving on."""
        while self.step():
            pass

    def run(self, until: Duration | Callable[[TopologyRun], bool] | None = None) -> None:
        """Work for a time, or until a condition holds or `stop` is called."""
        ended = self._ending(until)
        if self._config.threads:
            self._run_threads(ended)
            return
        fruitless = 0
        while not self._stopping.is_set() and not ended():
            fruitless = 0 if self.step() else fruitless + 1
            if fruitless:
                pause(fruitless)
        self._stopping.clear()

    def stop(self) -> None:
        """Let `run` return soon; from any thread."""
        self._stopping.set()

    def _ending(self, until: Duration | Callable[[TopologyRun], bool] | None) -> Callable[[], bool]:
        if until is None:
            return lambda: False
        if callable(until):
            condition = until
            return lambda: condition(self)
        end = self._clock.now() + duration_of(until) // _MILLISECOND
        return lambda: self._clock.now() >= end

    def _run_threads(self, ended: Callable[[], bool]) -> None:
        threads = [
            threading.Thread(
                target=self._work, args=(number, executor), name=f"topology-{executor.component}"
            )
            for number, executor in enumerate(self._executors)
        ]
        for thread in threads:
            thread.start()
        try:
            while not self._stopping.is_set() and not ended():
                self._attend()
                self._stopping.wait(0.005)
        finally:
            self._stopping.set()
            for thread in threads:
                thread.join()
            self._stopping.clear()
        if self._error is not None:
            raise self._error

    def _work(self, number: int, executor: Executor) -> None:
        fruitless = 0
        try:
            while not self._stopping.is_set():
                turns = [self._turn(task) for task in executor.tasks]
                fruitless = 0 if any(turns) else fruitless + 1
                if fruitless:
                    self._resting[number] = True
                    pause(fruitless)
                    self._resting[number] = False
        except BaseException as error:  # noqa: BLE001  raised again by `run`
            self._error = self._error or error
            self._stopping.set()

    def _turn(self, task: SpoutTask | BoltTask) -> bool:
        # In a circle everyone could wait for everyone, so nobody there is held back.
        bound = task.context.component not in self._free
        return task.step(held=bound and task.outlet.is_full(self._config.queue_size))

    def _attend(self) -> None:
        self._tracker.attend()
        now = self._clock.now()
        if now >= self._next_loads:
            self._next_loads = now + _LOADS_EVERY
            for task in self._tasks:
                task.outlet.refresh(self._config.queue_size)

    def _report(self, failure: Failure) -> None:
        self.failures.append(failure)
        _LOGGER.warning(
            'bolt "%s" (task %d) failed on %s: %s',
            failure.component,
            failure.task,
            failure.tuple_text,
            failure.cause,
        )

    def _close(self, *, quietly: bool) -> None:
        """Close all that was opened, bolts first, so that spouts hear of what they ack last."""
        failed: BaseException | None = None
        while self._started:
            # Opened bolts first and spouts last, so the list is emptied from its front.
            task = self._started.pop(0)
            try:
                task.close()
            except Exception as error:  # noqa: BLE001  the others are closed, too
                failed = failed or error
        if failed is not None and not quietly:
            raise failed


def quiet(run: TopologyRun) -> bool:
    """A condition to run until: everything emitted is done, and no spout has more for now."""
    return run.is_quiet


def run_topology(
    topology: Topology,
    config: Config | None = None,
    *,
    until: Duration | Callable[[TopologyRun], bool] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    seed: int | None = None,
) -> TopologyRun:
    """Run a topology until a time is over or a condition holds; give the run, for its counts."""
    if until is not None and not callable(until) and duration_of(until) <= timedelta(0):
        raise UsageError(
            "TOPOLOGY_UNTIL",
            f"a topology is to run for {until!r}",
            hint='Say how long, as in until="10s", or give a condition.',
        )
    with TopologyRun(topology, config, clock=clock, seed=seed) as run:
        run.run(until)
    return run
