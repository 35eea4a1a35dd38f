"""A pipeline as a process of its own, for a test to kill: `python -m tests.spark.pipeline`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from penstock.spark.session import spark_session, stop_session
from tests.spark.pipes import Pipes


def main() -> None:
    home, checkpoint = map(Path, sys.argv[1:])
    spark = spark_session(master="local[2]")
    pipes = Pipes(spark, home, checkpoint)
    stream = pipes.stream("views", maxRowsPerBatch=100).select("_key", "userid", "n")
    query = pipes.start(stream, topic="copy")
    shown = -1
    while query.isActive:
        report = query.lastProgress
        if report is not None and report["batchId"] > shown:
            shown = report["batchId"]
            sys.stdout.write(f"{shown}\n")
            sys.stdout.flush()
        time.sleep(0.01)
    query.awaitTermination()
    stop_session()


if __name__ == "__main__":
    main()
