"""A home with jobs, results of windows and queries, made without Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

import penstock as ps
from penstock.jobs.control import pause
from penstock.jobs.record import JobRecord, new_job
from penstock.jobs.store import job_store
from penstock.jobs.submit import Submission, known_program, submit
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.model.physical import Settings
from penstock.model.progress import (
    Account,
    Instant,
    PartitionPosition,
    PartitionWatermark,
    Progress,
    Skew,
    StateSize,
)
from penstock.plan.planner import plan
from penstock.sql.session import SqlSession

MINUTE = 60_000
VIEWS = pa.schema(
    [
        ("region", pa.string()),
        ("page", pa.string()),
        ("ms", pa.int64()),
        ("lat", pa.float64()),
        ("lon", pa.float64()),
        ("viewed_at", pa.timestamp("ms", "UTC")),
    ]
)
PLACES = (
    ("North", 60.2, 24.9), ("South", -33.9, 18.4), ("East", 35.7, 139.7), ("West", 37.8, -122.4),
    ("Centre", 50.1, 14.4),
)  # fmt: skip
PAGES = ("/", "/pricing", "/docs", "/login", "/blog")


def at(milliseconds: int) -> datetime:
    """Give a time."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def program(name: str = "views", to: str = "views_by_region") -> ps.App:
    """Count views by region and minute."""
    app = ps.App(name)
    views = app.stream(
        "page_views",
        schema={"region": "string", "page": "string", "ms": "int64", "viewed_at": "timestamp"},
        event_time="viewed_at",
        lateness="30s",
    )
    (
        views.group_by("region")
        .window(ps.tumbling("1 minute"))
        .trigger(ps.when_closed(early=ps.every("20s"), late=ps.each_row()))
        .refine(ps.accumulating(keep_late="1 hour"))
        .agg(views=ps.count())
        .to(to)
    )
    return app


