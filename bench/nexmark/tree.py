"""What a process and all below it take: processors, with those that have ended, and memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple, Self

_KIB_PER_MIB = 1024
_TICKS = os.sysconf("SC_CLK_TCK")
_PROCESSES = Path("/proc")
_EVERY = 0.5
_MEMORY_EVERY = 2
"""To add up the pages of a large process takes milliseconds, from the cores that are measured."""


class Times(NamedTuple):
    """The seconds of processors that one process has had."""

    parent: int
    own: float
    waited: float
    """Of those below that have ended, and were waited for."""


def times_of(root: int) -> dict[int, Times]:
    """Look at what each process of a tree has had so far.

    Of the tree are a process, all below it, and those of its session that a parent has left behind.
    """
    found: dict[int, Times] = {}
    below: dict[int, list[tuple[int, Times]]] = {}
    for pid, session, times in _all_processes():
        if session == root:
            found[pid] = times
        else:
            below.setdefault(times.parent, []).append((pid, times))
    members = list(found)
    for member in members:
        for pid, times in below.pop(member, ()):
            found[pid] = times
            members.append(pid)
    return found


def memory_of(processes: Iterable[int]) -> float:
    """Give the MiB that processes hold now; what they share counts once."""
    held = 0
    for pid in processes:
        with suppress(OSError):
            for line in (_PROCESSES / str(pid) / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    held += int(line.split()[1])
    return held / _KIB_PER_MIB


def _all_processes() -> Iterator[tuple[int, int, Times]]:
    """Give every process with its session; one read each, since the machine has many."""
    for folder in _PROCESSES.iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The name comes first, in brackets, and may hold anything.
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                user, system, waited_user, waited_system = (int(fields[n]) for n in range(11, 15))
                times = Times(
                    int(fields[1]),
                    (user + system) / _TICKS,
                    (waited_user + waited_system) / _TICKS,
                )
                yield int(folder.name), int(fields[3]), times


def taken(before: dict[int, Times], after: dict[int, Times], seen: dict[int, Times]) -> float:
    """Give what was taken between two looks, with those in between that have ended.

    Who waits for a child has its time from then on, so the sum over all that live loses nothing.
    Of a child that nobody waited for, what was seen of it last is added.
    """
    spent = sum(t.own + t.waited for t in after.values())
    spent -= sum(t.own + t.waited for t in before.values())
    lost: dict[int, float] = {}
    for pid, times in seen.items():
        if pid not in after:
            lost[times.parent] = lost.get(times.parent, 0.0) + times.own + times.waited
    for parent, owed in lost.items():
        if parent in after:
            first = before.get(parent)
            paid = after[parent].waited - (first.waited if first else 0.0)
            spent += max(0.0, owed - paid)
    return max(0.0, spent)


@dataclass(slots=True)
class Watch:
    """Looks at a tree while something runs in it; afterwards `cpu` and `memory` are known."""

    root: int
    cpu: float = 0.0
    memory: float = 0.0
    _seen: dict[int, Times] = field(default_factory=dict)
    _before: dict[int, Times] = field(default_factory=dict)
    _over: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def __enter__(self) -> Self:
        self._before = times_of(self.root)
        self._seen.update(self._before)
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._thread is not None
        after = times_of(self.root)
        self._over.set()
        self._thread.join()
        self.memory = max(self.memory, memory_of(after))
        self.cpu = taken(self._before, after, self._seen)

    def _look(self) -> None:
        looks = 0
        while not self._over.wait(_EVERY):
            self._seen.update(times_of(self.root))
            looks += 1
            if looks % _MEMORY_EVERY == 0:
                self.memory = max(self.memory, memory_of(self._seen))
