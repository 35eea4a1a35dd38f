"""Programs as a process of their own, to be killed: `python -m tests.faults.pane_child`.

It makes the file READY when a first batch is done, and sometimes before it begins.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from penstock.log.open import open_log
from penstock.model.progress import Progress
from penstock.spark.run import PARTS
from penstock.spark.session import spark_session, stop_session
from penstock.testing.kill import CYCLE_VARIABLE
from tests.faults.pane_run import JOBS, PaneRun


def main() -> None:
    folder, ready, batches = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    spark = spark_session(master="local[2]", quick_start=True)
    runs = [PaneRun(folder / name, spark, PARTS, batches, *JOBS[name]) for name in sys.argv[4:]]
    if int(os.environ.get(CYCLE_VARIABLE, "0")) % 3 == 0:
        ready.touch()
    with ThreadPoolExecutor(len(runs)) as threads:
        list(threads.map(partial(run_whole, ready), runs))
    stop_session()


def run_whole(ready: Path, run: PaneRun) -> None:
    with open_log(run.home) as log:
        feed = run.feed(log)

        def on_progress(progress: Progress) -> None:
            ready.touch()
            feed(progress)

        run.run(on_progress)


if __name__ == "__main__":
    main()
