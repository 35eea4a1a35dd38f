"""A home directory: the log in it, and what is announced beside it."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.refusals import coded_storage_errors

LOG_DIRECTORY = "log"


def home_directory(home: Path | str | None = None) -> Path:
    """The home given, else `PENSTOCK_HOME`, else `.penstock` in the working directory."""
    return Path(home if home is not None else os.environ.get("PENSTOCK_HOME", ".penstock"))


def open_home(home: Path, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddedLog:
    """Open the log of a home directory, making it where there is none."""
    with coded_storage_errors(f'opening the log in "{home}"'):
        directory = home / LOG_DIRECTORY
        directory.mkdir(parents=True, exist_ok=True)
        return EmbeddedLog(DiskStorage(directory), clock)
