"""Another process at the same storage, told by its command line what to do there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.log.storage import Storage
from tests.contract.storage.adapters import ADAPTERS

PROJECT = Path(__file__).resolve().parents[3]


@contextmanager
def acting(adapter: str, root: Path, act: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that does an act, says "ready", waits for a line, and ends."""
    command = [sys.executable, "-m", "tests.contract.storage.actor", adapter, str(root), act]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src")}
    with subprocess.Popen(
        command,
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _hold_a_lock(storage: Storage) -> None:
    lock = storage.lock("lock")
    lock.acquire()
    _tell("ready")
    sys.stdin.readline()


def _fork_and_die_with_a_lock(storage: Storage) -> None:
    lock = storage.lock("lock")
    lock.acquire()
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    _tell(str(child))
    os.kill(os.getpid(), signal.SIGKILL)


def _count_up_under_a_lock(storage: Storage) -> None:
    lock = storage.lock("lock")
    for _ in range(200):
        lock.acquire()
        storage.replace("count", b"%d" % (int(storage.read("count")) + 1))
        lock.release()
    _tell("done")


def _write_on_demand(storage: Storage) -> None:
    file = storage.open("watched", write=True)
    _tell("ready")
    for line in sys.stdin:
        if line.strip() == "write":
            file.write_at(file.size(), [b"x"])
        else:
            storage.replace("watched", b"another")
            file = storage.open("watched", write=True)
        _tell(str(time.monotonic_ns()))


def _replace_without_end(storage: Storage) -> None:
    _tell("ready")
    number = 0
    while True:
        number += 1
        storage.replace("small", b"%06d" % (number % 1_000_000) * 1000)


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


ACTS: dict[str, Callable[[Storage], None]] = {
    "hold": _hold_a_lock,
    "orphan": _fork_and_die_with_a_lock,
    "count": _count_up_under_a_lock,
    "write": _write_on_demand,
    "replace": _replace_without_end,
}

if __name__ == "__main__":
    ACTS[sys.argv[3]](ADAPTERS[sys.argv[1]].make(Path(sys.argv[2])))
