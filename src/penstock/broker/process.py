"""Processes that outlive the command that started them; a later one of their number is no such."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_PAUSE = 0.05
_NEAR = 1.0
"""Seconds within which two looks at when a process was made agree."""


@dataclass(frozen=True, slots=True)
class Started:
    """A process that was started; `created` tells it from a later one of its number."""

    pid: int
    created: float


def start(command: Sequence[str], output: Path) -> Started:
    """Start a process in a session of its own, whose words go to a file."""
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(output), writing, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions, setsid=True)
    return Started(pid, psutil.Process(pid).create_time())


def alive(process: Started) -> bool:
    """Whether it runs still, stopped or not."""
    _reap(process.pid)
    try:
        found = psutil.Process(process.pid)
        same = abs(found.create_time() - process.created) < _NEAR
        return bool(same and found.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def send(process: Started, number: signal.Signals) -> None:
    """Send a signal to a process if it is still the one that was started."""
    if alive(process):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            # It has ended between the two looks.
            return


def end(processes: Iterable[Started], *, seconds: float) -> None:
    """Ask processes to end, and kill those that have not after so many seconds."""
    left = list(processes)
    for process in left:
        # One that was stopped would not hear the other signal.
        send(process, signal.SIGCONT)
        send(process, signal.SIGTERM)
    left = _await_gone(left, seconds)
    for process in left:
        send(process, signal.SIGKILL)
    _await_gone(left, seconds)


def _await_gone(processes: list[Started], seconds: float) -> list[Started]:
    """Give those that are still there after so many seconds."""
    until = time.monotonic() + seconds
    left = [process for process in processes if alive(process)]
    while left and time.monotonic() < until:
        time.sleep(_PAUSE)
        left = [process for process in left if alive(process)]
    return left


def _reap(pid: int) -> None:
    """Let go of a child that has ended; who is not our child is not ours to wait for."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
