"""Follows the trees of a running topology: ids, the clock, and whom to tell."""

from __future__ import annotations

import random
import threading
from collections import deque
from dataclasses import dataclass
from datetime import timedelta

from penstock.clock import Clock
from penstock.inline.topology.acker import BUCKETS, Acker, Result, Settled
from penstock.model.topology_settings import Config

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Sent:
    """A tracked tuple of a spout: the task that is to be told, and its own name for it."""

    task: int
    message_id: object


class Tracker:
    """One acker for all tasks, safe between threads; outcomes wait until their spout asks."""

    def __init__(self, config: Config, clock: Clock, chance: random.Random) -> None:
        self._acker = Acker()
        self._clock = clock
        self._chance = chance
        self._guard = threading.Lock()
        self._outcomes: dict[int, deque[tuple[Result, object]]] = {}
        # A tree leaves with the third turn after it began: after one timeout to one and a half.
        self._period = max(1, config.timeout // _MILLISECOND // (BUCKETS - 1))
        self._next_turn = clock.now() + self._period

    def edge(self) -> int:
        """A new id for a tuple: never zero, which no XOR would notice."""
        with self._guard:
            return self._chance.getrandbits(64) or 1

    def begin(self, root: int, edges: int, sent: Sent) -> None:
        """Follow the tree of a spout's tuple."""
        with self._guard:
            self._tell(self._acker.begin(root, edges, sent))

    def ack(self, root: int, edges: int) -> None:
        """Take what an acked tuple says of one of its roots."""
        with self._guard:
            self._tell(self._acker.ack(root, edges))

    def fail(self, root: int) -> None:
        """Let the tree of a root fail."""
        with self._guard:
            self._tell(self._acker.fail(root))

    def touch(self, root: int) -> None:
        """Give the tree of a root its time anew."""
        with self._guard:
            self._acker.touch(root)

    def attend(self) -> None:
        """Look at the clock: trees whose time is over fail."""
        now = self._clock.now()
        with self._guard:
            # A clock that was set back must not keep trees for as long as it was set back by.
            self._next_turn = min(self._next_turn, now + self._period)
            for _ in range(BUCKETS):
                if now < self._next_turn:
                    return
                self._next_turn += self._period
                for settled in self._acker.turn():
                    self._tell(settled)
            self._next_turn = now + self._period

    def outcomes(self, task: int) -> list[tuple[Result, object]]:
        """Take the ends of a spout task's trees that it has not heard of."""
        if task not in self._outcomes:
            return []
        with self._guard:
            return list(self._outcomes.pop(task))

    def settle(self, sent: Sent) -> None:
        """Count a tuple as done at once, where nothing is tracked."""
        with self._guard:
            self._tell(Settled(0, sent, "acked"))

    def _tell(self, settled: Settled | None) -> None:
        if settled is not None and isinstance(settled.owner, Sent):
            waiting = self._outcomes.setdefault(settled.owner.task, deque())
            waiting.append((settled.result, settled.owner.message_id))
