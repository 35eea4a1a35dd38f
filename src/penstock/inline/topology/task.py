"""Tasks of a running topology: a spout or a bolt with its inbox, its collector and its counts."""

from __future__ import annotations

import copy
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import ModelError, PenstockError, RunError
from penstock.inline.topology.collector import BoltOutlet, SpoutOutlet
from penstock.inline.topology.delivery import Delivery
from penstock.inline.topology.outlet import Outlet
from penstock.inline.topology.tracker import Tracker
from penstock.model.topology_settings import Config
from penstock.model.topology_work import Bolt, Spout, TaskContext


@dataclass(slots=True)
class Counts:
    """What a task did so far; an acked or failed tuple of a spout is a whole tree."""

    executed: int = 0
    acked: int = 0
    failed: int = 0
    timed_out: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that a bolt raised, on which tuple, and where in the user's file."""

    component: str
    task: int
    tuple_text: str
    cause: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all tasks of a run have in common."""

    config: Config
    tracker: Tracker
    report: Callable[[Failure], None]


@dataclass(slots=True)
class SpoutTask:
    """A spout's task: tells it of the ends of its trees, then asks it for the next tuple."""

    work: Spout
    context: TaskContext
    around: Surroundings
    outlet: Outlet
    counts: Counts = field(default_factory=Counts)
    inbox: deque[Delivery] = field(default_factory=deque)
    pending: int = 0

    def start(self) -> None:
        """Open the spout."""
        collector = SpoutOutlet(
            self.outlet,
            self.around.tracker,
            self._sent,
            tracking=self.around.config.tracking,
        )
        with _named(self.context, "open"):
            self.work.open(self.around.config, self.context, collector)

    def step(self, *, held: bool) -> bool:
        """Tell of ends, and ask for a tuple unless enough are under way."""
        told = self.settle()
        most = self.around.config.max_spout_pending
        if held or (most is not None and self.pending >= most):
            return told
        before = self.outlet.emitted
        with _named(self.context, "next_tuple"):
            self.work.next_tuple()
        return told or self.outlet.emitted > before

    def settle(self) -> bool:
        """Tell the spout which of its tuples are done or failed."""
        outcomes = self.around.tracker.outcomes(self.context.task)
        for result, message_id in outcomes:
            self.pending -= 1
            if result == "acked":
                self.counts.acked += 1
                with _named(self.context, "ack"):
                    self.work.ack(message_id)
                continue
            self.counts.failed += 1
            self.counts.timed_out += result == "timed out"
            with _named(self.context, "fail"):
                self.work.fail(message_id)
        return bool(outcomes)

    def close(self) -> None:
        """Tell of the last ends and close the spout; what is under way stays undone."""
        self.settle()
        with _named(self.context, "close"):
            self.work.close()

    def _sent(self) -> None:
        self.pending += 1


@dataclass(slots=True)
class BoltTask:
    """A bolt's task: one tuple of the inbox at a time."""

    work: Bolt
    context: TaskContext
    around: Surroundings
    outlet: Outlet
    counts: Counts = field(default_factory=Counts)
    inbox: deque[Delivery] = field(default_factory=deque)
    busy: bool = False

    def start(self) -> None:
        """Prepare the bolt."""
        collector = BoltOutlet(self.outlet, self.around.tracker, self.counts)
        with _named(self.context, "prepare"):
            self.work.prepare(self.around.config, self.context, collector)

    def step(self, *, held: bool) -> bool:
        """Work on the next tuple; when the last is done, say once that nothing waits."""
        if not self.inbox:
            was_busy, self.busy = self.busy, False
            if was_busy:
                with _named(self.context, "idle"):
                    self.work.idle()
            return was_busy
        if held:
            return False
        self.busy = True
        received = self.inbox.popleft()
        self.counts.executed += 1
        try:
            self.work.execute(received)
        except ModelError:
            # The bolt contradicts what it declared: again would be the same.
            raise
        except Exception as error:  # noqa: BLE001  whatever a bolt raises fails its tuple
            self._failed(received, error)
        return True

    def close(self) -> None:
        """Close the bolt."""
        with _named(self.context, "close"):
            self.work.close()

    def _failed(self, received: Delivery, error: Exception) -> None:
        cause = cause_of(error)
        name, task = self.context.component, self.context.task
        self.around.report(Failure(name, task, repr(received), cause, error))
        if self.around.config.on_error == "stop":
            raise RunError(
                "BOLT_FAILED",
                f'bolt "{name}" (task {task}) failed on {received!r}: {cause}',
                hint='Mend the bolt, or let such tuples fail with on_error="fail".',
            ) from error
        if not received.settled:
            received.settled = True
            self.counts.failed += 1
            for root in received.edges:
                self.around.tracker.fail(root)


def copy_of(work: Spout | Bolt) -> Spout | Bolt:
    """A copy of the user's object for one task, which shares nothing with the others."""
    try:
        return copy.deepcopy(work)
    except (TypeError, copy.Error) as error:
        raise ModelError(
            "COMPONENT_COPY",
            f"{type(work).__name__} cannot be copied for its tasks: {error}",
            hint="Open files, locks and connections in open or prepare, not before.",
        ) from error


def cause_of(error: BaseException) -> str:
    """The error in one line, with the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


class _named:  # noqa: N801  read as a word after `with`
    """Gives an error of the user's code its component and method."""

    def __init__(self, context: TaskContext, method: str) -> None:
        self._context = context
        self._method = method

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, PenstockError):
            raise RunError(
                "TASK_FAILED",
                f'{self._method} of "{self._context.component}" (task {self._context.task}) '
                f"failed: {cause_of(error)}",
                hint="Mend it and run the topology again; what was not acked comes again.",
            ) from error


def pause(fruitless: int) -> None:
    """Wait a little before looking again, longer the more often there was nothing."""
    time.sleep(min(0.001 * 2 ** min(fruitless, 5), 0.02))
