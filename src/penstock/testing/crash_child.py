"""A job as a process to be killed: `python -m penstock.testing.crash_child FOLDER READY`.

It makes the file READY when its first batch is done, and every third time before it begins.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from penstock.spark.session import spark_session, stop_session
from penstock.testing.crash_run import load_run
from penstock.testing.kill import CYCLE_VARIABLE

_EARLY_EVERY = 3


def main() -> None:
    """Run the job to its end."""
    folder, ready = map(Path, sys.argv[1:])
    run = load_run(folder)
    session = spark_session(master="local[2]")
    if int(os.environ.get(CYCLE_VARIABLE, "0")) % _EARLY_EVERY == 0:
        ready.touch()
    run.run(session, on_batch=lambda _: ready.touch())
    stop_session()


if __name__ == "__main__":
    main()
