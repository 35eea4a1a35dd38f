"""A home with something on every page: topics, a job at work, schemas, dead letters, rules."""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import penstock as ps
from penstock.inline.run import InlineOptions
from penstock.jobs.record import new_job
from penstock.jobs.store import JobStore, job_store
from penstock.jobs.submit import Submission, submit
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.model.physical import Physical
from penstock.model.progress import PartitionPosition, PartitionWatermark, Progress
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.registry import Registry

PAGES = ("/", "/cart", "/search", "/product/7", "/checkout", "/help")
REGIONS = ("north", "south", "east", "west")
RULES = """
[alerts.much-traffic]
stream = "views"
when = "ms > 990"
message = "{page} took {ms} ms"

[alerts.nobody-buys]
stream = "orders"
absent = "10 minutes"
"""
VIEWS = pa.schema([("user", pa.string()), ("page", pa.string()), ("ms", pa.int64())])


def fill(project: Path) -> Path:
    """Make a project with a home, and give the home."""
    home = project / "shop"
    (project / "penstock.toml").write_text(RULES, encoding="utf-8")
    with open_log(home) as log:
        log.create_topic("views", partitions=3, schema=VIEWS)
        log.create_topic("users", partitions=1)
        log.create_topic("orders", partitions=2)
        produce_views(log, 400, random.Random(7))
        _users(log)
        _orders(log)
        log.commit("reports", {TopicPartition("views", number): 40 for number in range(3)})
        with contextlib.closing(Registry(log)) as registry:
            _schemas(registry)
    _dead_letters(home)
    submit(home, views_program(), Submission(name="views-per-page", source="shop.py"))
    return home


def views_program() -> Physical:
    """Counts views by page."""
    app = ps.App("views-per-page")
    views = app.stream("views", schema={"user": "string", "page": "string", "ms": "int64"})
    views.group_by("page").agg(views=ps.count()).to("page_counts")
    views.filter(ps.col("ms") > 900).to("slow_views")
    return app.physical()


def produce_views(log: EmbeddedLog, count: int, chance: random.Random) -> None:
    """Append views of pages."""
    producer = Producer(log)
    for _ in range(count):
        user = f"user-{chance.randrange(40)}"
        row = {"user": user, "page": chance.choice(PAGES), "ms": chance.randrange(20, 1000)}
        producer.send("views", row, key=user.encode(), headers=(("source", b"web"),))
    producer.close()


def _view(log: EmbeddedLog, row: dict[str, object]) -> None:
    producer = Producer(log)
    producer.send("views", row, key=b"user-1", headers=(("source", b"web"),))
    producer.close()


@contextlib.contextmanager
def at_work(home: Path) -> Iterator[None]:
    """Let the job seem to run, a little behind what is produced all the time."""
    ended = threading.Event()
    store = job_store(home)
    job = replace(
        new_job(views_program(), application="views-per-page"),
        checkpoint=str((home / "jobs" / "views-per-page").absolute()),
        started_at=int(time.time() * 1000) - 3_600_000,
        pid=os.getpid(),
    )
    registered, lock = store.register(job)
    store.write(replace(registered, state="running"))
    thread = threading.Thread(target=_work, args=(home, store, registered.id, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        lock.close()


def _work(home: Path, store: JobStore, run: str, ended: threading.Event) -> None:
    chance = random.Random(11)
    batch = 0
    with open_log(home) as log:
        while not ended.wait(0.5):
            produce_views(log, 6, chance)
            batch += 1
            if batch % 4 == 0:
                # A rule waits for one that is as slow.
                _view(log, {"user": "user-1", "page": "/search", "ms": 999})
            now = int(time.time() * 1000)
            bounds = [log.bounds("views", number) for number in range(3)]
            store.write_progress(
                run,
                Progress(
                    batch,
                    now,
                    now - 4000,
                    partitions=tuple(
                        PartitionWatermark(scan.id, number, now - 4000 - number, since=now)
                        for scan in views_program().scans
                        for number in range(3)
                    ),
                    rows_per_second=12.0,
                    batch_rows=6,
                    batch_milliseconds=90,
                    positions=tuple(
                        PartitionPosition("views", number, max(bound.end - 3, 0), bound.end)
                        for number, bound in enumerate(bounds)
                    ),
                ),
            )


def _users(log: EmbeddedLog) -> None:
    rows = [
        json.dumps({"id": number, "region": REGIONS[number % 4]}).encode() for number in range(40)
    ]
    keys = [b"user-%d" % number for number in range(40)]
    now = int(time.time() * 1000)
    log.append("users", 0, rows_of_bytes(rows, keys=keys, timestamps=[now - 90_000] * 40))


def _orders(log: EmbeddedLog) -> None:
    now = int(time.time() * 1000)
    for partition in range(2):
        values = [
            b'{"id": %d, "n": "many"}' % number
            if number % 4 == 0
            else b'{"id": %d, "n": 1}' % number
            for number in range(partition, 24, 2)
        ]
        keys = [b"order-%d" % number for number in range(len(values))]
        stamps = [now - 60_000 + number for number in range(len(values))]
        log.append("orders", partition, rows_of_bytes(values, keys=keys, timestamps=stamps))


def _schemas(registry: Registry) -> None:
    fields = [{"name": "user", "type": "string"}, {"name": "page", "type": "string"}]
    more = [*fields, {"name": "ms", "type": "long", "default": 0}]
    for some in (fields, more):
        record = {"type": "record", "name": "View", "namespace": "shop", "fields": some}
        registry.register("views-value", SchemaText(json.dumps(record), "AVRO"))
    registry.register("users-value", SchemaText('{"type": "string"}', "AVRO"))


def _dead_letters(home: Path) -> None:
    app = ps.App("order-lines", home=home)
    app.stream("orders", schema={"id": int, "n": int}, format="json").to("order_lines")
    app.run_here(options=InlineOptions(until="caught up"))


def main() -> None:
    """Be at work on a home until nobody is there any more who wants it."""
    with at_work(Path(sys.argv[1])):
        sys.stdout.write("at work\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
