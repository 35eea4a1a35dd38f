"""Keeps one number for each input tuple, and knows when all that came of it is done.

Every tuple on its way has a random id, an edge of the tree that grows from its root. The number
of a tree is the XOR of the ids that were emitted and of those that were acked: each comes in
twice, in whatever order, so that it is zero when nothing is open. (That it is zero by chance has
odds of one to 2**64.) A tree takes the same memory whatever its size.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

Result: TypeAlias = Literal["acked", "failed", "timed out"]
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

BUCKETS = 3


class Wheel(Generic[K, V]):
    """A map whose entries leave after some turns, unless taken out or put in anew before."""

    def __init__(self, buckets: int = BUCKETS) -> None:
        self._buckets: deque[dict[K, V]] = deque({} for _ in range(buckets))

    def __len__(self) -> int:
        return sum(len(bucket) for bucket in self._buckets)

    def put(self, key: K, value: V) -> None:
        """Set an entry, with all its turns before it."""
        self.pop(key)
        self._buckets[0][key] = value

    def get(self, key: K) -> V | None:
        """Give an entry, whose turns go on."""
        return next((bucket[key] for bucket in self._buckets if key in bucket), None)

    def pop(self, key: K) -> V | None:
        """Take an entry out."""
        bucket = next((bucket for bucket in self._buckets if key in bucket), None)
        return None if bucket is None else bucket.pop(key)

    def turn(self) -> dict[K, V]:
        """Turn once, and give what has had its turns, oldest first."""
        expired = self._buckets.pop()
        self._buckets.appendleft({})
        return expired


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of a tree: whose it was, and how it ended."""

    root: int
    owner: object
    result: Result


@dataclass(slots=True)
class _Tree:
    open_edges: int = 0
    failed: bool = False
    begun: bool = False
    owner: object = None


class Acker:
    """Follows the trees of input tuples; has no clock: each `turn` is a part of the timeout.

    Acks may come before `begin`, as they do between threads. What is said of a tree that has
    ended is forgotten with the turns.
    """

    def __init__(self, buckets: int = BUCKETS) -> None:
        self._trees: Wheel[int, _Tree] = Wheel(buckets)

    def __len__(self) -> int:
        return len(self._trees)

    def begin(self, root: int, edges: int, owner: object) -> Settled | None:
        """Follow a tree from now on; `edges` is the XOR of the ids of its first tuples."""
        tree = self._trees.get(root) or _Tree()
        tree.begun, tree.owner = True, owner
        tree.open_edges ^= edges
        self._trees.put(root, tree)
        return self._judged(root, tree)

    def ack(self, root: int, edges: int) -> Settled | None:
        """Take the XOR of an acked tuple's id and the ids anchored to it."""
        tree = self._found(root)
        tree.open_edges ^= edges
        return self._judged(root, tree)

    def fail(self, root: int) -> Settled | None:
        """Let a tree fail, whatever else is said of it."""
        tree = self._found(root)
        tree.failed = True
        return self._judged(root, tree)

    def touch(self, root: int) -> None:
        """Give a tree its time anew."""
        tree = self._trees.get(root)
        if tree is not None:
            self._trees.put(root, tree)

    def turn(self) -> list[Settled]:
        """Let a part of the timeout pass, and give the trees whose time is over."""
        expired = self._trees.turn()
        return [
            Settled(root, tree.owner, "timed out") for root, tree in expired.items() if tree.begun
        ]

    def _found(self, root: int) -> _Tree:
        tree = self._trees.get(root)
        if tree is None:
            tree = _Tree()
            self._trees.put(root, tree)
        return tree

    def _judged(self, root: int, tree: _Tree) -> Settled | None:
        if not tree.begun or (tree.open_edges and not tree.failed):
            return None
        self._trees.pop(root)
        return Settled(root, tree.owner, "failed" if tree.failed else "acked")
