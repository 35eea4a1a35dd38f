"""Killing a process again and again, at moments drawn from a seed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from penstock.errors import RunError, UsageError

CYCLE_VARIABLE = "PENSTOCK_KILL_CYCLE"
_MOMENTS = (timedelta(milliseconds=1), timedelta(milliseconds=50))
_LOOK_EVERY = 0.005


class Killed(NamedTuple):
    """One cycle that is over: the child was killed, or had ended by itself before."""

    cycle: int
    after: timedelta
    ended_by_itself: bool


class KillLoop:
    """Starts a child process, kills it with SIGKILL, and lets the caller look, many times.

    The child is a command line (a sequence) or a function named `"module:function"`, which
    gets `arguments` as strings. Functions are forked from one warm process that has
    imported the module, so that a cycle costs milliseconds; a command line is killed
    with the processes it has started. `PENSTOCK_KILL_CYCLE` tells the child its cycle.
    The moments, counted from the child's start, depend on the seed only; what the child
    has done by then is up to the machine. Those of a command line that is slow to start
    are counted from when it makes the file `ready`. For a kill at an exact call let the
    child write through a `FaultyStorage` with a `Kill` in its plan.

        with KillLoop("myapp.writer:write", arguments=[path], seed=7, kills=500) as loop:
            for killed in loop:
                check_that_nothing_is_lost(path)
    """

    def __init__(
        self,
        child: str | Sequence[str],
        *,
        seed: int,
        kills: int,
        arguments: Sequence[str] = (),
        moments: tuple[timedelta, timedelta] = _MOMENTS,
        ready: Path | None = None,
    ) -> None:
        self._seed = seed
        self._kills = kills
        self._moments = moments
        self._child: _Child = (
            _ForkedFunction(child, arguments)
            if isinstance(child, str)
            else _CommandLine([*child, *arguments], ready)
        )

    def __enter__(self) -> Self:
        self._child.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.stop()

    def __iter__(self) -> Iterator[Killed]:
        dice = random.Random(self._seed)
        earliest, latest = (moment.total_seconds() for moment in self._moments)
        for cycle in range(1, self._kills + 1):
            after = dice.uniform(earliest, latest)
            status = self._child.run(cycle, after)
            if status not in (0, -signal.SIGKILL):
                raise RunError(
                    "CHILD_FAILED",
                    f"the child ended with status {status} in cycle {cycle} of seed {self._seed}",
                    hint="What it wrote to stderr says why.",
                )
            yield Killed(cycle, timedelta(seconds=after), status == 0)


class _Child(Protocol):
    def start(self) -> None: ...

    def run(self, cycle: int, seconds: float) -> int:
        """Run one child for at most so long and give its exit status (-9: killed)."""
        ...

    def stop(self) -> None: ...


class _CommandLine:
    def __init__(self, command: Sequence[str], ready: Path | None) -> None:
        self._command = command
        self._ready = ready

    def start(self) -> None:
        return

    def run(self, cycle: int, seconds: float) -> int:
        environment = {**os.environ, CYCLE_VARIABLE: str(cycle)}
        if self._ready is not None:
            self._ready.unlink(missing_ok=True)
        # A group of its own, so that the kill takes along what the child has started.
        with subprocess.Popen(  # noqa: S603
            self._command, env=environment, start_new_session=True
        ) as process:
            try:
                self._await_ready(process)
                return process.wait(seconds)
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                status = process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    return status
                raise

    def stop(self) -> None:
        return

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        if self._ready is None:
            return
        while not self._ready.exists() and process.poll() is None:
            time.sleep(_LOOK_EVERY)


class _ForkedFunction:
    def __init__(self, function: str, arguments: Sequence[str]) -> None:
        if not all(function.partition(":")):
            raise UsageError(
                "CHILD_SPEC",
                f'the child "{function}" does not name a function',
                hint='Write "module:function", or give a command line as a list.',
            )
        self._command = [sys.executable, "-m", "penstock.testing.forkserver", function, *arguments]
        self._server: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self._server = subprocess.Popen(  # noqa: S603
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, cycle: int, seconds: float) -> int:
        server = self._server
        assert server is not None, "a KillLoop is used as `with KillLoop(...) as loop`"
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            server.stdin.write(f"{cycle} {seconds}\n")
            server.stdin.flush()
        except BrokenPipeError:
            return server.wait()
        answer = server.stdout.readline()
        return int(answer) if answer else server.wait()

    def stop(self) -> None:
        if self._server is not None:
            self._server.communicate()
            self._server = None
