"""The warm process that `KillLoop` forks its children from: one line in, one status out."""

from __future__ import annotations

import importlib
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Sequence

from penstock.testing.kill import CYCLE_VARIABLE


def serve(function: Callable[..., object], arguments: Sequence[str]) -> None:
    """Run one child for each line of stdin, `cycle seconds`, and print its exit status."""
    for line in sys.stdin:
        cycle, seconds = line.split()
        sys.stdout.write(f"{_run(function, arguments, cycle, float(seconds))}\n")
        sys.stdout.flush()


def _run(
    function: Callable[..., object], arguments: Sequence[str], cycle: str, seconds: float
) -> int:
    # The child alone holds the writing end, so the reading end tells when it has ended.
    ended, alive = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ended)
        os.environ[CYCLE_VARIABLE] = cycle
        _call(function, arguments)
    os.close(alive)
    try:
        select.select([ended], [], [], seconds)
    finally:
        os.close(ended)
        # Until it is waited for, an ended child keeps its number: no stranger is hit.
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _call(function: Callable[..., object], arguments: Sequence[str]) -> None:
    """Call the function and end the child, whatever happens, before it gets into the loop."""
    status = 1
    try:
        # What a child prints must not be read as the server's answer.
        os.dup2(2, 1)
        function(*arguments)
        status = 0
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _main() -> None:
    module, _, name = sys.argv[1].partition(":")
    serve(getattr(importlib.import_module(module), name), sys.argv[2:])


if __name__ == "__main__":
    _main()
