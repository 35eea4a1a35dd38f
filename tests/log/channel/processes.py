"""Receivers in processes of their own, which can be stopped and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RECEIVE = """
import sys
from pathlib import Path
from penstock.log.channel.receiver import ChannelReceiver

home, name, window, expected = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with ChannelReceiver(home, name, buffer_records=window) as receiver:
    print("ready", flush=True)
    count = 0
    for record in receiver:
        count += 1
        print(record.value.decode(), flush=True)
        if count == expected:
            break
"""


@contextmanager
def receiver_process(
    home: Path, name: str, *, window: int = 10_000, expected: int = 0
) -> Iterator[subprocess.Popen[str]]:
    """A process that prints "ready", then each value it receives; it ends after `expected`."""
    process = subprocess.Popen(
        [sys.executable, "-c", _RECEIVE, str(home), name, str(window), str(expected)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert next_line(process) == "ready"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def stop(process: subprocess.Popen[str]) -> None:
    """Stop a process and return when none of its threads runs any more."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def next_line(process: subprocess.Popen[str]) -> str:
    """Wait for the next line a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")
