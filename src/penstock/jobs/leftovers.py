"""Processes that a host has started, and what is left of them when it was killed.

They end by themselves when their host is gone; the next host waits for that, so that no two work
on one checkpoint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Set

import psutil

from penstock.jobs.host_file import Leftover

_PAUSE = 0.05
_JAVA = "java"


def own_processes(workers: Set[int], spared: Set[int] = frozenset()) -> tuple[Leftover, ...]:
    """Give the workers of this process and the Java of each, with when they were made.

    Those that are `spared`, with what they have started, are to go on without this process.
    """
    found: list[Leftover] = []
    children = psutil.Process(os.getpid()).children()
    while children:
        child = children.pop()
        if child.pid in spared:
            continue
        try:
            role = "worker" if child.pid in workers else child.name()
            if role in {"worker", _JAVA}:
                found.append(Leftover(child.pid, child.create_time(), role))
            if role == "worker":
                children += child.children()
        except psutil.Error:
            # It has ended between the two looks.
            continue
    return tuple(sorted(found, key=lambda item: item.pid))


def await_gone(processes: Iterable[Leftover], seconds: float) -> None:
    """Wait until processes of a host before have ended; those that do not are killed."""
    deadline = time.monotonic() + seconds
    left = [found for item in processes if (found := _living(item)) is not None]
    while left and time.monotonic() < deadline:
        time.sleep(_PAUSE)
        left = [process for process in left if _runs(process)]
    for process in left:
        try:
            process.kill()
            process.wait(seconds)
        except psutil.Error:
            continue


def _living(item: Leftover) -> psutil.Process | None:
    try:
        process = psutil.Process(item.pid)
        same = abs(process.create_time() - item.created) < 1
    except psutil.Error:
        return None
    return process if same and _runs(process) else None


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
