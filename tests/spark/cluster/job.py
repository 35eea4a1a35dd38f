"""A program that a test runs on a cluster: `python -m tests.spark.cluster.job`."""

from __future__ import annotations

import sys
from datetime import timedelta

import penstock as ps
from penstock.model.progress import Progress
from penstock.spark.cluster.probe import describe_executors
from penstock.spark.configured import configured_session
from penstock.spark.run import start

BATCH_ROWS = 2_000


def visits() -> ps.App:
    """Give windows by page, and a table by user whose state is too large for a note."""
    app = ps.App("visits")
    rows = app.stream(
        "visits",
        schema={"page": "string", "user": "bigint", "n": "bigint", "at": "timestamp"},
        event_time="at",
        lateness="5s",
    )
    counted = rows.group_by("page").window(ps.tumbling("10 seconds"))
    counted.agg(visits=ps.count(), total=ps.sum("n")).to("pages")
    rows.group_by("user").agg(visits=ps.count(), total=ps.sum("n")).to("users")
    return app


def main() -> None:
    app = visits()
    found = describe_executors(configured_session(), app.home, timedelta(seconds=60))
    sys.stdout.write(f"{found}\n")
    sys.stdout.flush()

    def tell(progress: Progress) -> None:
        sys.stdout.write(f"{progress.batch}\n")
        sys.stdout.flush()

    query = start(
        app.physical(),
        home=app.home,
        checkpoint=app.home / "jobs" / "visits",
        bounded=True,
        how=ps.JobSettings(batch_rows=BATCH_ROWS),
        on_progress=tell,
    )
    query.await_end()


if __name__ == "__main__":
    main()
