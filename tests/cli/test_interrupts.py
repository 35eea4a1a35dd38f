from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.cli.interrupts import repeating

SWALLOWED = """
import os, signal, time
from penstock.cli.interrupts import repeat_swallowed_interrupts

class Cleaned:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

repeat_swallowed_interrupts()
try:
    Cleaned()
    print("swallowed", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("heard", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_that_came_while_an_object_was_cleaned_up_is_heard() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["swallowed", "heard"]
    assert done.stderr == ""


def test_other_exceptions_that_nobody_takes_are_told_as_ever() -> None:
    told: list[Any] = []
    sent: list[int] = []
    hook: Any = repeating(told.append, lambda: sent.append(signal.SIGINT))
    hook(SimpleNamespace(exc_type=ValueError))
    assert [item.exc_type for item in told] == [ValueError]
    assert sent == []
