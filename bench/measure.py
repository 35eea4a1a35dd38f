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
    cpu = _cpu_of_tree()
    wall = seconds(work)
    return Cost(wall, _cpu_of_tree() - cpu)


def percentile(values: list[float], share: float) -> float:
    """The value that a share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _run(run: Run) -> float:
    gc.collect()
    return run()


def _cpu_of_tree() -> float:
    root = psutil.Process()
    total = 0.0
    for process in (root, *root.children(recursive=True)):
        # Children that have ended are in the times of who waited for them.
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total
