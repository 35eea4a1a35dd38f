"""The log as a Spark worker has it: opened once a process, shared by all its tasks."""

from __future__ import annotations

import os
from functools import lru_cache

from penstock.log.open import open_log
from penstock.log.port import Log


def worker_log(home: str) -> Log:
    """Give the log kept in a directory, opening it at the first call of this process."""
    return _opened(home, os.getpid())


@lru_cache(maxsize=16)
def _opened(home: str, _process: int) -> Log:
    # Keyed by process too: a fork must not share its parent's files and threads.
    return open_log(home)
