"""Taking numbers: by turns, so that a slow moment of the machine hits both sides."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import psutil

Run = Callable[[], float]


class Pairs(NamedTuple):
    """What two sides gave, run by run."""

    ours: tuple[float, ...]
    baseline: tuple[float, ...]


class Cost(NamedTuple):
    """What something took, in seconds on the clock and of all processors."""

    wall: float
    cpu: float


def alternate(ours: Run, baseline: Run, *, pairs: int) -> Pairs:
    """Run two sides by turns, after one run of each that does not count."""
    for warm_up in (ours, baseline):
        warm_up()
    taken = [(_run(ours), _run(baseline)) for _ in range(pairs)]
    return Pairs(tuple(pair[0] for pair in taken), tuple(pair[1] for pair in taken))


def repeat(run: Run, *, times: int) -> tuple[float, ...]:
    """Run one side several times, after one run that does not count."""
    run()
    return tuple(_run(run) for _ in range(times))


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def cost_of_tree(work: Callable[[], object]) -> Cost:
    """What something takes of the clock, and of all processors in this process and below."""
    before = _times_of_tree()
    wall = seconds(work)
    return Cost(wall, _taken(before, _times_of_tree()))


def percentile(values: list[float], share: float) -> float:
    """The value that a share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _run(run: Run) -> float:
    gc.collect()
    return run()


class _Times(NamedTuple):
    own: float
    children: float
    """Of those that have ended, and were waited for."""


def _times_of_tree() -> dict[int, _Times]:
    root = psutil.Process()
    found = {}
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            children = times.children_user + times.children_system
            found[process.pid] = _Times(times.user + times.system, children)
    return found


def _taken(before: dict[int, _Times], after: dict[int, _Times]) -> float:
    """Give what was taken between two looks.

    Of a process that has ended, who waited for it has all its time, that before the first look
    too; where nobody waited for it, as Spark does not for workers at rest, it is not known.
    """
    none = _Times(0.0, 0.0)
    own = sum(times.own - before.get(pid, none).own for pid, times in after.items())
    children = sum(times.children - before.get(pid, none).children for pid, times in after.items())
    ended = sum(sum(times) for pid, times in before.items() if pid not in after)
    return own + max(0.0, children - ended)
