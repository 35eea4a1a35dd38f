"""Children for the kill loop to kill."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from penstock.testing.kill import CYCLE_VARIABLE


def count_for_ever(path: str) -> None:
    """Append a line with the cycle's number until killed."""
    with Path(path).open("a", buffering=1) as file:
        while True:
            file.write(f"{os.environ[CYCLE_VARIABLE]}\n")
            time.sleep(0.0001)


def end_at_once(path: str) -> None:
    """Append one line and end."""
    sys.stdout.write("what a child prints disturbs nobody\n")
    with Path(path).open("a") as file:
        file.write(f"{os.environ[CYCLE_VARIABLE]}\n")


def fail(path: str) -> None:
    """End with an error."""
    raise ValueError(path)
