"""Opening a log by its address: a directory today, a Kafka cluster by another address."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.refusals import coded_storage_errors

LOG_DIRECTORY = "log"


def open_log(home: Path | str | None = None, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddedLog:
    """Open the log of a home directory, making it where there is none.

    Without a home it is `PENSTOCK_HOME`, by default `.penstock` in the working directory.
    """
    chosen = Path(home if home is not None else os.environ.get("PENSTOCK_HOME", ".penstock"))
    with coded_storage_errors(f'opening the log in "{chosen}"'):
        directory = chosen / LOG_DIRECTORY
        directory.mkdir(parents=True, exist_ok=True)
        return EmbeddedLog(DiskStorage(directory), clock)