def write_views(log: EmbeddedLog, now: int, count: int = 240, minutes: int = 12) -> None:
    """Write page views of the latest minutes."""
    step = minutes * MINUTE // count
    rows = [
        {
            "region": PLACES[(number * 7 + number // 5) % 5][0],
            "page": PAGES[(number * 3) % 5],
            "ms": 40 + number * 37 % 400,
            "lat": PLACES[(number * 7 + number // 5) % 5][1],
            "lon": PLACES[(number * 7 + number // 5) % 5][2],
            "viewed_at": at(now - (count - number) * step),
        }
        for number in range(count)
    ]
    log.append("page_views", 0, pa.Table.from_pylist(rows, VIEWS))


class HandClock:
    """A clock that a log is given, to append as if it were another time."""

    def __init__(self, now: int) -> None:
        self.now_at = now

    def now(self) -> int:
        """Give the time it stands at."""
        return self.now_at


RESULTS = pa.schema(
    [
        ("region", pa.string()),
        ("window_start", pa.timestamp("ms", "UTC")),
        ("window_end", pa.timestamp("ms", "UTC")),
        ("views", pa.int64()),
        ("_weight", pa.int32()),
    ]
)


def write_panes(home: Path, now: int) -> tuple[Instant, ...]:
    """Write the panes of some windows as a job would have; give its batches."""
    begin = (now // MINUTE - 8) * MINUTE
    clock = HandClock(begin)
    batches: list[Instant] = []
    done: set[int] = set()
    counts: dict[int, int] = {}
    with EmbeddedLog(DiskStorage(home / "log"), clock) as log:
        for number in range(24):
            clock.now_at = begin + 45_000 + number * 20_000
            stalled = 9 <= number <= 13
            reached = clock.now_at - 35_000 - (number - 8) * 20_000 * stalled
            batches.append(
                Instant(
                    clock.now_at - 300, reached, 800 + 60 * (number % 5), 240 + 25 * (number % 7)
                )
            )
            if number == 17:
                _pane(log, begin + 2 * MINUTE, begin + 3 * MINUTE, counts[2], -1)
                _pane(log, begin + 2 * MINUTE, begin + 3 * MINUTE, counts[2] + 6, 1)
            for window in range(7):
                start, end = begin + window * MINUTE, begin + (window + 1) * MINUTE
                if window in done or clock.now_at <= start + 20_000:
                    continue
                counts[window] = min(counts.get(window, 0) + 14 + 3 * window, 90)
                _pane(log, start, end, counts[window], 1)
                if reached >= end:
                    done.add(window)
    return tuple(batches)


def _pane(log: EmbeddedLog, start: int, end: int, views: int, weight: int) -> None:
    for place, (region, _, _) in enumerate(PLACES[:2]):
        row = {
            "region": region,
            "window_start": at(start),
            "window_end": at(end),
            "views": views - 7 * place,
            "_weight": weight,
        }
        table = pa.Table.from_pylist([row], RESULTS)
        keys = pa.array([region.encode()], pa.binary())
        log.append("views_by_region", 0, table.append_column("_key", keys))


def progress(batches: tuple[Instant, ...]) -> Progress:
    """Give how far the job is."""
    last = batches[-1]
    return Progress(
        batch=len(batches),
        clock=last.clock,
        watermark=last.watermark,
        partitions=(
            PartitionWatermark("scan-page_views", 0, last.watermark, last.clock - 4000, holds=True),
            PartitionWatermark("scan-page_views", 1, last.watermark + 9000, last.clock),
            PartitionWatermark("scan-page_views", 2, None, last.clock - 90_000, idle=True),
        ),
        accounts=(
            Account("scan-page_views", 12_400, 12_388, 0, 0, 12, 12_388),
            Account("aggregate-1", 12_388, 12_301, 0, 87, 0, 412),
        ),
        skew=Skew(120, 5400.0, 61_000),
        states=(StateSize("aggregate-1", 412, 58_211),),
        rows_per_second=3120.0,
        batch_rows=last.rows,
        batch_milliseconds=last.milliseconds,
        history=batches,
        positions=(PartitionPosition("page_views", 0, 200, 240),),
    )


@dataclass(frozen=True, slots=True)
class Work:
    """A project whose job is at work."""

    folder: Path
    home: Path
    record: JobRecord
    batches: tuple[Instant, ...]

    def next_batch(self, rows: int) -> None:
        """Let the job do another batch."""
        last = self.batches[-1]
        clock = int(time.time() * 1000)
        batches = (*self.batches, replace(last, clock=clock, watermark=clock - 5000, rows=rows))
        self.record.progress(replace(progress(batches), batch_rows=rows, rows_per_second=rows))

    def say(self, *statements: str) -> None:
        """Carry out statements beside the server."""
        with SqlSession(self.home) as session:
            for statement in statements:
                list(session.run(statement))


@contextmanager
def work_home(folder: Path) -> Iterator[Work]:
    """Make a project with a home; a job is at work for the length of a with block."""
    home = folder / ".penstock"
    (folder / "penstock.toml").write_text("")
    (folder / "dashboards").mkdir()
    (folder / "dashboards" / "views.toml").write_text(DASHBOARD)
    now = int(time.time() * 1000)
    with open_log(home) as log:
        log.create_topic("page_views", partitions=1, schema=VIEWS)
        write_views(log, now)
        log.create_topic("views_by_region", schema=RESULTS)
    batches = write_panes(home, now)
    how = Settings(buckets=4, parallelism=2)
    archive = program("archive", "archived")
    submit(home, plan(program().plan(), how), Submission(source="views.py"))
    submit(home, plan(archive.plan(), how), Submission(source="archive.py"))
    pause(home, "archive")
    store = job_store(home)
    run = new_job(known_program(home, "views"), checkpoint=str(home / "jobs" / "views"))
    failed, lock = store.register(replace(run, started_at=now - 600_000))
    store.write(replace(failed, state="failed", ended_at=now - 500_000, failure=FAILURE))
    lock.close()
    with JobRecord(store, run) as record:
        record.running()
        record.progress(progress(batches))
        work = Work(folder, home, record, batches)
        work.say(CLICKS, "INSERT INTO clicks VALUES ('ann', '/docs', 12);")
        yield work


FAILURE = (
    "RunError: [SPARK_QUERY_FAILED] the query stopped: TypeError: unsupported operand type(s)"
    " for +: 'int' and 'str' (views.py:12)"
)
CLICKS = (
    "CREATE STREAM clicks (user VARCHAR KEY, page VARCHAR, ms BIGINT)"
    " WITH (kafka_topic='clicks', value_format='JSON', partitions=1);"
)
DASHBOARD = """\
title = "Page views"
refresh = 2

[[panels]]
title = "Views"
kind = "number"
query = "SELECT count(*) AS views FROM page_views"
unit = "in the last 12 minutes"
width = 3
height = 4

[[panels]]
title = "Views by minute"
kind = "line"
query = '''
SELECT date_trunc('minute', viewed_at) AS minute, region, count(*) AS views
FROM page_views GROUP BY ALL ORDER BY minute'''
x = "minute"
y = ["views"]
split = "region"
width = 9
height = 4

[[panels]]
title = "By region"
kind = "bar"
query = "SELECT region, count(*) AS views FROM page_views GROUP BY region ORDER BY region"
width = 4
height = 5

[[panels]]
title = "Where"
kind = "map"
query = "SELECT region, lat, lon, count(*) AS views FROM page_views GROUP BY ALL"
size = "views"
width = 8
height = 5

[[panels]]
title = "Clicks as they come"
kind = "table"
mode = "push"
query = "SELECT * FROM clicks EMIT CHANGES;"
width = 6
height = 4

[[panels]]
title = "Latest views"
kind = "table"
query = "SELECT viewed_at, region, page, ms FROM page_views ORDER BY viewed_at DESC LIMIT 20"
width = 6
height = 4
"""
