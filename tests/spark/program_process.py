"""A program as a process for a test to kill: `python -m tests.spark.program_process`."""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.model.progress import Progress
from penstock.spark.file_clock import FileClock
from penstock.spark.session import spark_session, stop_session
from tests.spark.programs import Jobs, chained, with_panes


def main() -> None:
    home, checkpoint = map(Path, sys.argv[1:])
    clock = FileClock(checkpoint.parent / "clock")

    def tell(progress: Progress) -> None:
        # A time for each batch, the same when it is run again.
        clock.set(100_000 + 3_000 * (progress.batch + 1))
        sys.stdout.write(f"{progress.batch}\n")
        sys.stdout.flush()

    jobs = Jobs(spark_session(master="local[2]"), home, checkpoint)
    jobs.run(with_panes(chained()), rows=20, clock=clock, on_progress=tell)
    stop_session()


if __name__ == "__main__":
    main()
