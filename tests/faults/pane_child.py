"""A program as a process of its own, to be killed: `python -m tests.faults.pane_child`.

It makes the file READY when its first batch is done, and sometimes before it begins.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from penstock.log.open import open_log
from penstock.model.progress import Progress
from penstock.spark.run import PARTS
from penstock.spark.session import spark_session, stop_session
from penstock.testing.kill import CYCLE_VARIABLE
from tests.faults.pane_run import JOBS, PaneRun


def main() -> None:
    folder, ready, batches, name = (
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4],
    )
    spark = spark_session(master="local[2]", quick_start=True)
    run = PaneRun(folder, spark, PARTS, batches, *JOBS[name])
    if int(os.environ.get(CYCLE_VARIABLE, "0")) % 3 == 0:
        ready.touch()
    with open_log(run.home) as log:
        feed = run.feed(log)

        def on_progress(progress: Progress) -> None:
            ready.touch()
            feed(progress)

        run.run(on_progress)
    stop_session()


if __name__ == "__main__":
    main()
