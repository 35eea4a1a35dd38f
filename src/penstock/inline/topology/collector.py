"""What spouts and bolts emit, ack and fail with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from penstock.errors import ModelError
from penstock.inline.topology.delivery import Delivery
from penstock.inline.topology.outlet import Outlet
from penstock.inline.topology.tracker import Sent, Tracker
from penstock.model.topology_work import DEFAULT_STREAM, Output, Tuple


class _Counted(Protocol):
    acked: int
    failed: int


class SpoutOutlet:
    """Emits a spout's tuples; one with a message id is the root of a tree."""

    def __init__(
        self, outlet: Outlet, tracker: Tracker, sent: Callable[[], None], *, tracking: bool = True
    ) -> None:
        self._outlet = outlet
        self._tracker = tracker
        self._sent = sent
        self._tracking = tracking

    def emit(
        self, values: Sequence[object], *, message_id: object = None, stream: str = DEFAULT_STREAM
    ) -> list[int]:
        """Emit a tuple; with a message id it is tracked, and acked or failed by that id."""
        output, tasks = self._outlet.chosen(stream, values)
        self._emit(output, values, tasks, message_id)
        return tasks

    def emit_direct(
        self,
        task: int,
        values: Sequence[object],
        *,
        message_id: object = None,
        stream: str = DEFAULT_STREAM,
    ) -> None:
        """Emit a tuple of a direct stream to one task."""
        self._emit(self._outlet.direct(stream, values, task), values, [task], message_id)

    def _emit(
        self, output: Output, values: Sequence[object], tasks: Sequence[int], message_id: object
    ) -> None:
        edges: list[Mapping[int, int]] = [{} for _ in tasks]
        if message_id is not None:
            self._sent()
            sent = Sent(self._outlet.context.task, message_id)
            if self._tracking:
                edges = self._rooted(len(tasks), sent)
            else:
                self._tracker.settle(sent)
        for task, marked in zip(tasks, edges, strict=True):
            self._outlet.deliver(output, values, task, marked)

    def _rooted(self, copies: int, sent: Sent) -> list[Mapping[int, int]]:
        root = self._tracker.edge()
        ids = [self._tracker.edge() for _ in range(copies)]
        total = 0
        for edge in ids:
            total ^= edge
        self._tracker.begin(root, total, sent)
        return [{root: edge} for edge in ids]


class BoltOutlet:
    """Emits a bolt's tuples into the trees of their anchors, and settles those it was given."""

    def __init__(self, outlet: Outlet, tracker: Tracker, counts: _Counted) -> None:
        self._outlet = outlet
        self._tracker = tracker
        self._counts = counts

    def emit(
        self,
        values: Sequence[object],
        *,
        anchors: Tuple | Sequence[Tuple] = (),
        stream: str = DEFAULT_STREAM,
    ) -> list[int]:
        """Emit a tuple that the trees of its anchors wait for; give the tasks it went to."""
        given = _deliveries(anchors)
        output, tasks = self._outlet.chosen(stream, values)
        for task in tasks:
            self._outlet.deliver(output, values, task, self._anchored(given))
        return tasks

    def emit_direct(
        self,
        task: int,
        values: Sequence[object],
        *,
        anchors: Tuple | Sequence[Tuple] = (),
        stream: str = DEFAULT_STREAM,
    ) -> None:
        """Emit a tuple of a direct stream to one task."""
        given = _deliveries(anchors)
        output = self._outlet.direct(stream, values, task)
        self._outlet.deliver(output, values, task, self._anchored(given))

    def ack(self, received: Tuple) -> None:
        """Say that a tuple is done here; its tree waits only for what was anchored to it."""
        delivery = _open(received, "acked")
        delivery.settled = True
        self._counts.acked += 1
        for root, edge in delivery.edges.items():
            self._tracker.ack(root, edge ^ delivery.spawned)

    def fail(self, received: Tuple) -> None:
        """Say that a tuple cannot be done: its trees fail at once, at their spouts."""
        delivery = _open(received, "failed")
        delivery.settled = True
        self._counts.failed += 1
        for root in delivery.edges:
            self._tracker.fail(root)

    def reset_timeout(self, received: Tuple) -> None:
        """Let the trees of a tuple begin their time anew."""
        for root in _open(received, "given more time").edges:
            self._tracker.touch(root)

    def _anchored(self, anchors: Sequence[Delivery]) -> Mapping[int, int]:
        edges: dict[int, int] = {}
        for anchor in anchors:
            if anchor.edges:
                edge = self._tracker.edge()
                anchor.spawned ^= edge
                for root in anchor.edges:
                    # Two anchors of one tree: both will tell it of their edge, so it has both.
                    edges[root] = edges.get(root, 0) ^ edge
        return edges


def _deliveries(anchors: Tuple | Sequence[Tuple]) -> list[Delivery]:
    given = [anchors] if isinstance(anchors, Tuple) else anchors
    # A tuple given twice is one anchor: its edges would cancel out.
    return [_open(anchor, "an anchor") for anchor in dict.fromkeys(given)]


def _open(received: Tuple, what: str) -> Delivery:
    if not isinstance(received, Delivery):
        raise ModelError(
            "TUPLE_FOREIGN",
            f"{received!r} is to be {what}, and was not received by a task",
            hint="Ack, fail and anchor to the tuples that execute is given.",
        )
    if received.settled:
        raise ModelError(
            "TUPLE_SETTLED",
            f"{received!r} is to be {what} after it was acked or failed",
            hint="Emit what is anchored to a tuple first, then ack or fail it once.",
        )
    return received
